/** Counts the reads that are allowed to be a little old, by the database that answered: the replica or the primary. */
import type { Replica } from "@/lib/db/replica";
import { counter } from "./registry";

const reads = counter({
  name: "causeway_replica_reads_total",
  help: "Reads that may be a little old, by the database that answered: replica, or primary where the replica was behind or silent",
  labels: ["database"],
});

/** The replica with its answers counted. */
export const observedReplica = (replica: Replica): Replica => ({
  has: async (place) => {
    const isEnough = await replica.has(place);
    reads.inc({ database: isEnough ? "replica" : "primary" });
    return isEnough;
  },
});
