import { currentTraceparent } from "@/lib/core/tracing";
import type { Database } from "@/lib/db/client";
import { sqlOf, sqlOn, type Sql, type SqlReader } from "@/lib/db/sql";
import { recordAudit, recordAuditOn, type AuditEntry } from "@/lib/modules/audit/service";
import { announceJob, insertJob } from "@/lib/modules/jobs/service";
import { cancelVotes } from "../ask-votes";
import { recordPayoutEvents } from "../project-event-repository";
import { claimRowKeys } from "../duplicate-repository";
import type { RowKeys } from "../duplicate-rows";
import type { AccountsPayout } from "../payout";
import { UsedAlreadyError } from "../errors";
import { unlessUsed, type PayoutKey } from "../repository";
import { encodeRows, INSERT_ROWS, readItems, type ItemsQuery } from "./row-repository";
import type { PayoutItemRow } from "./rows";

const INSERT_PAYOUT = `
  INSERT INTO payout (id, project_id, kind, mode, status, sub_status, source_account_id, currency, reference, total_base,
    items_total, digest, idempotency_key, retry_of, created_by, created_at, updated_at, expires_at, evaluation_id)
  VALUES ($1, $2, $3, $4, 'pending', $5, $6, $7, $8, $9::numeric, $10, $11, $12, $13, $14, $15, $15, $16, $17)
  ON CONFLICT DO NOTHING`;

const INSERT_JOB = "INSERT INTO job (id, queue, run_at, traceparent) VALUES ($1, 'payout', $2, $3)";

const FINISH_ATOMIC = `
  UPDATE payout SET status = $4, sub_status = 'full', failure = $5::jsonb, updated_at = $3,
    items_completed = CASE WHEN $4 = 'completed' THEN items_total ELSE 0 END,
    items_failed = CASE WHEN $4 = 'completed' THEN 0 ELSE items_total END,
    paid_base = CASE WHEN $4 = 'completed' THEN total_base ELSE 0 END
  WHERE project_id = $1 AND id = $2 AND status = 'processing'`;

/** Ends an atomic payout inside the ledger's transaction, together with its postings. */
export const finishAtomic = async (
  sql: Sql,
  end: { projectId: string; payoutId: string; completed: boolean; failure: object | null; now: Date },
): Promise<void> => {
  const status = end.completed ? "completed" : "failed";
  const failure = end.failure === null ? null : JSON.stringify(end.failure);
  if ((await sql.change(FINISH_ATOMIC, [end.projectId, end.payoutId, end.now, status, failure])) === 0) return;
  await recordPayoutEvents(sql, {
    projectId: end.projectId,
    payoutIds: [end.payoutId],
    type: `payout.${status}`,
    at: end.now,
  });
};

// The partial index `payout_open_by_source` covers this query.
const OPEN_TOTALS = `
  SELECT source_account_id AS id, sum(total_base - paid_base - failed_base)::text AS total FROM payout
  WHERE project_id = $1 AND source_account_id IS NOT NULL AND ($2::text IS NULL OR source_account_id = $2)
    AND status IN ('pending', 'processing') AND (kind = 'global_accounts' OR sub_status = 'awaiting_approval')
  GROUP BY source_account_id`;

/**
 * The amounts that payouts which await approval, are queued or are being paid will still take from one account, or from each account
 * of the project, in ledger units. A withdrawal takes it when it is approved. Accounts without such payouts are missing. Read an account's balance afterwards: a payout
 * that ends in between then counts twice instead of not at all.
 */
export const openPayoutTotals = async (
  reader: SqlReader,
  projectId: string,
  accountId: string | null,
): Promise<ReadonlyMap<string, bigint>> => {
  const rows = await reader.query<{ id: string; total: string }>(OPEN_TOTALS, [projectId, accountId]);
  return new Map(rows.map(({ id, total }) => [id, BigInt(total)]));
};

/** Stores the payout, its rows, and its job unless it awaits approval. @throws UsedAlreadyError */
const insertPayout = async (sql: Sql, payout: AccountsPayout, rows: readonly string[]): Promise<void> => {
  const count = await sql.change(INSERT_PAYOUT, [
    payout.id,
    payout.projectId,
    payout.kind,
    payout.mode,
    payout.subStatus,
    payout.sourceAccountId,
    payout.currency,
    payout.reference,
    payout.totalBase.toString(),
    payout.itemsTotal,
    payout.digest,
    payout.idempotencyKey,
    payout.retryOf,
    payout.createdBy,
    payout.createdAt,
    payout.expiresAt,
    payout.evaluationId,
  ]);
  if (count === 0) throw new UsedAlreadyError();
  await sql.change(INSERT_ROWS, [payout.projectId, payout.id, encodeRows(rows)]);
  if (payout.subStatus !== "queued") return;
  await sql.change(INSERT_JOB, [payout.id, payout.createdAt, currentTraceparent()]);
  announceJob(sql, "payout");
};

/** Payouts between accounts of the ledger. */
export const createAccountPayoutsRepository = (database: Database) => ({
  /**
   * Stores a payout with its rows. In the same transaction `admit` decides whether the payout may run at once, and returns the id of
   * the policies' evaluation; with null it awaits approval until `expiresAt`. Null when another payout used the Idempotency-Key, or already retries the same payout.
   * @throws DomainError `duplicate_payout`
   */
  insert: (input: {
    payout: AccountsPayout;
    /** The rows of the request, each encoded by `encodeRow`. */
    rows: readonly string[];
    /** Null: the rows are neither checked for duplicates nor stored for later checks. */
    keys: RowKeys | null;
    admit: (sql: Sql) => Promise<string | null>;
    /** Makes the audit entry of the stored payout, which is written in the same transaction. */
    audit: (stored: AccountsPayout) => AuditEntry;
    expiresAt: Date;
    /** Asks for votes on the stored payout where the project demands them. */
    ask: (sql: Sql, stored: AccountsPayout) => Promise<void>;
  }): Promise<AccountsPayout | null> => {
    const { payout, rows, keys, admit, audit, expiresAt, ask } = input;
    const storing = database.rawTransaction(async (sql) => {
      if (keys !== null) await claimRowKeys(sql, payout, keys);
      const evaluationId = await admit(sql);
      const stored: AccountsPayout =
        evaluationId === null
          ? { ...payout, subStatus: "awaiting_approval", expiresAt }
          : { ...payout, evaluationId, subStatus: "queued", expiresAt: null };
      await insertPayout(sql, stored, rows);
      await recordAuditOn(sql, audit(stored));
      await recordPayoutEvents(sql, {
        projectId: stored.projectId,
        payoutIds: [stored.id],
        type: "payout.created",
        at: stored.createdAt,
      });
      await ask(sql, stored);
      return stored;
    });
    return unlessUsed(storing);
  },

  /** Awaiting approval → queued. False when the payout no longer awaits approval. */
  approve: (
    { projectId, id }: PayoutKey,
    audit: AuditEntry,
    enforce: (sql: Sql) => Promise<string>,
  ): Promise<boolean> =>
    database.transaction(async (tx) => {
      const now = audit.at;
      const { count } = await tx.payout.updateMany({
        where: { projectId, id, status: "pending", subStatus: "awaiting_approval", expiresAt: { gt: now } },
        data: { subStatus: "queued", expiresAt: null, updatedAt: now },
      });
      if (count === 0) return false;
      await tx.payout.updateMany({ where: { projectId, id }, data: { evaluationId: await enforce(sqlOf(tx)) } });
      await insertJob(tx, { id, queue: "payout", runAt: now });
      await recordAudit(tx, audit);
      await recordPayoutEvents(sqlOf(tx), { projectId, payoutIds: [id], type: "payout.approved", at: now });
      return true;
    }),

  /** Pending → cancelled. False when the payout is no longer pending. */
  cancel: ({ projectId, id }: PayoutKey, audit: AuditEntry, now: Date): Promise<boolean> =>
    database.transaction(async (tx) => {
      const { count } = await tx.payout.updateMany({
        where: { projectId, id, status: "pending" },
        data: { status: "cancelled", expiresAt: null, updatedAt: now },
      });
      if (count === 0) return false;
      await recordAudit(tx, audit);
      await cancelVotes(sqlOf(tx), audit, id);
      await recordPayoutEvents(sqlOf(tx), { projectId, payoutIds: [id], type: "payout.cancelled", at: now });
      return true;
    }),

  /** A page of the payout's rows, in their order. */
  items: (query: ItemsQuery): Promise<PayoutItemRow[]> => readItems(sqlOn(database.pool), query),
});

export type AccountPayoutsRepository = ReturnType<typeof createAccountPayoutsRepository>;
