import type { Status, SubStatus } from "@/lib/core/status";
import type { Database } from "@/lib/db/client";
import { sqlOf, sqlOn, type Sql } from "@/lib/db/sql";
import type { Payout } from "@/lib/db/generated/client";
import { recordAudit, recordAuditOn, type AuditEntry } from "@/lib/modules/audit/service";
import { recordPayoutEvents } from "./project-events";
import { encodeRows, insertRows, readItems, type ItemsQuery, type PayoutItemRow } from "./rows";

export type PayoutRow = Payout & { status: Status; subStatus: SubStatus; mode: "atomic" | "independent" };
/** The columns' CHECKs say which texts there are. */
const asPayout = (row: Payout): PayoutRow => row as PayoutRow;

// One statement whatever the number of rows: the payout, its job where it may run at once, and its rows.
const INSERT_PAYOUT = `
  WITH stored AS (
    INSERT INTO payout (id, project_id, kind, mode, status, sub_status, source_account_id, currency, reference, total_base,
      items_total, digest, idempotency_key, retry_of, created_by, created_at, updated_at, expires_at)
    VALUES ($1, $2, $3, $4, 'pending', $5, $6, $7, $8, $9::numeric, $10, $11, $12, $13, $14, $15, $15, $16)
    ON CONFLICT DO NOTHING RETURNING id
  ), begun AS (
    INSERT INTO job (id, queue, run_at) SELECT id, 'payout', $15 FROM stored WHERE $5 = 'queued'
  )
  ${insertRows("$17")}`;

const FINISH_ATOMIC = `
  UPDATE payout SET status = $3, sub_status = 'full', failure = $4::jsonb, updated_at = $2,
    items_completed = CASE WHEN $3 = 'completed' THEN items_total ELSE 0 END,
    items_failed = CASE WHEN $3 = 'completed' THEN 0 ELSE items_total END,
    paid_base = CASE WHEN $3 = 'completed' THEN total_base ELSE 0 END
  WHERE id = $1 AND status = 'processing'`;

/** Inside a transaction of the ledger's: what was posted, and that it was, change together. */
export const finishAtomic = async (
  sql: Sql,
  end: { payoutId: string; completed: boolean; failure: object | null; now: Date },
): Promise<void> => {
  const status = end.completed ? "completed" : "failed";
  const failure = end.failure === null ? null : JSON.stringify(end.failure);
  if ((await sql.change(FINISH_ATOMIC, [end.payoutId, end.now, status, failure])) === 0) return;
  await recordPayoutEvents(sql, { payoutIds: [end.payoutId], type: `payout.${status}`, at: end.now });
};

/** @returns 0: its key, or what it tries again, was used by another one */
const insertPayout = (sql: Sql, payout: PayoutRow, rows: readonly string[]): Promise<number> =>
  sql.change(INSERT_PAYOUT, [
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
    encodeRows(rows),
  ]);

/** Takes back what the transaction noted so far. */
class UsedAlreadyError extends Error {}

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

    /** What a caller's Idempotency-Key was used for already. */
    findByKey: async (used: {
      projectId: string;
      kind: string;
      createdBy: string;
      idempotencyKey: string;
    }): Promise<PayoutRow | null> => {
      const row = await prisma.payout.findUnique({ where: { projectId_kind_createdBy_idempotencyKey: used } });
      return row === null ? null : asPayout(row);
    },

    /**
     * Stores a payout with its rows; `admit` says in the same transaction whether it may run at once, else it awaits approval
     * until `expiresAt`. Null: its key, or what it tries again, was used by another one.
     */
    insert: async (input: {
      payout: PayoutRow;
      /** Encoded, each for itself. */
      rows: readonly string[];
      admit: (sql: Sql) => Promise<boolean>;
      /** The entry for the payout as it was stored; written in the same transaction. */
      audit: (stored: PayoutRow) => AuditEntry;
      expiresAt: Date;
    }): Promise<PayoutRow | null> => {
      const { payout, rows, admit, audit, expiresAt } = input;
      try {
        return await database.rawTransaction(async (sql) => {
          const stored: PayoutRow = (await admit(sql))
            ? { ...payout, subStatus: "queued", expiresAt: null }
            : { ...payout, subStatus: "awaiting_approval", expiresAt };
          if ((await insertPayout(sql, stored, rows)) === 0) throw new UsedAlreadyError();
          await recordAuditOn(sql, audit(stored));
          await recordPayoutEvents(sql, { payoutIds: [stored.id], type: "payout.created", at: stored.createdAt });
          return stored;
        });
      } catch (error) {
        if (error instanceof UsedAlreadyError) return null;
        throw error;
      }
    },

    /** awaiting approval → queued. False when it does not wait for it any more. */
    approve: (id: string, audit: AuditEntry, now: Date): Promise<boolean> =>
      database.transaction(async (tx) => {
        const { count } = await tx.payout.updateMany({
          where: { id, status: "pending", subStatus: "awaiting_approval", expiresAt: { gt: now } },
          data: { subStatus: "queued", expiresAt: null, updatedAt: now },
        });
        if (count === 0) return false;
        await tx.job.create({ data: { id, queue: "payout", runAt: now } });
        await recordAudit(tx, audit);
        await recordPayoutEvents(sqlOf(tx), { payoutIds: [id], type: "payout.approved", at: now });
        return true;
      }),

    /** pending → cancelled. False when it is no longer pending. */
    cancel: (id: string, audit: AuditEntry, now: Date): Promise<boolean> =>
      database.transaction(async (tx) => {
        const { count } = await tx.payout.updateMany({
          where: { id, status: "pending" },
          data: { status: "cancelled", expiresAt: null, updatedAt: now },
        });
        if (count === 0) return false;
        await recordAudit(tx, audit);
        await recordPayoutEvents(sqlOf(tx), { payoutIds: [id], type: "payout.cancelled", at: now });
        return true;
      }),

    /** pending → processing. False when it is no longer pending. */
    begin: (id: string, now: Date): Promise<boolean> =>
      database.transaction(async (tx) => {
        const { count } = await tx.payout.updateMany({
          where: { id, status: "pending", subStatus: "queued" },
          data: { status: "processing", updatedAt: now },
        });
        if (count === 0) return false;
        await recordPayoutEvents(sqlOf(tx), { payoutIds: [id], type: "payout.processing", at: now });
        return true;
      }),

    /** processing → what its rows came to. */
    finish: (
      id: string,
      end: { status: "completed" | "partially_completed" | "failed"; subStatus: SubStatus },
      now: Date,
    ): Promise<void> =>
      database.transaction(async (tx) => {
        const where = { id, status: "processing" };
        const { count } = await tx.payout.updateMany({ where, data: { ...end, updatedAt: now } });
        if (count === 0) return;
        await recordPayoutEvents(sqlOf(tx), { payoutIds: [id], type: `payout.${end.status}`, at: now });
      }),

    /** pending → expired for those whose time to be approved is over. @returns how many */
    expireDue: (now: Date): Promise<number> =>
      database.transaction(async (tx) => {
        const expired = await tx.payout.updateManyAndReturn({
          where: { status: "pending", expiresAt: { lte: now } },
          data: { status: "expired", updatedAt: now },
          select: { id: true },
        });
        const payoutIds = expired.map(({ id }) => id);
        if (payoutIds.length > 0) await recordPayoutEvents(sqlOf(tx), { payoutIds, type: "payout.expired", at: now });
        return expired.length;
      }),

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

    /** In their order. */
    items: (query: ItemsQuery): Promise<PayoutItemRow[]> => readItems(sqlOn(database.pool), query),
  };
};

export type PayoutsRepository = ReturnType<typeof createPayoutsRepository>;
