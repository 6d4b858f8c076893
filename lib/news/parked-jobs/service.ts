import type { UserActor } from "@/lib/core/actor";
import type { Clock } from "@/lib/core/clock";
import { notFound } from "@/lib/core/errors";
import { requirePermission } from "@/lib/core/permissions";
import type { Database } from "@/lib/platform/db/client";
import { doneBy, recordAudit } from "@/lib/news/audit/service";
import {
  isJobOfProject,
  listAllParked,
  listParked,
  type ParkedJob,
  putBack,
} from "@/lib/platform/jobs/service";

/** Lists jobs that were parked after too many failures, and resumes them. */
export const createParkedJobs = ({
  database,
  clock,
}: {
  readonly database: Database;
  readonly clock: Clock;
}) => ({
  /** The parked jobs of the whole installation, oldest first; for its operator. */
  all: (): Promise<readonly ParkedJob[]> => listAllParked(database),

  /**
   * Resumes parked jobs of any project; for the operator.
   * @returns how many of the jobs were parked, and are now resumed
   */
  resumeAll: async (ids: readonly string[]): Promise<number> => {
    const resumed = await Promise.all(
      ids.map((id) => database.transaction((tx) => putBack(tx, id))),
    );
    return resumed.filter(Boolean).length;
  },

  /**
   * The parked jobs of the project, oldest first.
   * @throws DomainError `forbidden` unless owner or admin
   */
  list: async (actor: UserActor): Promise<readonly ParkedJob[]> => {
    requirePermission(actor, "jobs:manage");
    return listParked(database, actor.projectId);
  },

  /**
   * Resumes a parked job.
   * @throws DomainError `forbidden` unless owner or admin; `not_found` unless the job is parked and
   * belongs to the project
   */
  resume: (actor: UserActor, id: string): Promise<void> => {
    requirePermission(actor, "jobs:manage");
    const { projectId } = actor;
    return database.transaction(async (tx) => {
      if (!(await isJobOfProject(tx, { id, projectId })) || !(await putBack(tx, id)))
        throw notFound();
      await recordAudit(tx, {
        ...doneBy(actor),
        action: "job.resumed",
        subject: id,
        at: clock.now(),
      });
    });
  },
});
