import type { Database } from "@/lib/db/client";
import { recordAudit, type AuditEntry } from "@/lib/modules/audit/service";
import {
  parseFullSchedule,
  parseSchedule,
  scheduleColumns,
  type FullSchedule,
  type PayoutSchedule,
} from "./payout-schedule";
import { createScheduleRunRepository } from "./run-repository";

type At = Pick<PayoutSchedule, "projectId" | "id">;

/** Schedules and their runs. Every change names the state that it expects. */
export const createSchedulesRepository = (database: Database) => {
  const { prisma } = database;
  return {
    ...createScheduleRunRepository(database),

    insert: (schedule: FullSchedule, audit: AuditEntry): Promise<void> =>
      database.transaction(async (tx) => {
        await tx.payoutSchedule.create({ data: scheduleColumns(schedule) });
        await recordAudit(tx, audit);
      }),

    find: async (projectId: string, id: string): Promise<FullSchedule | null> => {
      const row = await prisma.payoutSchedule.findUnique({ where: { projectId_id: { projectId, id } } });
      return row === null ? null : parseFullSchedule(row);
    },

    list: async (query: {
      projectId: string;
      before?: string | undefined;
      limit: number;
    }): Promise<PayoutSchedule[]> => {
      const { projectId, before, limit } = query;
      const rows = await prisma.payoutSchedule.findMany({
        where: { projectId, ...(before === undefined ? {} : { id: { lt: before } }) },
        // The request can have 10,000 rows, and a list does not show them.
        omit: { request: true },
        orderBy: { id: "desc" },
        take: limit,
      });
      return rows.map(parseSchedule);
    },

    /** Awaiting approval → active. False when the schedule no longer awaits approval. */
    approve: (
      { projectId, id }: At,
      next: { approvedBy: string; nextRunAt: Date },
      audit: AuditEntry,
    ): Promise<boolean> =>
      database.transaction(async (tx) => {
        const { count } = await tx.payoutSchedule.updateMany({
          where: { projectId, id, status: "awaiting_approval" },
          data: { ...next, status: "active", updatedAt: audit.at },
        });
        if (count === 1) await recordAudit(tx, audit);
        return count === 1;
      }),

    /** Not ended → cancelled. False when the schedule has ended or was cancelled before. */
    cancel: ({ projectId, id }: At, audit: AuditEntry): Promise<boolean> =>
      database.transaction(async (tx) => {
        const { count } = await tx.payoutSchedule.updateMany({
          where: { projectId, id, status: { in: ["awaiting_approval", "active"] } },
          data: { status: "cancelled", nextRunAt: null, updatedAt: audit.at },
        });
        if (count === 1) await recordAudit(tx, audit);
        return count === 1;
      }),
  };
};

export type SchedulesRepository = ReturnType<typeof createSchedulesRepository>;
