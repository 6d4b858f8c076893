/** Reads and changes the table `payout`, which both kinds of payouts share. Their rows and batches are in `accounts/` and `wallets/`. */
import { bindDeps } from "@/lib/core/bind-deps";
import type { Status, SubStatus } from "@/lib/core/status";
import type { Database } from "@/lib/db/client";
import { sqlOf, sqlOn } from "@/lib/db/sql";
import { recordAuditOn, type AuditEntry } from "@/lib/modules/audit/service";
import { parsePayout, type Payout, type PayoutFailure } from "./payout";
import { readPayout, type NoteUnread } from "./readable";
import { recordPayoutEvents } from "./project-event-repository";
import { UsedAlreadyError } from "./errors";

/** An Idempotency-Key with its caller, because two callers may use the same key for different payouts. */
export interface KeyUse {
  readonly projectId: string;
  readonly kind: Payout["kind"];
  readonly createdBy: string;
  readonly idempotencyKey: string;
}

/** Resolves to the result of `work`, or to null when `work` throws `UsedAlreadyError`. */
export const unlessUsed = async <T>(work: Promise<T>): Promise<T | null> => {
  try {
    return await work;
  } catch (error) {
    if (error instanceof UsedAlreadyError) return null;
    throw error;
  }
};

const RETRIED = `
  SELECT DISTINCT retry_of FROM payout
  WHERE project_id = $1 AND retry_of = ANY($2::text[]) AND status NOT IN ('cancelled', 'expired')`;

const BEGIN = `
  UPDATE payout SET status = 'processing', updated_at = $3,
    sub_status = CASE WHEN sub_status = 'prepared' THEN 'bridging' ELSE sub_status END
  WHERE project_id = $1 AND id = $2 AND status = 'pending' AND sub_status IN ('queued', 'prepared')`;

const DUE =
  "SELECT project_id AS \"projectId\", id FROM payout WHERE status = 'pending' AND expires_at <= $1 LIMIT $2::int";

const EXPIRE = `
  UPDATE payout SET status = 'expired', updated_at = $3
  WHERE project_id = $1 AND id = $2 AND status = 'pending' AND expires_at <= $3`;

const END_AWAITING = `
  UPDATE payout SET status = $3, failure = $4::jsonb, expires_at = NULL, updated_at = $5
  WHERE project_id = $1 AND id = $2 AND status = 'pending' AND sub_status = 'awaiting_approval'`;

// A payout that was not approved holds no money, and none of its batches has left.
const CANCEL_BATCHES = `
  UPDATE wallet_payout_batch SET state = 'cancelled', updated_at = $3 WHERE project_id = $1 AND payout_id = $2 AND state = 'queued'`;

/** The most payouts that expire in one turn. */
const EXPIRED_MAX = 1000;

/** A payout of a project. */
export interface PayoutKey {
  readonly projectId: string;
  readonly id: string;
}

/** Pending → expired. False when the payout is not due any more. */
const expire = (database: Database, { projectId, id }: PayoutKey, now: Date): Promise<boolean> =>
  database.rawTransaction(async (tx) => {
    if ((await tx.change(EXPIRE, [projectId, id, now])) === 0) return false;
    await tx.change(CANCEL_BATCHES, [projectId, id, now]);
    await recordPayoutEvents(tx, { projectId, payoutIds: [id], type: "payout.expired", at: now });
    return true;
  });

const known = async ({ prisma }: Database, projectId: string, ids: readonly string[]): Promise<ReadonlySet<string>> => {
  const where = { projectId, id: { in: [...ids] } };
  const rows = ids.length === 0 ? [] : await prisma.payout.findMany({ where, select: { id: true } });
  return new Set(rows.map(({ id }) => id));
};

export const createPayoutsRepository = (database: Database, note: NoteUnread) => {
  const { prisma } = database;
  const sql = sqlOn(database.pool);
  return {
    find: async (id: string): Promise<Payout | null> => {
      const row = await prisma.payout.findUnique({ where: { id } });
      return row === null ? null : parsePayout(row);
    },

    /** To show it, as far as it can be read; `unreadable` where that is too little. */
    findInProject: async (projectId: string, id: string): Promise<Payout | "unreadable" | null> => {
      const row = await prisma.payout.findFirst({ where: { id, projectId } });
      return row === null ? null : (readPayout(row, note) ?? "unreadable");
    },

    /** Of the given ids, those that belong to payouts of the project. */
    known: bindDeps(database, known),

    /** The payout that was created with a caller's Idempotency-Key; null when there is none. */
    findByKey: async (used: KeyUse): Promise<Payout | null> => {
      const row = await prisma.payout.findUnique({ where: { projectId_kind_createdBy_idempotencyKey: used } });
      return row === null ? null : parsePayout(row);
    },

    /** The given payouts that another payout retries. */
    retriedAmong: async (projectId: string, ids: readonly string[]): Promise<ReadonlySet<string>> => {
      const rows = ids.length === 0 ? [] : await sql.query<{ retry_of: string }>(RETRIED, [projectId, ids]);
      return new Set(rows.map((row) => row.retry_of));
    },

    /**
     * Pending → processing. A payout whose chain must be funded first becomes `bridging`. False when the payout is no longer pending, or
     * awaits approval.
     */
    begin: ({ projectId, id }: PayoutKey, now: Date): Promise<boolean> =>
      database.rawTransaction(async (tx) => {
        if ((await tx.change(BEGIN, [projectId, id, now])) === 0) return false;
        await recordPayoutEvents(tx, { projectId, payoutIds: [id], type: "payout.processing", at: now });
        return true;
      }),

    /** Processing → the final state that follows from its rows. */
    finish: (
      { projectId, id }: PayoutKey,
      end: { status: "completed" | "partially_completed" | "failed"; subStatus: SubStatus },
      now: Date,
    ): Promise<void> =>
      database.transaction(async (tx) => {
        const where = { projectId, id, status: "processing" };
        const { count } = await tx.payout.updateMany({ where, data: { ...end, updatedAt: now } });
        if (count === 0) return;
        await recordPayoutEvents(sqlOf(tx), { projectId, payoutIds: [id], type: `payout.${end.status}`, at: now });
      }),

    /** Pending → expired, for all payouts whose time for approval is over. @returns the number of payouts */
    expireDue: async (now: Date): Promise<number> => {
      let count = 0;
      for (const due of await sql.query<PayoutKey>(DUE, [now, EXPIRED_MAX]))
        if (await expire(database, due, now)) count += 1;
      return count;
    },

    /** Awaiting approval → cancelled or expired. Nothing happens when it does not await approval any more. */
    endAwaiting: (
      { projectId, id }: PayoutKey,
      { status, failure }: { status: "cancelled" | "expired"; failure: PayoutFailure | null },
      audit: AuditEntry,
    ): Promise<void> =>
      database.rawTransaction(async (tx) => {
        const values = [projectId, id, status, failure === null ? null : JSON.stringify(failure), audit.at];
        if ((await tx.change(END_AWAITING, values)) === 0) return;
        await tx.change(CANCEL_BATCHES, [projectId, id, audit.at]);
        await recordAuditOn(tx, audit);
        await recordPayoutEvents(tx, { projectId, payoutIds: [id], type: `payout.${status}`, at: audit.at });
      }),

    /** To show them, each as far as it can be read; null where that is too little. */
    list: async (query: {
      projectId: string;
      status?: Status | undefined;
      kind?: Payout["kind"] | undefined;
      before?: string | undefined;
      limit: number;
    }): Promise<{ id: string; payout: Payout | null }[]> => {
      const { projectId, status, kind, before } = query;
      const rows = await prisma.payout.findMany({
        where: {
          projectId,
          ...(status ? { status } : {}),
          ...(kind ? { kind } : {}),
          ...(before ? { id: { lt: before } } : {}),
        },
        orderBy: { id: "desc" },
        take: query.limit,
      });
      return rows.map((row) => ({ id: row.id, payout: readPayout(row, note) }));
    },
  };
};

export type PayoutsRepository = ReturnType<typeof createPayoutsRepository>;
