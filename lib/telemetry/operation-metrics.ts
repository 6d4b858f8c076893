/** Operations that ended. */
import { createBatcher } from "@/lib/core/batch";
import type { SqlReader } from "@/lib/db/sql";
import { histogram } from "./registry";

const finished = histogram({
  name: "causeway_operation_duration_seconds",
  help: "Time from the acceptance of an operation to its end, by kind and status",
  labels: ["kind", "status"],
  buckets: [0.5, 1, 2.5, 5, 10, 30, 60, 300, 1800, 7200, 86_400],
});

const ENDED = `
  SELECT kind, status, extract(epoch FROM updated_at - coalesce(accepted_at, created_at))::float AS seconds
  FROM operation WHERE id = ANY($1::text[])`;

const READS_MAX = 200;
const READ_EVERY_MS = 1000;

/** Counts operations that have just ended; those that end during a read are read together. Never rejects: a count is worth no failure of a job. */
export const createEndObserver = (sql: SqlReader): ((operationId: string) => Promise<void>) => {
  const { submit } = createBatcher({
    run: async (ids: readonly string[]) => {
      const rows = await sql.query<{ kind: string; status: string; seconds: number }>(ENDED, [ids]);
      for (const { kind, status, seconds } of rows) finished.observe({ kind, status }, Math.max(0, seconds));
      return ids.map(() => true as const);
    },
    batchWeightMax: READS_MAX,
    everyMs: READ_EVERY_MS,
  });
  return async (operationId) => {
    // The gauges of the database's samplers tell when it does not answer.
    await submit(operationId).catch(() => undefined);
  };
};
