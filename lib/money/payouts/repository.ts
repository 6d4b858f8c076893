/**
 * Reads and changes the table `payout`, which both kinds of payouts share. Files in `accounts/` and
 * `wallets/` read and change the rows and batches of payouts.
 */
import { createdBetween, oneOf, type CreatedBetween } from "@/lib/platform/db/list-filters";
import { bindDeps } from "@/lib/core/bind-deps";
import type { Status } from "@/lib/core/status";
import type { Database } from "@/lib/platform/db/client";
import { sqlOf, sqlOn, type Sql, type SqlReader } from "@/lib/platform/db/sql";
import { recordAuditOn, type AuditEntry } from "@/lib/news/audit/service";
import type { EndedAwaiting } from "@/lib/trust/decisions/service";
import { endOf, parsePayout, type Payout, type PayoutFailure, type PayoutKey } from "./payout";
import { readPayout, type NoteUnread } from "./readable";
import { recordPayoutEvents } from "./project-event-repository";

/** An Idempotency-Key with its caller, because different callers may use the same key. */
export interface KeyUse {
  readonly projectId: string;
  readonly kind: Payout["kind"];
  readonly createdBy: string;
  readonly idempotencyKey: string;
}

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

// Cancels the batches of a payout that was not approved. No money is held for them, and none of
// them was signed.
const CANCEL_BATCHES = `
  UPDATE wallet_payout_batch SET state = 'cancelled', updated_at = $3 WHERE project_id = $1 AND payout_id = $2 AND state = 'queued'`;

const LOCK_PAYOUT = `
  SELECT status, sub_status AS "subStatus" FROM payout WHERE project_id = $1 AND id = $2 FOR NO KEY UPDATE`;

/**
 * Locks the payout's row, so that concurrent changes of its state and counters run one after
 * another. A transaction takes this lock before any other, which prevents deadlocks. Returns null
 * when the payout does not exist.
 */
export const lockPayout = async (
  sql: Sql,
  { projectId, id }: PayoutKey,
): Promise<{ readonly status: string; readonly subStatus: string } | null> => {
  const rows = await sql.query<{ status: string; subStatus: string }>(LOCK_PAYOUT, [projectId, id]);
  return rows[0] ?? null;
};

// The partial index `payout_open_by_source` covers this query.
const OPEN_TOTALS = `
  SELECT source_account_id AS id, sum(total_base - paid_base - failed_base)::text AS total FROM payout
  WHERE project_id = $1 AND source_account_id IS NOT NULL AND ($2::text IS NULL OR source_account_id = $2)
    AND status IN ('pending', 'processing') AND (kind = 'global_accounts' OR sub_status = 'awaiting_approval')
  GROUP BY source_account_id`;

/**
 * Sums the amounts that open payouts will still take from accounts, in ledger units. Payouts are
 * open while they await approval, are queued or are being paid. A withdrawal counts only until it
 * is approved, because the approval debits the account. Accounts without open payouts are missing.
 * Read the balance of an account after this function: a payout that ends between the two reads then
 * counts twice instead of not at all.
 * @param accountId null: all accounts of the project
 */
export const openPayoutTotals = async (
  reader: SqlReader,
  projectId: string,
  accountId: string | null,
): Promise<ReadonlyMap<string, bigint>> => {
  const rows = await reader.query<{ id: string; total: string }>(OPEN_TOTALS, [
    projectId,
    accountId,
  ]);
  return new Map(rows.map(({ id, total }) => [id, BigInt(total)]));
};

/** The maximum number of payouts that one turn expires. */
const EXPIRED_MAX = 1000;

/**
 * Changes a payout from pending to expired. Returns false when the payout is no longer due, for
 * example because it was approved.
 */
const expire = (database: Database, { projectId, id }: PayoutKey, now: Date): Promise<boolean> =>
  database.rawTransaction(async (tx) => {
    if ((await tx.change(EXPIRE, [projectId, id, now])) === 0) return false;
    await tx.change(CANCEL_BATCHES, [projectId, id, now]);
    await recordPayoutEvents(tx, { projectId, payoutIds: [id], type: "payout.expired", at: now });
    return true;
  });

const known = async (
  { prisma }: Database,
  projectId: string,
  ids: readonly string[],
): Promise<ReadonlySet<string>> => {
  const where = { projectId, id: { in: [...ids] } };
  const rows =
    ids.length === 0 ? [] : await prisma.payout.findMany({ where, select: { id: true } });
  return new Set(rows.map(({ id }) => id));
};

export interface PayoutFilter extends CreatedBetween {
  /** Payouts in any of these states; undefined: in every state. */
  readonly status?: readonly Status[] | undefined;
  readonly kind?: Payout["kind"] | undefined;
}

export const createPayoutsRepository = (database: Database, note: NoteUnread) => {
  const { prisma } = database;
  const sql = sqlOn(database.pool);
  return {
    find: async (id: string): Promise<Payout | null> => {
      const row = await prisma.payout.findUnique({ where: { id } });
      return row === null ? null : parsePayout(row);
    },

    /**
     * Finds a payout for display. Returns `unreadable` when too little of it can be read to show
     * it.
     */
    findInProject: async (projectId: string, id: string): Promise<Payout | "unreadable" | null> => {
      const row = await prisma.payout.findFirst({ where: { id, projectId } });
      return row === null ? null : (readPayout(row, note) ?? "unreadable");
    },

    /** Returns those of the ids that belong to payouts of the project. */
    known: bindDeps(database, known),

    /** The payout that was created with a caller's Idempotency-Key; null when there is none. */
    findByKey: async (used: KeyUse): Promise<Payout | null> => {
      const row = await prisma.payout.findUnique({
        where: { projectId_kind_createdBy_idempotencyKey: used },
      });
      return row === null ? null : parsePayout(row);
    },

    /**
     * Returns those of the payouts that another payout retries. A retry that was cancelled or
     * expired does not count.
     */
    retriedAmong: async (
      projectId: string,
      ids: readonly string[],
    ): Promise<ReadonlySet<string>> => {
      const rows =
        ids.length === 0 ? [] : await sql.query<{ retry_of: string }>(RETRIED, [projectId, ids]);
      return new Set(rows.map((row) => row.retry_of));
    },

    /**
     * Changes a payout from pending to processing. A payout that waits for money from other chains
     * gets the substatus `bridging`. Returns false when the payout is no longer pending, or awaits
     * approval.
     */
    begin: ({ projectId, id }: PayoutKey, now: Date): Promise<boolean> =>
      database.rawTransaction(async (tx) => {
        if ((await tx.change(BEGIN, [projectId, id, now])) === 0) return false;
        await recordPayoutEvents(tx, {
          projectId,
          payoutIds: [id],
          type: "payout.processing",
          at: now,
        });
        return true;
      }),

    /**
     * Changes a payout from processing to the final state that follows from the counts of its rows.
     */
    finish: (payout: Payout, now: Date): Promise<void> =>
      database.transaction(async (tx) => {
        const { projectId, id } = payout;
        const end = endOf(payout);
        const where = { projectId, id, status: "processing" };
        const { count } = await tx.payout.updateMany({ where, data: { ...end, updatedAt: now } });
        if (count === 0) return;
        await recordPayoutEvents(sqlOf(tx), {
          projectId,
          payoutIds: [id],
          type: `payout.${end.status}`,
          at: now,
        });
      }),

    /**
     * Changes payouts whose time for approval is over from pending to expired.
     * @returns the number of payouts
     */
    expireDue: async (now: Date): Promise<number> => {
      let count = 0;
      for (const due of await sql.query<PayoutKey>(DUE, [now, EXPIRED_MAX]))
        if (await expire(database, due, now)) count += 1;
      return count;
    },

    /**
     * Ends a payout that awaits approval. Does nothing when the payout no longer awaits approval.
     */
    endAwaiting: (
      { projectId, id }: PayoutKey,
      { status, failure }: { status: EndedAwaiting; failure: PayoutFailure | null },
      audit: AuditEntry,
    ): Promise<void> =>
      database.rawTransaction(async (tx) => {
        const values = [
          projectId,
          id,
          status,
          failure === null ? null : JSON.stringify(failure),
          audit.at,
        ];
        if ((await tx.change(END_AWAITING, values)) === 0) return;
        await tx.change(CANCEL_BATCHES, [projectId, id, audit.at]);
        await recordAuditOn(tx, audit);
        await recordPayoutEvents(tx, {
          projectId,
          payoutIds: [id],
          type: `payout.${status}`,
          at: audit.at,
        });
      }),

    /**
     * Lists payouts for display, newest first. `payout` is null when too little of it can be read
     * to show it.
     */
    list: async (query: {
      projectId: string;
      filter: PayoutFilter;
      before?: string | undefined;
      limit: number;
    }): Promise<{ id: string; payout: Payout | null }[]> => {
      const { projectId, filter, before } = query;
      const rows = await prisma.payout.findMany({
        where: {
          projectId,
          ...oneOf("status", filter.status),
          ...(filter.kind ? { kind: filter.kind } : {}),
          ...createdBetween(filter),
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
