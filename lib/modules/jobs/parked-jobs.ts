import type { UserActor } from "@/lib/core/actor";
import type { Clock } from "@/lib/core/clock";
import { notFound } from "@/lib/core/errors";
import { requirePermission } from "@/lib/core/permissions";
import type { Database, Tx } from "@/lib/db/client";
import { doneBy, recordAudit } from "@/lib/modules/audit/service";

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

/** Puts a parked job back; false when it is not parked. Its worker finds all it needs in the rows that the job names. */
const putBack = async (tx: Tx, id: string): Promise<boolean> =>
  (await tx.$executeRaw`
    UPDATE job SET parked_at = NULL, failures = 0, run_at = now() WHERE id = ${id} AND parked_at IS NOT NULL`) === 1;

/** Jobs that failed too often, where people see them and put them back. */
export const createParkedJobs = ({ database, clock }: { readonly database: Database; readonly clock: Clock }) => ({
  /** Those of the whole installation, the oldest first; for its operator. */
  all: async (): Promise<readonly ParkedJob[]> =>
    (await database.pool.query<ParkedJob>(`${SELECT} ORDER BY j.parked_at LIMIT ${String(LISTED_MAX)}`)).rows,

  /** Puts jobs of any project back; for the operator. @returns how many were parked */
  resumeAll: async (ids: readonly string[]): Promise<number> => {
    const resumed = await Promise.all(ids.map((id) => database.transaction((tx) => putBack(tx, id))));
    return resumed.filter(Boolean).length;
  },

  /** Those of the project, the oldest first. @throws DomainError `forbidden` unless owner or admin */
  list: async (actor: UserActor): Promise<readonly ParkedJob[]> => {
    requirePermission(actor, "jobs:manage");
    const text = `${SELECT} AND (o.project_id = $1 OR p.project_id = $1) ORDER BY j.parked_at LIMIT ${String(LISTED_MAX)}`;
    return (await database.pool.query<ParkedJob>(text, [actor.projectId])).rows;
  },

  /** @throws DomainError `forbidden` unless owner or admin; `not_found` unless it is parked and of the project */
  resume: (actor: UserActor, id: string): Promise<void> => {
    requirePermission(actor, "jobs:manage");
    const { projectId } = actor;
    return database.transaction(async (tx) => {
      const [own] = await tx.$queryRaw<unknown[]>`
        SELECT 1 FROM operation WHERE id = ${id} AND project_id = ${projectId}
        UNION ALL SELECT 1 FROM payout WHERE id = ${id} AND project_id = ${projectId}`;
      if (own === undefined || !(await putBack(tx, id))) throw notFound();
      await recordAudit(tx, { ...doneBy(actor), action: "job.resumed", subject: id, at: clock.now() });
    });
  },
});
