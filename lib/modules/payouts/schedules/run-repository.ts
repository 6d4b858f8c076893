import type { Database, Tx } from "@/lib/db/client";
import { Prisma } from "@/lib/db/generated/client";
import type { Sql } from "@/lib/db/sql";
import { recordAudit, type AuditEntry } from "@/lib/modules/audit/service";
import { recordEvents } from "@/lib/modules/events/service";
import { toStored } from "@/lib/ports/routing-json";
import { parseRun, parseSchedule, type PayoutSchedule, type RunFailure, type ScheduleRun } from "./payout-schedule";
import { ScheduleCancelledError } from "../errors";

const LOCK_SCHEDULE = `SELECT status FROM payout_schedule WHERE project_id = $1 AND id = $2 FOR SHARE`;

const TAKE_RUN = `
  UPDATE payout_schedule_run SET payout_id = $4
  WHERE project_id = $1 AND schedule_id = $2 AND scheduled_at = $3::timestamptz AND status = 'started' AND payout_id IS NULL`;

type At = Pick<PayoutSchedule, "projectId" | "id">;

const runKey = ({ projectId, id }: At, scheduledAt: Date) => ({ projectId, scheduleId: id, scheduledAt });

/** Writes the project event of a run without a payout. A run with a payout has the events of its payout. */
const recordRun = (
  tx: Tx,
  { projectId, scheduleId, scheduledAt }: { projectId: string; scheduleId: string; scheduledAt: Date },
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

/** Locks the schedule, so that events of its runs are committed in the order in which they are written. */
const lockSchedule = async (
  tx: Tx,
  { projectId, scheduleId }: { projectId: string; scheduleId: string },
): Promise<void> => {
  await tx.$queryRaw`
    SELECT id FROM payout_schedule WHERE project_id = ${projectId} AND id = ${scheduleId} FOR NO KEY UPDATE`;
};

/** Runs of schedules. Every change names the state that it expects. */
export const createScheduleRunRepository = (database: Database) => {
  const { prisma } = database;
  return {
    /** The latest runs of a schedule, newest first. */
    runs: async ({ projectId, id }: At, limit: number): Promise<ScheduleRun[]> => {
      const where = { projectId, scheduleId: id };
      const rows = await prisma.payoutScheduleRun.findMany({ where, orderBy: { scheduledAt: "desc" }, take: limit });
      return rows.map(parseRun);
    },

    /** Schedules whose next run is due, the longest overdue first. */
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
     * Claims a due run: stores the run, and the time of the next one. False when another instance claimed the run, or the schedule was
     * cancelled.
     */
    claim: (
      schedule: PayoutSchedule,
      run: { scheduledAt: Date; nextRunAt: Date | null; status: "started" | "missed"; failure: RunFailure | null },
      audit: AuditEntry | null,
      now: Date,
    ): Promise<boolean> =>
      database.transaction(async (tx) => {
        const { projectId, id } = schedule;
        const { count } = await tx.payoutSchedule.updateMany({
          where: { projectId, id, status: "active", nextRunAt: run.scheduledAt },
          data: { nextRunAt: run.nextRunAt, status: run.nextRunAt === null ? "ended" : "active", updatedAt: now },
        });
        if (count === 0) return false;
        const failure = run.failure === null ? Prisma.DbNull : toStored(run.failure);
        await tx.payoutScheduleRun.create({
          data: { ...runKey(schedule, run.scheduledAt), status: run.status, failure },
        });
        if (audit !== null) await recordAudit(tx, audit);
        const { status } = run;
        if (status === "missed") await recordRun(tx, runKey(schedule, run.scheduledAt), { ...run, status }, now);
        return true;
      }),

    /** Claimed runs that have neither a payout nor a failure yet. */
    openRuns: async (limit: number): Promise<ScheduleRun[]> => {
      const rows = await prisma.payoutScheduleRun.findMany({
        where: { status: "started", payoutId: null },
        orderBy: { scheduledAt: "asc" },
        take: limit,
      });
      return rows.map(parseRun);
    },

    /**
     * Stores the payout's id in a claimed run, inside the transaction that stores the payout. The schedule's row stays locked until that
     * transaction ends, so the schedule is cancelled either before or after the payout is stored, never in between.
     * False when the run has a payout, or ended without one.
     * @throws ScheduleCancelledError
     */
    take: async (sql: Sql, { projectId, scheduleId, scheduledAt }: ScheduleRun, payoutId: string): Promise<boolean> => {
      const [schedule] = await sql.query<{ status: string }>(LOCK_SCHEDULE, [projectId, scheduleId]);
      if (schedule === undefined || schedule.status === "cancelled") throw new ScheduleCancelledError();
      return (await sql.change(TAKE_RUN, [projectId, scheduleId, scheduledAt, payoutId])) === 1;
    },

    /** Stores why a claimed run makes no payout. False when the run has a payout or a failure already. */
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
