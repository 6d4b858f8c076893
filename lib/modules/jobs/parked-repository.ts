import type { Database, Tx } from "@/lib/db/client";

/** A job that failed too often. No worker takes it until it is put back. */
export interface ParkedJob {
  /** Id of the operation, payout or mail that it carries on. */
  readonly id: string;
  readonly queue: string;
  /** Null: it belongs to the installation, as mails do. */
  readonly projectId: string | null;
  readonly failures: number;
  readonly lastError: string | null;
  readonly parkedAt: Date;
}

const LISTED_MAX = 200;

const SELECT = `
  SELECT j.id, j.queue, coalesce(o.project_id, p.project_id) AS "projectId", j.failures, j.last_error AS "lastError",
    j.parked_at AS "parkedAt"
  FROM job j LEFT JOIN operation o ON o.id = j.id LEFT JOIN payout p ON p.id = j.id
  WHERE j.parked_at IS NOT NULL`;
const OLDEST_FIRST = `ORDER BY j.parked_at LIMIT ${String(LISTED_MAX)}`;

/** The parked jobs of all projects, the oldest first. */
export const listAllParked = async ({ pool }: Pick<Database, "pool">): Promise<readonly ParkedJob[]> =>
  (await pool.query<ParkedJob>(`${SELECT} ${OLDEST_FIRST}`)).rows;

/** The parked jobs of a project, the oldest first. */
export const listParked = async ({ pool }: Pick<Database, "pool">, projectId: string): Promise<readonly ParkedJob[]> =>
  (await pool.query<ParkedJob>(`${SELECT} AND (o.project_id = $1 OR p.project_id = $1) ${OLDEST_FIRST}`, [projectId]))
    .rows;

/** Whether the operation or payout that a job carries on belongs to the project. */
export const isJobOfProject = async (
  tx: Tx,
  { id, projectId }: { id: string; projectId: string },
): Promise<boolean> => {
  const found = await tx.$queryRaw<unknown[]>`
    SELECT 1 FROM operation WHERE id = ${id} AND project_id = ${projectId}
    UNION ALL SELECT 1 FROM payout WHERE id = ${id} AND project_id = ${projectId}`;
  return found.length > 0;
};

/** Puts a parked job back; false when it is not parked. Its worker finds all it needs in the rows that the job names. */
export const putBack = async (tx: Tx, id: string): Promise<boolean> =>
  (await tx.$executeRaw`
    UPDATE job SET parked_at = NULL, failures = 0, run_at = now() WHERE id = ${id} AND parked_at IS NOT NULL`) === 1;
