import type { Database, Tx } from "@/lib/platform/db/client";
import { Prisma } from "@/lib/platform/db/generated/client";
import { type Sql, sqlOf } from "@/lib/platform/db/sql";
import { sql } from "@/lib/platform/db/statement";
import { table, text } from "@/lib/platform/db/table";
import { recordAudit, type AuditEntry } from "@/lib/news/audit/service";
import { recordEvents } from "@/lib/news/events/service";
import { toStored } from "@/lib/platform/db/codecs";
import {
  parseRun,
  parseSchedule,
  type PayoutSchedule,
  type RunFailure,
  type ScheduleRun,
} from "./payout-schedule";
import { ScheduleCancelledError } from "../errors";

const schedules = table({ status: text });

type At = Pick<PayoutSchedule, "projectId" | "id">;

const runKey = ({ projectId, id }: At, scheduledAt: Date) => ({
  projectId,
  scheduleId: id,
  scheduledAt,
});

/**
 * Writes the project event of a run that created no payout. For a run with a payout, the payout
 * writes events.
 */
const recordRun = (
  tx: Tx,
  {
    projectId,
    scheduleId,
    scheduledAt,
  }: { projectId: string; scheduleId: string; scheduledAt: Date },
  { status, failure }: { status: "missed" | "refused"; failure: RunFailure | null },
  at: Date,
): Promise<void> =>
  recordEvents(tx, [
    {
      projectId,
      type: `payout_schedule.run_${status}`,
      objectId: scheduleId,
      data: { scheduleId, scheduledAt: scheduledAt.toISOString(), failure },
      at,
    },
  ]);

/**
 * Locks the schedule's row, so that concurrent transactions commit the events of its runs in the
 * order in which they wrote them.
 */
const lockSchedule = async (
  tx: Tx,
  { projectId, scheduleId }: { projectId: string; scheduleId: string },
): Promise<void> => {
  await sqlOf(tx).query(sql`
    SELECT id FROM payout_schedule
    WHERE project_id = ${projectId} AND id = ${scheduleId}
    FOR NO KEY UPDATE`);
};

/**
 * Stores the payout's id in a claimed run, inside the transaction that stores the payout. Locks the
 * schedule's row until that transaction ends, so that a concurrent cancellation takes effect either
 * before or after the payout is stored.
 * @returns false when the run already has a payout, or has ended without one
 * @throws ScheduleCancelledError when the schedule was cancelled or does not exist
 */
export const takeRun = async (
  db: Sql,
  {
    projectId,
    scheduleId,
    scheduledAt,
  }: Pick<ScheduleRun, "projectId" | "scheduleId" | "scheduledAt">,
  payoutId: string,
): Promise<boolean> => {
  const schedule = await schedules.first(
    db,
    sql`
      SELECT status FROM payout_schedule
      WHERE project_id = ${projectId} AND id = ${scheduleId}
      FOR SHARE`,
  );
  if (schedule === null || schedule.status === "cancelled") throw new ScheduleCancelledError();
  const taken = await db.change(sql`
    UPDATE payout_schedule_run SET payout_id = ${payoutId}
    WHERE project_id = ${projectId}
      AND schedule_id = ${scheduleId}
      AND scheduled_at = ${scheduledAt}::timestamptz
      AND status = 'started'
      AND payout_id IS NULL`);
  return taken === 1;
};

/**
 * Stores the runs of schedules. Each update states the expected state in its WHERE clause, and
 * returns false when another instance was faster.
 */
export const createScheduleRunRepository = (database: Database) => {
  const { prisma } = database;
  return {
    runs: async ({ projectId, id }: At, limit: number): Promise<ScheduleRun[]> => {
      const where = { projectId, scheduleId: id };
      const rows = await prisma.payoutScheduleRun.findMany({
        where,
        orderBy: { scheduledAt: "desc" },
        take: limit,
      });
      return rows.map(parseRun);
    },

    /** Reads the active schedules whose next run is due, the longest overdue first. */
    due: async (now: Date, limit: number): Promise<PayoutSchedule[]> => {
      const rows = await prisma.payoutSchedule.findMany({
        where: { status: "active", nextRunAt: { lte: now } },
        omit: { request: true },
        orderBy: { nextRunAt: "asc" },
        take: limit,
      });
      return rows.map(parseSchedule);
    },

    /**
     * Claims a due run: stores the run, and moves the schedule to the time of its next run. Returns
     * false when another instance has claimed the run, or the schedule was cancelled.
     */
    claim: (
      schedule: PayoutSchedule,
      run: {
        scheduledAt: Date;
        nextRunAt: Date | null;
        status: "started" | "missed";
        failure: RunFailure | null;
      },
      audit: AuditEntry | null,
      now: Date,
    ): Promise<boolean> =>
      database.transaction(async (tx) => {
        const { projectId, id } = schedule;
        const { count } = await tx.payoutSchedule.updateMany({
          where: { projectId, id, status: "active", nextRunAt: run.scheduledAt },
          data: {
            nextRunAt: run.nextRunAt,
            status: run.nextRunAt === null ? "ended" : "active",
            updatedAt: now,
          },
        });
        if (count === 0) return false;
        const failure = run.failure === null ? Prisma.DbNull : toStored(run.failure);
        await tx.payoutScheduleRun.create({
          data: { ...runKey(schedule, run.scheduledAt), status: run.status, failure },
        });
        if (audit !== null) await recordAudit(tx, audit);
        const { status } = run;
        if (status === "missed")
          await recordRun(tx, runKey(schedule, run.scheduledAt), { ...run, status }, now);
        return true;
      }),

    /** Reads claimed runs that have neither a payout nor a failure yet, oldest first. */
    openRuns: async (limit: number): Promise<ScheduleRun[]> => {
      const rows = await prisma.payoutScheduleRun.findMany({
        where: { status: "started", payoutId: null },
        orderBy: { scheduledAt: "asc" },
        take: limit,
      });
      return rows.map(parseRun);
    },

    /**
     * Stores why a claimed run creates no payout. Returns false when the run already has a payout
     * or a failure.
     */
    failed: (
      { projectId, scheduleId, scheduledAt }: ScheduleRun,
      end: { status: "missed" | "refused"; failure: RunFailure },
      audit: AuditEntry,
    ): Promise<boolean> =>
      database.transaction(async (tx) => {
        await lockSchedule(tx, { projectId, scheduleId });
        const { count } = await tx.payoutScheduleRun.updateMany({
          where: { projectId, scheduleId, scheduledAt, status: "started", payoutId: null },
          data: { status: end.status, failure: toStored(end.failure) },
        });
        if (count === 0) return false;
        await recordAudit(tx, audit);
        await recordRun(tx, { projectId, scheduleId, scheduledAt }, end, audit.at);
        return true;
      }),
  };
};
