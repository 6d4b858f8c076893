/**
 * Reads and changes the table `payout`, which both kinds of payouts share. Files in `accounts/` and
 * `wallets/` read and change the rows and batches of payouts.
 */
import { createdBetween, oneOf, type CreatedBetween } from "@/lib/platform/db/list-filters";
import { bindDeps } from "@/lib/core/bind-deps";
import type { Status } from "@/lib/core/status";
import type { Database } from "@/lib/platform/db/client";
import { sqlOf, sqlOn, type Sql, type SqlReader } from "@/lib/platform/db/sql";
import { sql } from "@/lib/platform/db/statement";
import { base, type RowOf, table, text } from "@/lib/platform/db/table";
import { recordAuditOn, type AuditEntry } from "@/lib/news/audit/service";
import type { EndedAwaiting } from "@/lib/trust/decisions/service";
import { endOf, parsePayout, type Payout, type PayoutFailure, type PayoutKey } from "./payout";
import { recordPayoutEvents } from "./project-event-repository";

/** An Idempotency-Key with its caller, because different callers may use equal keys. */
export interface KeyUse {
  readonly projectId: string;
  readonly kind: Payout["kind"];
  readonly createdBy: string;
  readonly idempotencyKey: string;
}

const keys = table({ projectId: text, id: text });
const lockedPayouts = table({ status: text, subStatus: text });
const retriedIds = table({ retryOf: text });
const openTotals = table({ id: text, totalBase: base });

/**
 * Cancels the batches of a payout that was not approved. No money is held for them, and none of
 * them was signed.
 */
const cancelBatches = (db: Sql, { projectId, id }: PayoutKey, now: Date): Promise<number> =>
  db.change(sql`
    UPDATE wallet_payout_batch SET state = 'cancelled', updated_at = ${now}::timestamptz
    WHERE project_id = ${projectId} AND payout_id = ${id} AND state = 'queued'`);

/**
 * Locks the payout's row, so that concurrent changes of its state and counters run one after
 * another. A transaction acquires this lock before any other, which prevents deadlocks. Returns
 * null when the payout does not exist.
 */
export const lockPayout = (
  db: Sql,
  { projectId, id }: PayoutKey,
): Promise<RowOf<typeof lockedPayouts> | null> =>
  lockedPayouts.first(
    db,
    sql`
      SELECT ${lockedPayouts.columns("p")} FROM payout p
      WHERE p.project_id = ${projectId} AND p.id = ${id}
      FOR NO KEY UPDATE`,
  );

/**
 * Sums the amounts that open payouts will still debit from accounts, in ledger units. Payouts are
 * open while they await approval, are queued or are being paid. A withdrawal counts only until it
 * is approved, because the approval debits the account. Accounts without open payouts are missing.
 * Read the balance of an account after this function: a payout that ends between the two reads then
 * counts twice instead of not at all.
 * @param accountId null: all accounts of the project
 */
export const openPayoutTotals = async (
  db: SqlReader,
  projectId: string,
  accountId: string | null,
): Promise<ReadonlyMap<string, bigint>> => {
  // The partial index `payout_open_by_source` covers this query.
  const found = await openTotals.all(
    db,
    sql`
      SELECT ${openTotals.columns("summed")}
      FROM (
        SELECT source_account_id AS id, sum(total_base - paid_base - failed_base) AS total_base
        FROM payout
        WHERE project_id = ${projectId}
          AND source_account_id IS NOT NULL
          AND (${accountId}::text IS NULL OR source_account_id = ${accountId})
          AND status IN ('pending', 'processing')
          AND (kind = 'global_accounts' OR sub_status = 'awaiting_approval')
        GROUP BY source_account_id
      ) AS summed`,
  );
  return new Map(found.map(({ id, totalBase }) => [id, totalBase]));
};

const EXPIRED_MAX = 1000;

/**
 * Changes a payout from pending to expired. Returns false when the payout is no longer due, for
 * example because it was approved.
 */
const expire = (
  database: Database,
  { projectId, id }: PayoutKey,
  now: Date,
): Promise<boolean> =>
  database.rawTransaction(async (tx) => {
    const expired = await tx.change(sql`
      UPDATE payout SET status = 'expired', updated_at = ${now}::timestamptz
      WHERE project_id = ${projectId}
        AND id = ${id}
        AND status = 'pending'
        AND expires_at <= ${now}::timestamptz`);
    if (expired === 0) return false;
    await cancelBatches(tx, { projectId, id }, now);
    await recordPayoutEvents(tx, {
      projectId,
      payoutIds: [id],
      type: "payout.expired",
      at: now,
    });
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
  readonly status?: readonly Status[] | undefined;
  readonly kind?: Payout["kind"] | undefined;
}

export const createPayoutsRepository = (database: Database) => {
  const { prisma } = database;
  const db = sqlOn(database.pool);
  return {
    find: async (id: string): Promise<Payout | null> => {
      const row = await prisma.payout.findUnique({ where: { id } });
      return row === null ? null : parsePayout(row);
    },

    findInProject: async (projectId: string, id: string): Promise<Payout | null> => {
      const row = await prisma.payout.findFirst({ where: { id, projectId } });
      return row === null ? null : parsePayout(row);
    },

    /** Returns those of the given ids that belong to payouts of the project. */
    known: bindDeps(database, known),

    findByKey: async (used: KeyUse): Promise<Payout | null> => {
      const row = await prisma.payout.findUnique({
        where: { projectId_kind_createdBy_idempotencyKey: used },
      });
      return row === null ? null : parsePayout(row);
    },

    /**
     * Returns the ids of the payouts that another payout retries. A retry that was cancelled or
     * expired does not count.
     */
    retriedAmong: async (
      projectId: string,
      ids: readonly string[],
    ): Promise<ReadonlySet<string>> => {
      if (ids.length === 0) return new Set();
      const found = await retriedIds.all(
        db,
        sql`
          SELECT DISTINCT ${retriedIds.columns()} FROM payout
          WHERE project_id = ${projectId}
            AND retry_of = ANY(${ids}::text[])
            AND status NOT IN ('cancelled', 'expired')`,
      );
      return new Set(found.map(({ retryOf }) => retryOf));
    },

    /**
     * Changes a payout from pending to processing. A payout that waits for money from other chains
     * gets the substatus `bridging`. Returns false when the payout is no longer pending, or awaits
     * approval.
     */
    begin: ({ projectId, id }: PayoutKey, now: Date): Promise<boolean> =>
      database.rawTransaction(async (tx) => {
        const begun = await tx.change(sql`
          UPDATE payout SET
            status = 'processing',
            sub_status = CASE WHEN sub_status = 'prepared' THEN 'bridging' ELSE sub_status END,
            updated_at = ${now}::timestamptz
          WHERE project_id = ${projectId}
            AND id = ${id}
            AND status = 'pending'
            AND sub_status IN ('queued', 'prepared')`);
        if (begun === 0) return false;
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
        const { count } = await tx.payout.updateMany({
          where,
          data: { ...end, updatedAt: now },
        });
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
      const due = await keys.all(
        db,
        sql`
          SELECT ${keys.columns()} FROM payout
          WHERE status = 'pending' AND expires_at <= ${now}::timestamptz
          LIMIT ${EXPIRED_MAX}::int`,
      );
      for (const key of due) if (await expire(database, key, now)) count += 1;
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
        const reason = failure === null ? null : JSON.stringify(failure);
        const ended = await tx.change(sql`
          UPDATE payout SET
            status = ${status},
            failure = ${reason}::jsonb,
            expires_at = NULL,
            updated_at = ${audit.at}::timestamptz
          WHERE project_id = ${projectId}
            AND id = ${id}
            AND status = 'pending'
            AND sub_status = 'awaiting_approval'`);
        if (ended === 0) return;
        await cancelBatches(tx, { projectId, id }, audit.at);
        await recordAuditOn(tx, audit);
        await recordPayoutEvents(tx, {
          projectId,
          payoutIds: [id],
          type: `payout.${status}`,
          at: audit.at,
        });
      }),

    list: async (query: {
      projectId: string;
      filter: PayoutFilter;
      before?: string | undefined;
      limit: number;
    }): Promise<Payout[]> => {
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
      return rows.map(parsePayout);
    },
  };
};

export type PayoutsRepository = ReturnType<typeof createPayoutsRepository>;
