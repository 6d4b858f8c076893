/** Operations that ended. */
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
  FROM operation WHERE id = $1`;

/** Counts an operation that has just ended. Never rejects: a count is worth no failure of a job. */
export const observeEnded = async (sql: SqlReader, operationId: string): Promise<void> => {
  try {
    const [row] = await sql.query<{ kind: string; status: string; seconds: number }>(ENDED, [operationId]);
    if (row) finished.observe({ kind: row.kind, status: row.status }, Math.max(0, row.seconds));
  } catch {
    // The gauges of the database's samplers tell that it does not answer.
  }
};
