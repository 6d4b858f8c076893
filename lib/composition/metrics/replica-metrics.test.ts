import { register } from "prom-client";
import { expect, test } from "vitest";
import { observedReplica } from "./metrics";

const counted = async (database: string): Promise<number> => {
  const text = await register.getSingleMetricAsString("causeway_replica_reads_total");
  return Number(
    new RegExp(`^causeway_replica_reads_total\\{database="${database}"\\} (\\d+)$`, "m").exec(
      text,
    )?.[1] ?? 0,
  );
};

test("reads are counted by the database that answers them", async () => {
  const before = [await counted("replica"), await counted("primary")] as const;
  const replica = observedReplica({ has: (place) => Promise.resolve(place === "0/1") });
  expect([await replica.has("0/1"), await replica.has("0/2"), await replica.has(null)]).toEqual(
    [true, false, false],
  );
  expect([await counted("replica"), await counted("primary")]).toEqual([
    before[0] + 1,
    before[1] + 2,
  ]);
});
