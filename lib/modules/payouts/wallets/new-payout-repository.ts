/** Stores new payouts to wallets with their rows and batches, and holds their money where they run at once. */
import { bindDeps } from "@/lib/core/bind-deps";
import type { Database, Tx } from "@/lib/db/client";
import { sqlOf, type Sql } from "@/lib/db/sql";
import { recordAudit, type AuditEntry } from "@/lib/modules/audit/service";
import { insertJob } from "@/lib/modules/jobs/service";
import type { SponsorshipService } from "@/lib/modules/sponsorship/service";
import { claimRowKeys } from "../duplicate-repository";
import type { KeyFilters } from "../key-filters";
import type { DuplicateRow, RowKeys } from "../duplicate-rows";
import type { WalletsPayout } from "../payout";
import { recordPayoutEvents } from "../project-event-repository";
import { UsedAlreadyError } from "../errors";
import { unlessUsed } from "../repository";
import { holdBatches, type Holding } from "./hold-batch-repository";
import { tokenName, type PayoutPlan } from "./rows";
import { walletPayoutColumns, type PayoutWarning, type WalletPayout } from "./wallet-payout";
import { NotAdmittedError } from "../errors";

interface NewPayoutDeps {
  readonly database: Database;
  readonly sponsorship: Pick<SponsorshipService, "reserve">;
  readonly keyFilters: Pick<KeyFilters, "read">;
}

/** The part of a new payout that only payouts to wallets have. */
export type NewWalletPayout = Omit<WalletPayout, "projectId" | "payoutId" | "fundedBy" | "gasWaits">;

/** How a payout runs that needs no code: its money is held, or another operation brings the missing part first. */
export type Running =
  | { readonly by: "holding"; readonly holding: Holding }
  | { readonly by: "funding"; readonly operationId: string };

export interface NewPayoutToWallets {
  readonly payout: WalletsPayout;
  readonly own: NewWalletPayout;
  readonly plan: PayoutPlan;
  readonly keys: RowKeys;
  /** Duplicates that were allowed, in words. */
  readonly warningsOf: (duplicates: readonly DuplicateRow[]) => readonly PayoutWarning[];
  /** Throws when the money does not suffice. Called after the check for duplicates, whose error comes first. */
  readonly refuse: () => void;
  /** Claims the run of a schedule that it is made for. Called in any case. @throws UsedAlreadyError */
  readonly claim: (sql: Sql) => Promise<void>;
  /** The id of the policies' evaluation where it may run without a further code, or else null; notes what it spends. */
  readonly admit: (sql: Sql) => Promise<string | null>;
  /** How it runs where it may do so at once; null where it awaits approval in any case. */
  readonly running: Running | null;
  readonly audit: (stored: WalletsPayout) => AuditEntry;
  readonly expiresAt: Date;
  /** Asks for votes on the stored payout where the project demands them. */
  readonly ask: (sql: Sql, stored: WalletsPayout) => Promise<void>;
}

const INSERT_PAYOUT = `
  INSERT INTO payout (id, project_id, kind, mode, status, sub_status, reference, total_base, items_total, digest, idempotency_key,
    retry_of, created_by, created_at, updated_at, expires_at, evaluation_id, source_account_id, currency)
  VALUES ($1, $2, 'wallets', 'independent', 'pending', $3, $4, $13::numeric, $5::int, $6::bytea, $7, $8, $9, $10::timestamptz,
    $10::timestamptz, $11::timestamptz, $12, $14, $15)
  ON CONFLICT DO NOTHING`;

const INSERT_ITEMS = `
  INSERT INTO wallet_payout_item (project_id, payout_id, index, recipient, token, amount_base, reference, note, batch)
  SELECT $1, $2, (number - 1)::int, row->>0, row->>1, (row->>2)::numeric, row->>3, row->>4, (row->>5)::int
  FROM json_array_elements($3::json) WITH ORDINALITY AS element (row, number)`;

const INSERT_BATCHES = `
  INSERT INTO wallet_payout_batch (project_id, payout_id, number, token, rows, amount_base, state, updated_at, wallet_address, chain_id)
  SELECT $1, $2, (row->>0)::int, row->>1, (row->>2)::int, (row->>3)::numeric, 'queued', $4::timestamptz, $5, $6::int
  FROM json_array_elements($3::json) AS element (row)`;

/** @returns 0 when another payout has used its key, or retries the same payout */
const insertPayout = (sql: Sql, payout: WalletsPayout): Promise<number> =>
  sql.change(INSERT_PAYOUT, [
    payout.id,
    payout.projectId,
    payout.subStatus,
    payout.reference,
    payout.itemsTotal,
    payout.digest,
    payout.idempotencyKey,
    payout.retryOf,
    payout.createdBy,
    payout.createdAt,
    payout.expiresAt,
    payout.evaluationId,
    payout.totalBase.toString(),
    payout.sourceAccountId,
    payout.currency,
  ]);

const insertOwn = async (
  tx: Tx,
  { id: payoutId, projectId }: WalletsPayout,
  own: NewWalletPayout,
  fundedBy: string | null,
): Promise<void> => {
  await tx.walletPayout.create({ data: walletPayoutColumns({ ...own, projectId, payoutId, fundedBy }) });
};

const insertPlan = async (
  sql: Sql,
  { payout, own, plan }: Pick<NewPayoutToWallets, "payout" | "own" | "plan">,
): Promise<void> => {
  const rows = plan.rows.map(({ recipient, token, amountBase, reference, note, batch }) => [
    recipient,
    tokenName(token),
    amountBase.toString(),
    reference,
    note,
    batch,
  ]);
  await sql.change(INSERT_ITEMS, [payout.projectId, payout.id, JSON.stringify(rows)]);
  const batches = plan.batches.map(({ number, token, rows: count, amountBase }) => [
    number,
    tokenName(token),
    count,
    amountBase.toString(),
  ]);
  await sql.change(INSERT_BATCHES, [
    payout.projectId,
    payout.id,
    JSON.stringify(batches),
    payout.createdAt,
    own.fromAddress,
    own.chainId,
  ]);
};

/** Queues the job that carries the payout on; its id is the payout's. */
export const beginJob = (tx: Tx, payoutId: string, now: Date): Promise<void> =>
  insertJob(tx, { id: payoutId, queue: "payout", runAt: now });

/** As `insert`, in the transaction that accepts the operation which funds it. @throws UsedAlreadyError, NotAdmittedError */
const insertFunded = async (
  { sponsorship, keyFilters }: NewPayoutDeps,
  tx: Tx,
  input: NewPayoutToWallets,
): Promise<WalletsPayout> => {
  const sql = sqlOf(tx);
  const { payout, plan, running } = input;
  const now = payout.createdAt;
  const duplicates = await claimRowKeys(sql, payout, input.keys, keyFilters);
  input.refuse();
  await input.claim(sql);
  const evaluationId = running === null ? null : await input.admit(sql);
  const runs = running !== null && evaluationId !== null;
  // The operation that would fund it is accepted in the same transaction, and must not be.
  if (!runs && running?.by === "funding") throw new NotAdmittedError();
  const fundedBy = runs && running.by === "funding" ? running.operationId : null;
  const stored: WalletsPayout = runs
    ? { ...payout, evaluationId, subStatus: fundedBy === null ? "queued" : "prepared", expiresAt: null }
    : { ...payout, subStatus: "awaiting_approval", expiresAt: input.expiresAt };
  if ((await insertPayout(sql, stored)) === 0) throw new UsedAlreadyError();
  const warnings = [...input.warningsOf(duplicates), ...input.own.warnings];
  await insertOwn(tx, stored, { ...input.own, warnings }, fundedBy);
  await insertPlan(sql, { payout: stored, own: input.own, plan });
  await recordAudit(tx, input.audit(stored));
  await recordPayoutEvents(sql, {
    projectId: stored.projectId,
    payoutIds: [stored.id],
    type: "payout.created",
    at: now,
  });
  if (!runs) {
    await input.ask(sql, stored);
    return stored;
  }
  await beginJob(tx, stored.id, now);
  if (running.by === "holding") await holdBatches(tx, sponsorship, running.holding, now);
  return stored;
};

/**
 * Stores a payout with its rows and batches. Where it may run at once its money is held in the same transaction, as an
 * operation's is; else it awaits approval until `expiresAt` and holds nothing. Null: another payout has
 * used its key, or retries the same payout.
 * @throws DomainError `duplicate_payout`, `insufficient_balance`, `insufficient_reserves`, `sponsor_budget_exceeded`;
 * FundsMovedError when a balance has to be read again
 */
const insert = (deps: NewPayoutDeps, input: NewPayoutToWallets): Promise<WalletsPayout | null> =>
  unlessUsed(deps.database.transaction((tx) => insertFunded(deps, tx, input)));

export const createNewPayoutRepository = (deps: NewPayoutDeps) => ({
  insert: bindDeps(deps, insert),
  insertFunded: bindDeps(deps, insertFunded),
});
