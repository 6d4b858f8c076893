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

/** Parked jobs, which failed too often: lists them for people, who can resume them. */
export const createParkedJobs = ({
  database,
  clock,
}: {
  readonly database: Database;
  readonly clock: Clock;
}) => ({
  /** The parked jobs of the whole installation, the oldest first; for its operator. */
  all: (): Promise<readonly ParkedJob[]> => listAllParked(database),

  /** Puts jobs of any project back; for the operator. @returns how many were parked */
  resumeAll: async (ids: readonly string[]): Promise<number> => {
    const resumed = await Promise.all(
      ids.map((id) => database.transaction((tx) => putBack(tx, id))),
    );
    return resumed.filter(Boolean).length;
  },

  /**
   * The parked jobs of the project, the oldest first.
   * @throws DomainError `forbidden` unless owner or admin
   */
  list: async (actor: UserActor): Promise<readonly ParkedJob[]> => {
    requirePermission(actor, "jobs:manage");
    return listParked(database, actor.projectId);
  },

  /**
   * @throws DomainError `forbidden` unless owner or admin; `not_found` unless it is parked and of
   * the project
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
