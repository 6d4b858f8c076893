import type { Actor } from "@/lib/core/actor";
import { createdBetween, oneOf, type CreatedBetween } from "@/lib/platform/db/list-filters";
import type { Database, Queryable, Tx } from "@/lib/platform/db/client";
import { doneBy, recordAudit, type AuditEntry } from "@/lib/news/audit/service";
import {
  parseFullSchedule,
  parseSchedule,
  scheduleColumns,
  type FullSchedule,
  type PayoutSchedule,
} from "./payout-schedule";
import { createScheduleRunRepository } from "./run-repository";

type At = Pick<PayoutSchedule, "projectId" | "id">;

export interface ScheduleFilter extends CreatedBetween {
  readonly status?: readonly PayoutSchedule["status"][] | undefined;
  readonly chainId?: readonly number[] | undefined;
}

/**
 * Stores schedules and their runs. Each update states the expected state in its WHERE clause, and
 * returns false when another request was faster.
 */
export const createSchedulesRepository = (database: Database) => {
  const { prisma } = database;
  return {
    ...createScheduleRunRepository(database),

    /**
     * Stores a new schedule with its audit entry. Returns false when its creator has already used
     * the Idempotency-Key for another schedule.
     */
    insert: async (tx: Tx, schedule: FullSchedule, audit: AuditEntry): Promise<boolean> => {
      const { count } = await tx.payoutSchedule.createMany({
        data: scheduleColumns(schedule),
        skipDuplicates: true,
      });
      if (count === 1) await recordAudit(tx, audit);
      return count === 1;
    },

    findByKey: async (by: {
      projectId: string;
      createdBy: string;
      idempotencyKey: string;
    }): Promise<PayoutSchedule | null> => {
      const row = await prisma.payoutSchedule.findUnique({
        where: { projectId_createdBy_idempotencyKey: by },
        omit: { request: true },
      });
      return row === null ? null : parseSchedule(row);
    },

    find: async (projectId: string, id: string): Promise<FullSchedule | null> => {
      const row = await prisma.payoutSchedule.findUnique({
        where: { projectId_id: { projectId, id } },
      });
      return row === null ? null : parseFullSchedule(row);
    },

    list: async (query: {
      projectId: string;
      filter: ScheduleFilter;
      before?: string | undefined;
      limit: number;
    }): Promise<PayoutSchedule[]> => {
      const { projectId, filter, before, limit } = query;
      const rows = await prisma.payoutSchedule.findMany({
        where: {
          projectId,
          ...oneOf("status", filter.status),
          ...oneOf("chainId", filter.chainId),
          ...createdBetween(filter),
          ...(before === undefined ? {} : { id: { lt: before } }),
        },
        // Leaves out the request, which can have 10,000 rows and is not shown in a list.
        omit: { request: true },
        orderBy: { id: "desc" },
        take: limit,
      });
      return rows.map(parseSchedule);
    },

    /**
     * Changes a schedule from awaiting approval to active. Returns false when the schedule no
     * longer awaits approval, or is suspended. Clears `madeBySession`, so that the end of the
     * creator's session does not suspend an approved schedule.
     */
    approve: (
      { projectId, id }: At,
      next: { approvedBy: string; nextRunAt: Date },
      audit: AuditEntry,
    ): Promise<boolean> =>
      database.transaction(async (tx) => {
        const { count } = await tx.payoutSchedule.updateMany({
          where: { projectId, id, status: "awaiting_approval", suspendedAt: null },
          data: { ...next, status: "active", madeBySession: null, updatedAt: audit.at },
        });
        if (count === 1) await recordAudit(tx, audit);
        return count === 1;
      }),

    /**
     * Changes a schedule that awaits approval or is active to cancelled. Returns false when the
     * schedule has ended or was cancelled before.
     */
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

type NamedSchedule = Pick<PayoutSchedule, "id" | "reference" | "rows" | "chainId">;

interface Makers {
  readonly projectId: string;
  /** Ids of users and API keys, as the columns `created_by` and `approved_by` store them. */
  readonly makers: readonly string[];
}

const ofMakers = ({ projectId, makers }: Makers) => ({
  projectId,
  status: { in: ["awaiting_approval", "active"] },
  OR: [{ createdBy: { in: [...makers] } }, { approvedBy: { in: [...makers] } }],
});

/**
 * Lists the schedules that have not ended and that one of the makers created or approved, oldest
 * first.
 */
const listSchedulesMadeBy = (db: Queryable, by: Makers): Promise<NamedSchedule[]> =>
  db.payoutSchedule.findMany({
    where: ofMakers(by),
    select: { id: true, reference: true, rows: true, chainId: true },
    orderBy: { id: "asc" },
  });

/**
 * Cancels the schedules that one of `makers` created or approved, in the caller's transaction,
 * because the makers may no longer move the project's money. Payouts of earlier runs continue.
 */
const cancelSchedulesOf = async (
  tx: Tx,
  actor: Actor,
  { makers, at }: { readonly makers: readonly string[]; readonly at: Date },
): Promise<void> => {
  const cancelled = await tx.payoutSchedule.updateManyAndReturn({
    where: ofMakers({ projectId: actor.projectId, makers }),
    data: { status: "cancelled", nextRunAt: null, updatedAt: at },
    select: { id: true },
  });
  for (const { id } of cancelled) {
    const entry = { ...doneBy(actor), action: "payout_schedule.cancelled", subject: id, at };
    await recordAudit(tx, { ...entry, data: { reason: "maker_left" } });
  }
};

/** Lists and cancels the schedules of a person who leaves the project or gets a lower role. */
export const schedulesOfMembers = { list: listSchedulesMadeBy, stop: cancelSchedulesOf };

export type SchedulesRepository = ReturnType<typeof createSchedulesRepository>;
