import type { Status, SubStatus } from "@/lib/core/status";
import type { Database, Tx } from "@/lib/db/client";
import type { Payout, PayoutItem } from "@/lib/db/generated/client";
import type { Sql } from "@/lib/modules/ledger/service";

export type PayoutRow = Payout & { status: Status; subStatus: SubStatus; mode: "atomic" | "independent" };
export type PayoutItemRow = PayoutItem;

export interface NewItem {
  readonly recipientAccountId: string;
  readonly amountBase: bigint;
  readonly reference: string | null;
}

export interface ItemOutcome {
  readonly index: number;
  readonly status: "completed" | "failed";
  readonly transactionId: string | null;
  readonly failure: { readonly code: string; readonly message: string; readonly retryable: boolean } | null;
}

/** The columns' CHECKs say which texts there are. */
const asPayout = (row: Payout): PayoutRow => row as PayoutRow;

// One statement whatever the number of rows: the payout, its job where it may run at once, and its rows out of three arrays. Rows
// are written here alone and payouts are never deleted, so rows need no foreign key, whose check of each costs as much as the rest.
const INSERT_PAYOUT = `
  WITH stored AS (
    INSERT INTO payout (id, project_id, kind, mode, status, sub_status, source_account_id, currency, reference, total_base,
      items_total, digest, idempotency_key, retry_of, created_by, created_at, updated_at, expires_at)
    VALUES ($1, $2, $3, $4, 'pending', $5, $6, $7, $8, $9::numeric, $10, $11, $12, $13, $14, $15, $15, $16)
    ON CONFLICT DO NOTHING RETURNING id
  ), begun AS (
    INSERT INTO job (id, queue, run_at) SELECT id, 'payout', $15 FROM stored WHERE $5 = 'queued'
  )
  INSERT INTO payout_item (payout_id, index, recipient_account_id, amount_base, reference)
  SELECT stored.id, item.index - 1, item.recipient, item.amount, item.reference
  FROM stored, unnest($17::text[], $18::numeric[], $19::text[]) WITH ORDINALITY AS item (recipient, amount, reference, index)`;

const SETTLE_ITEMS = `
  UPDATE payout_item p SET status = item.status, transaction_id = item.transaction_id, failure = item.failure
  FROM unnest($2::int[], $3::text[], $4::text[], $5::jsonb[]) AS item (index, status, transaction_id, failure)
  WHERE p.payout_id = $1 AND p.index = item.index AND p.status IS NULL`;

const COUNT_ITEMS = `
  UPDATE payout SET
    items_completed = counted.completed, items_failed = counted.failed, paid_base = counted.paid, updated_at = $2
  FROM (
    SELECT count(*) FILTER (WHERE status = 'completed')::int AS completed, count(*) FILTER (WHERE status = 'failed')::int AS failed,
      coalesce(sum(amount_base) FILTER (WHERE status = 'completed'), 0) AS paid
    FROM payout_item WHERE payout_id = $1) AS counted
  WHERE id = $1`;

const FINISH_ATOMIC = `
  UPDATE payout SET status = $3, sub_status = 'full', failure = $4::jsonb, updated_at = $2,
    items_completed = CASE WHEN $3 = 'completed' THEN items_total ELSE 0 END,
    items_failed = CASE WHEN $3 = 'completed' THEN 0 ELSE items_total END,
    paid_base = CASE WHEN $3 = 'completed' THEN total_base ELSE 0 END
  WHERE id = $1 AND status = 'processing'`;

/** Inside a transaction of the ledger's: what was posted, and that it was, change together. */
export const finishAtomic = (
  sql: Sql,
  end: { payoutId: string; completed: boolean; failure: object | null; now: Date },
): Promise<number> =>
  sql.change(FINISH_ATOMIC, [
    end.payoutId,
    end.now,
    end.completed ? "completed" : "failed",
    end.failure === null ? null : JSON.stringify(end.failure),
  ]);

export const settleItems = async (
  sql: Sql,
  settled: { payoutId: string; items: readonly ItemOutcome[]; now: Date },
): Promise<void> => {
  const { payoutId, items, now } = settled;
  await sql.change(SETTLE_ITEMS, [
    payoutId,
    items.map(({ index }) => index),
    items.map(({ status }) => status),
    items.map(({ transactionId }) => transactionId),
    items.map(({ failure }) => (failure === null ? null : JSON.stringify(failure))),
  ]);
  await sql.change(COUNT_ITEMS, [payoutId, now]);
};

/** @returns how many rows were stored; 0: its key, or what it tries again, was used by another one */
const insertPayout = (tx: Tx, payout: PayoutRow, items: readonly NewItem[]): Promise<number> =>
  tx.$executeRawUnsafe(
    INSERT_PAYOUT,
    payout.id,
    payout.projectId,
    payout.kind,
    payout.mode,
    payout.subStatus,
    payout.sourceAccountId,
    payout.currency,
    payout.reference,
    payout.totalBase.toFixed(),
    payout.itemsTotal,
    payout.digest,
    payout.idempotencyKey,
    payout.retryOf,
    payout.createdBy,
    payout.createdAt,
    payout.expiresAt,
    items.map(({ recipientAccountId }) => recipientAccountId),
    items.map(({ amountBase }) => amountBase.toString()),
    items.map(({ reference }) => reference),
  );

/** Takes back what the transaction noted so far. */
class UsedAlreadyError extends Error {}

const addJob = async (tx: Tx, payoutId: string, now: Date): Promise<void> => {
  await tx.job.create({ data: { id: payoutId, queue: "payout", runAt: now } });
};

export const createPayoutsRepository = (database: Database) => {
  const { prisma } = database;
  return {
    find: async (id: string): Promise<PayoutRow | null> => {
      const row = await prisma.payout.findUnique({ where: { id } });
      return row === null ? null : asPayout(row);
    },

    findInProject: async (projectId: string, id: string): Promise<PayoutRow | null> => {
      const row = await prisma.payout.findFirst({ where: { id, projectId } });
      return row === null ? null : asPayout(row);
    },

    findByKey: async (projectId: string, kind: string, idempotencyKey: string): Promise<PayoutRow | null> => {
      const row = await prisma.payout.findUnique({
        where: { projectId_kind_idempotencyKey: { projectId, kind, idempotencyKey } },
      });
      return row === null ? null : asPayout(row);
    },

    /**
     * Stores a payout with its rows; `admit` says in the same transaction whether it may run at once, else it awaits approval
     * until `expiresAt`. Null: its key, or what it tries again, was used by another one.
     */
    insert: async (input: {
      payout: PayoutRow;
      items: readonly NewItem[];
      admit: (tx: Tx) => Promise<boolean>;
      expiresAt: Date;
    }): Promise<PayoutRow | null> => {
      const { payout, items, admit, expiresAt } = input;
      try {
        return await database.transaction(async (tx) => {
          const stored: PayoutRow = (await admit(tx))
            ? { ...payout, subStatus: "queued", expiresAt: null }
            : { ...payout, subStatus: "awaiting_approval", expiresAt };
          if ((await insertPayout(tx, stored, items)) === 0) throw new UsedAlreadyError();
          return stored;
        });
      } catch (error) {
        if (error instanceof UsedAlreadyError) return null;
        throw error;
      }
    },

    /** awaiting approval → queued. False when it does not wait for it any more. */
    approve: (id: string, now: Date): Promise<boolean> =>
      database.transaction(async (tx) => {
        const { count } = await tx.payout.updateMany({
          where: { id, status: "pending", subStatus: "awaiting_approval", expiresAt: { gt: now } },
          data: { subStatus: "queued", expiresAt: null, updatedAt: now },
        });
        if (count === 1) await addJob(tx, id, now);
        return count === 1;
      }),

    cancel: async (id: string, now: Date): Promise<boolean> => {
      const { count } = await prisma.payout.updateMany({
        where: { id, status: "pending" },
        data: { status: "cancelled", expiresAt: null, updatedAt: now },
      });
      return count === 1;
    },

    /** pending → processing. False when it is no longer pending. */
    begin: async (id: string, now: Date): Promise<boolean> => {
      const { count } = await prisma.payout.updateMany({
        where: { id, status: "pending", subStatus: "queued" },
        data: { status: "processing", updatedAt: now },
      });
      return count === 1;
    },

    /** processing → what its rows came to. */
    finish: async (id: string, end: { status: Status; subStatus: SubStatus }, now: Date): Promise<void> => {
      await prisma.payout.updateMany({ where: { id, status: "processing" }, data: { ...end, updatedAt: now } });
    },

    /** pending → expired for those whose time to be approved is over. @returns how many */
    expireDue: async (now: Date): Promise<number> => {
      const { count } = await prisma.payout.updateMany({
        where: { status: "pending", expiresAt: { lte: now } },
        data: { status: "expired", updatedAt: now },
      });
      return count;
    },

    list: async (query: {
      projectId: string;
      status?: Status | undefined;
      before?: string | undefined;
      limit: number;
    }): Promise<PayoutRow[]> => {
      const rows = await prisma.payout.findMany({
        where: {
          projectId: query.projectId,
          ...(query.status ? { status: query.status } : {}),
          ...(query.before ? { id: { lt: query.before } } : {}),
        },
        orderBy: { id: "desc" },
        take: query.limit,
      });
      return rows.map(asPayout);
    },

    /** In their order, after `after`. `status` null: those that are not settled. */
    items: (query: {
      payoutId: string;
      after: number;
      limit: number;
      status?: string | null | undefined;
    }): Promise<PayoutItemRow[]> =>
      prisma.payoutItem.findMany({
        where: {
          payoutId: query.payoutId,
          index: { gt: query.after },
          ...(query.status === undefined ? {} : { status: query.status }),
        },
        orderBy: { index: "asc" },
        take: query.limit,
      }),
  };
};

export type PayoutsRepository = ReturnType<typeof createPayoutsRepository>;
