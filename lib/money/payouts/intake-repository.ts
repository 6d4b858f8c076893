/**
 * Stores new payouts, starts approved payouts, and cancels payouts. Each change runs in one
 * transaction with its holds, ledger entries, audit entry, project event and job.
 */
import type { Actor } from "@/lib/core/actor";
import type { DomainError } from "@/lib/core/errors";
import type { Database } from "@/lib/platform/db/client";
import { sqlOf, type Sql } from "@/lib/platform/db/sql";
import { sql } from "@/lib/platform/db/statement";
import { inOrder } from "@/lib/platform/db/in-order";
import { recordAuditOn, type AuditEntry } from "@/lib/news/audit/service";
import type { DecisionsService, NewDecision } from "@/lib/trust/decisions/service";
import { insertJobOn } from "@/lib/platform/jobs/service";
import type { Check, Passed, PoliciesService, Subject } from "@/lib/trust/policies/service";
import type { SponsorshipService } from "@/lib/books/sponsorship/service";
import { cancelVotes } from "./ask-votes";
import { insertRows } from "./accounts/row-repository";
import { duplicateWarnings, type NewRows, type ScheduledRun } from "./draft";
import { findDuplicates, insertRowKeys, lockRowKeys } from "./duplicate-repository";
import type { DuplicateRow, RowKeys } from "./duplicate-rows";
import { NotAdmittedError, UsedAlreadyError } from "./errors";
import { newPayouts, type Payout, type PayoutKey } from "./payout";
import type { PayoutParts } from "./payout-view";
import { recordCreated, recordPayoutEvents } from "./project-event-repository";
import { lockPayout } from "./repository";
import { takeRun } from "./schedules/run-repository";
import { holdBatches, releaseBatches, type Holding } from "./wallets/hold-batch-repository";
import { tokenName, type PayoutPlan } from "./wallets/rows";
import { newWalletPayouts, WARNINGS_MAX, type WalletPayout } from "./wallets/wallet-payout";

/** The services of other modules that take part in the transaction. */
export interface IntakeUses {
  readonly policies: Pick<PoliciesService, "spend">;
  readonly decisions: Pick<DecisionsService, "openOn">;
  readonly sponsorship: Pick<SponsorshipService, "reserve">;
}

export interface Start {
  readonly check: Check;
  readonly subject: Subject;
  /**
   * True when people have approved the payout or its schedule, by a one-time code or by votes. The
   * policies then require no further code.
   */
  readonly hasCode: boolean;
  readonly decisionId?: string | undefined;
  /**
   * The money that the transaction holds. Null: the ledger moves the money, or `fundedBy` brings it
   * first.
   */
  readonly holding: Holding | null;
  /**
   * The id of the operation that brings missing money to the payout's chain; null when there is
   * none.
   */
  readonly fundedBy: string | null;
}

/** The worth that counts towards the caps of an API key that may pay without a code. */
interface Spending {
  readonly actor: Actor;
  readonly usd: string | null;
}

export interface NewPayout {
  readonly parts: PayoutParts;
  readonly rows: NewRows;
  readonly keys: RowKeys;
  /**
   * The error that paying the payout would cause now. It is thrown after the check for duplicate
   * rows, because duplicates are reported first.
   */
  readonly obstacle: DomainError | null;
  readonly run: ScheduledRun | null;
  readonly audit: AuditEntry;
  /** The approval and the money with which the payout starts. Null: the payout awaits approval. */
  readonly start: (Start & { readonly spending: Spending | null }) | null;
  /** The request for votes on the payout; null when no votes are needed. */
  readonly votes: NewDecision | null;
}

const QUEUE = "payout";

/**
 * Inserts the payout's row. Returns 0 when nothing was inserted, because another payout has used
 * the same Idempotency-Key or retries the same payout.
 */
const insertPayoutRow = (db: Sql, payout: Payout): Promise<number> =>
  db.change(sql`
    INSERT INTO payout (${newPayouts.names}) VALUES (${newPayouts.values(payout)})
    ON CONFLICT DO NOTHING`);

const insertWalletPayoutRow = (db: Sql, own: WalletPayout): Promise<number> =>
  db.change(sql`
    INSERT INTO wallet_payout (${newWalletPayouts.names})
    VALUES (${newWalletPayouts.values(own)})`);

const insertPlan = async (
  db: Sql,
  { id, projectId, createdAt }: Payout,
  walletPayout: WalletPayout,
  plan: PayoutPlan,
): Promise<void> => {
  const { fromAddress, chainId } = walletPayout;
  const rows = plan.rows.map(({ recipient, token, amountBase, reference, note, batch }) => [
    recipient,
    tokenName(token),
    amountBase.toString(),
    reference,
    note,
    batch,
  ]);
  const batches = plan.batches.map(({ number, token, rows: count, amountBase }) => [
    number,
    tokenName(token),
    count,
    amountBase.toString(),
  ]);
  // Rows and batches are sent as JSON arrays without field names. A payout may have ten thousand
  // rows, and field names would make the statement much longer.
  await inOrder(db, [
    () =>
      db.change(sql`
        INSERT INTO wallet_payout_item (
          project_id, payout_id, index, recipient, token, amount_base, reference, note, batch
        )
        SELECT ${projectId}, ${id}, (number - 1)::int,
          row->>0, row->>1, (row->>2)::numeric, row->>3, row->>4, (row->>5)::int
        FROM json_array_elements(${JSON.stringify(rows)}::json)
          WITH ORDINALITY AS element (row, number)`),
    () =>
      db.change(sql`
        INSERT INTO wallet_payout_batch (
          project_id, payout_id, number, token, rows, amount_base, state, updated_at,
          wallet_address, chain_id
        )
        SELECT ${projectId}, ${id}, (row->>0)::int,
          row->>1, (row->>2)::int, (row->>3)::numeric, 'queued', ${createdAt}::timestamptz,
          ${fromAddress}, ${chainId}::int
        FROM json_array_elements(${JSON.stringify(batches)}::json) AS element (row)`),
  ]);
};

const insertOfKind = async (
  db: Sql,
  { parts, rows, run, start }: NewPayout,
  duplicates: readonly DuplicateRow[],
): Promise<void> => {
  if (rows.kind === "global_accounts") {
    await insertRows(db, parts.payout, rows.encoded);
    return;
  }
  if (parts.kind === "global_accounts") throw new Error("The rows are of the other kind.");
  // The run of a schedule gets no warnings about duplicates, because a schedule repeats its
  // payments by design.
  const repeated = run === null ? duplicateWarnings(duplicates) : [];
  const warnings = [...repeated, ...parts.own.warnings].slice(0, WARNINGS_MAX);
  const walletPayout = { ...parts.own, warnings, fundedBy: start?.fundedBy ?? null };
  await inOrder(db, [
    () => insertWalletPayoutRow(db, walletPayout),
    () => insertPlan(db, parts.payout, walletPayout, rows.plan),
  ]);
};

/**
 * Counts the payout's worth as spent and evaluates the policies.
 * @throws NotAdmittedError when the payout needs a code
 */
const admit = async (
  db: Sql,
  { policies }: IntakeUses,
  { start, at }: { readonly start: NonNullable<NewPayout["start"]>; readonly at: Date },
): Promise<Passed> => {
  const { spending, check, subject, hasCode } = start;
  // `spend` may wait for another payment. The policies are evaluated in a later statement, which
  // sees a policy that was stored during this wait.
  if (spending !== null && !(await policies.spend(db, spending.actor, spending.usd, at)))
    throw new NotAdmittedError();
  const evaluation = await check.evaluate(db, subject, { hasCode });
  if (evaluation === null) throw new NotAdmittedError();
  return evaluation;
};

/**
 * Stores a payout with its rows. With `start`, the payout is queued and its money is held.
 * Otherwise it awaits approval.
 * @param db a READ COMMITTED transaction
 * @throws UsedAlreadyError when another payout has used the key or retries the same payout, or the
 * run has ended; NotAdmittedError when the payout turns out to need a code; PoliciesChangedError;
 * ScheduleCancelledError; DomainError `duplicate_payout`, the obstacle, and the errors of
 * `holdBatches`
 */
export const insertPayout = async (
  db: Sql,
  uses: IntakeUses,
  input: NewPayout,
): Promise<Payout> => {
  const { parts, keys, obstacle, run, start, votes } = input;
  const { id, projectId, createdAt } = parts.payout;
  await lockRowKeys(db, projectId, keys);
  const duplicates = await findDuplicates(db, projectId, keys);
  if (obstacle !== null) throw obstacle;
  if (run !== null && !(await takeRun(db, run, id))) throw new UsedAlreadyError();
  const evaluation = start === null ? null : await admit(db, uses, { start, at: createdAt });
  const payout: Payout = { ...parts.payout, evaluationId: evaluation?.evaluationId ?? null };
  if ((await insertPayoutRow(db, payout)) === 0) throw new UsedAlreadyError();
  await inOrder(db, [
    async () => evaluation?.store(db),
    () => insertOfKind(db, input, duplicates),
    () => insertRowKeys(db, payout, keys),
    () => recordAuditOn(db, input.audit),
    () => recordCreated(db, payout),
    async () =>
      start === null ? undefined : insertJobOn(db, { id, queue: QUEUE, runAt: createdAt }),
  ]);
  const holding = start?.holding ?? null;
  if (holding !== null) await holdBatches(db, uses.sponsorship, holding, createdAt);
  if (votes !== null) await uses.decisions.openOn(db, votes);
  return payout;
};

/**
 * Starts a payout that awaits approval, and holds its money.
 * @param db a READ COMMITTED transaction
 * @returns false when the payout no longer awaits approval; nothing is changed then
 * @throws DomainError `policy_violation`, and the errors of `holdBatches`
 */
export const approvePayout = async (
  db: Sql,
  uses: Pick<IntakeUses, "sponsorship">,
  { projectId, id }: PayoutKey,
  { start, audit }: { readonly start: Start; readonly audit: AuditEntry },
): Promise<boolean> => {
  const { check, subject, hasCode, decisionId, holding, fundedBy } = start;
  const now = audit.at;
  const subStatus = fundedBy === null ? "queued" : "prepared";
  const approved = await db.change(sql`
    UPDATE payout SET
      sub_status = ${subStatus},
      expires_at = NULL,
      updated_at = ${now}::timestamptz
    WHERE project_id = ${projectId}
      AND id = ${id}
      AND status = 'pending'
      AND sub_status = 'awaiting_approval'
      AND expires_at > ${now}::timestamptz`);
  if (approved === 0) return false;
  const evaluationId = await check.enforce(db, subject, { hasCode, decisionId });
  if (evaluationId === null) throw new Error("A code was given, and yet one is needed.");
  await db.change(sql`
    UPDATE payout SET evaluation_id = ${evaluationId}
    WHERE project_id = ${projectId} AND id = ${id}`);
  if (fundedBy !== null)
    await db.change(sql`
      UPDATE wallet_payout SET funded_by = ${fundedBy}
      WHERE project_id = ${projectId} AND payout_id = ${id}`);
  await recordAuditOn(db, audit);
  await recordPayoutEvents(db, {
    projectId,
    payoutIds: [id],
    type: "payout.approved",
    at: now,
  });
  await insertJobOn(db, { id, queue: QUEUE, runAt: now });
  if (holding !== null) await holdBatches(db, uses.sponsorship, holding, now);
  return true;
};

/**
 * Cancels a payout that has not begun. When a payout to wallets has begun, cancels its batches
 * that are not signed yet. Their money and their part of the sponsor's budget become available
 * again, and the payout ends when the remaining batches have ended.
 * @returns false when there is nothing left to cancel
 */
export const cancelPayout = (
  database: Pick<Database, "transaction">,
  sponsorship: Pick<SponsorshipService, "settle">,
  { kind, projectId, id }: Pick<Payout, "kind" | "projectId" | "id">,
  audit: AuditEntry,
): Promise<boolean> =>
  database.transaction(async (tx) => {
    const db = sqlOf(tx);
    const now = audit.at;
    const payout = await lockPayout(db, { projectId, id });
    if (payout?.status !== "pending" && payout?.status !== "processing") return false;
    const isHeld = payout.status === "processing" || payout.subStatus === "queued";
    const stopped =
      kind === "wallets"
        ? await releaseBatches(tx, sponsorship, { projectId, payoutId: id, isHeld, now })
        : 0;
    if (payout.status === "pending") {
      await db.change(sql`
        UPDATE payout SET
          status = 'cancelled',
          expires_at = NULL,
          updated_at = ${now}::timestamptz
        WHERE project_id = ${projectId} AND id = ${id} AND status = 'pending'`);
      await cancelVotes(db, audit, id);
      await recordPayoutEvents(db, {
        projectId,
        payoutIds: [id],
        type: "payout.cancelled",
        at: now,
      });
    } else if (stopped === 0) return false;
    await recordAuditOn(db, audit);
    return true;
  });
