/** Payments from the treasury to many addresses of one chain. */
import { bindDeps } from "@/lib/core/bind-deps";
import { actorName, type Actor } from "@/lib/core/actor";
import { DomainError } from "@/lib/core/errors";
import { formatAmount } from "@/lib/core/money";
import type { WalletsPayout } from "../payout";
import { NOT_READABLE } from "../readable";
import type { PayoutsRepository } from "../repository";
import type { AccountSideDeps } from "./account-side";
import { createApproving } from "./approve";
import { createCancelling, type CancelDeps } from "./cancel";
import { createDoubtDecisions, type DoubtDeps } from "./batches/decide-doubt";
import { refuseFaults, strangersAmong, type WalletRowInput } from "./check-rows";
import type { Origin, ScheduledRun } from "./draft";
import type { BatchGroup, WalletItemRow, WalletPayoutsReader } from "./read-repository";
import {
  digestOf,
  readBorneRequest,
  type BorneInput,
  type PayoutRequest,
  type RequestDeps,
  type RequestInput,
} from "./request";
import { storePayout, validatePayout, type StorePayoutDeps } from "./store-payout";
import { tokenNamed, type WalletPayout } from "./wallet-payout";

const KIND = "wallets";

export interface WalletPayoutsDeps
  extends StorePayoutDeps, RequestDeps, AccountSideDeps, Omit<DoubtDeps, "smartAccounts"> {
  readonly smartAccounts: StorePayoutDeps["smartAccounts"] & DoubtDeps["smartAccounts"];
  readonly assets: AccountSideDeps["assets"];
  readonly ledger: AccountSideDeps["ledger"];
  readonly registry: StorePayoutDeps["registry"];
  readonly wallets: RequestDeps["wallets"] & StorePayoutDeps["wallets"];
  readonly policies: StorePayoutDeps["policies"];
  readonly payouts: Pick<PayoutsRepository, "findByKey">;
  readonly rows: WalletPayoutsReader;
  readonly lostMoves: CancelDeps["lostMoves"];
}

export interface NewWalletsPayout extends BorneInput {
  readonly validateOnly: boolean;
  readonly allowDuplicates: boolean;
  /** The caller's Idempotency-Key. */
  readonly key: string | null;
}

/** A payout with its parts. With `validateOnly` it is not stored, and has no id. */
export interface WalletsPayoutParts {
  readonly payout: WalletsPayout;
  readonly own: WalletPayout;
  readonly groups: readonly BatchGroup[];
}

/** @throws DomainError `idempotency_mismatch` when the key was used for another request */
const sameAs = (known: WalletsPayout, digest: Uint8Array): WalletsPayout => {
  if (Buffer.from(known.digest).equals(digest)) return known;
  throw new DomainError("idempotency_mismatch", "This Idempotency-Key was used for another payout. Nothing was paid.");
};

const NOTHING_RETRYABLE =
  "The failed rows of this payout must not be tried again: each names its reason. Look at the treasury's history before you pay them again.";

/** Whether a retry may pay a failed row. The failure of the row decides, or the payout's when the row has none. */
const isRetryable = ({ failure }: WalletItemRow, payout: WalletsPayout): boolean => {
  const reason = failure ?? payout.failure;
  return reason === null || reason.retryable;
};

const findKnown = async (deps: WalletPayoutsDeps, actor: Actor, key: string | null): Promise<WalletsPayout | null> => {
  if (key === null) return null;
  const caller = { projectId: actor.projectId, createdBy: actorName(actor) };
  const known = await deps.payouts.findByKey({ ...caller, kind: KIND, idempotencyKey: key });
  return known?.kind === KIND ? known : null;
};

/** Adds to each payout its row of `wallet_payout` and the sums of its batches. */
/** A payout that cannot be read as a whole where a part of it cannot. */
const markUnread = (payout: WalletsPayout, own: WalletPayout): WalletsPayout =>
  own.unread === true ? { ...payout, unread: true, failure: payout.failure ?? NOT_READABLE } : payout;

/** Without those of which too little can be read. */
const parts = async (
  deps: WalletPayoutsDeps,
  projectId: string,
  payouts: readonly WalletsPayout[],
): Promise<WalletsPayoutParts[]> => {
  const ids = payouts.map(({ id }) => id);
  const [owns, groups] = await Promise.all([deps.rows.shown(projectId, ids), deps.rows.groups(projectId, ids)]);
  return payouts.flatMap((payout) => {
    const own = owns.get(payout.id);
    if (own === undefined && payout.unread !== true) throw new Error(`${payout.id} has no row in wallet_payout.`);
    if (own === undefined || own === null) return [];
    return [{ payout: markUnread(payout, own), own, groups: groups.filter(({ payoutId }) => payoutId === payout.id) }];
  });
};

const partsOf = async (deps: WalletPayoutsDeps, payout: WalletsPayout): Promise<WalletsPayoutParts> => {
  const [found] = await parts(deps, payout.projectId, [payout]);
  if (found === undefined) throw new Error(`${payout.id} was not read.`);
  return found;
};

const store = async (
  deps: WalletPayoutsDeps,
  actor: Actor,
  request: PayoutRequest,
  origin: Origin,
): Promise<WalletsPayout> => {
  const { stored, digest } = await storePayout(deps, actor, request, origin);
  if (stored !== null) return stored;
  const known = await findKnown(deps, actor, origin.key);
  if (known === null)
    throw new DomainError(
      "invalid_state",
      "The payout's failed rows are being tried again already. Nothing more was started; read the payout.",
    );
  return sameAs(known, digest);
};

const createNew = async (
  deps: WalletPayoutsDeps,
  actor: Actor,
  input: NewWalletsPayout,
  request: PayoutRequest,
): Promise<WalletsPayoutParts> => {
  const { key, allowDuplicates } = input;
  const origin = { key, retryOf: null, run: null, allowDuplicates };
  if (input.validateOnly) return validatePayout(deps, actor, request, origin);
  return partsOf(deps, await store(deps, actor, request, origin));
};

/**
 * Checks every row, stores the payout and queues it for the workers. A payout that the caller's policy does not allow without a code
 * awaits approval. With `validateOnly` nothing is stored, and the result has no id.
 * @throws DomainError `invalid_request` and the like (every bad row by index), `duplicate_payout`, `insufficient_balance`,
 * `insufficient_reserves`, `sponsor_budget_exceeded`, `batch_too_large`, `unsupported_chain`, `chain_unavailable`
 */
const create = async (deps: WalletPayoutsDeps, actor: Actor, input: NewWalletsPayout): Promise<WalletsPayoutParts> => {
  const request = await readBorneRequest(deps, actor, input);
  const key = input.validateOnly ? null : input.key;
  const known = await findKnown(deps, actor, key);
  if (known !== null) return partsOf(deps, sameAs(known, digestOf(request)));
  try {
    return await createNew(deps, actor, input, request);
  } catch (error) {
    // A concurrent call with the same key may have been accepted, and may be the cause of this error (duplicate rows, money held).
    const other = await findKnown(deps, actor, key);
    if (other === null) throw error;
    return partsOf(deps, sameAs(other, digestOf(request)));
  }
};

/**
 * Creates the payout of a schedule's run and stores its id in the run. The schedule was approved, so the payout needs no approval.
 * @throws DomainError as `create` does, except `duplicate_payout`; the errors of `run.take`
 */
const createScheduled = async (
  deps: WalletPayoutsDeps,
  actor: Actor,
  request: PayoutRequest,
  run: ScheduledRun,
): Promise<void> => {
  await store(deps, actor, request, { key: run.key, retryOf: null, run, allowDuplicates: true });
};

const allItems = async (
  deps: WalletPayoutsDeps,
  payout: WalletsPayout,
  status: WalletItemRow["status"],
): Promise<WalletItemRow[]> =>
  deps.rows.items({
    projectId: payout.projectId,
    payoutId: payout.id,
    after: -1,
    limit: payout.itemsTotal,
    status,
  });

/**
 * Creates a payout of the failed rows, at most once for each payout. It needs its own approval. Omits rows that would fail again, and
 * rows that another operation may have paid.
 * @throws DomainError `invalid_state` when no row may be retried; otherwise as `create` does
 */
const retry = async (
  deps: WalletPayoutsDeps,
  actor: Actor,
  { payout, own }: WalletsPayoutParts,
): Promise<WalletsPayoutParts> => {
  const failed = (await allItems(deps, payout, "failed")).filter((item) => isRetryable(item, payout));
  if (failed.length === 0) throw new DomainError("invalid_state", NOTHING_RETRYABLE);
  const transfers = failed.map((item): WalletRowInput => ({
    address: item.recipient,
    amount: formatAmount(item.amountBase, tokenNamed(own.totals, item.token).decimals),
    token: item.token,
    reference: item.reference ?? undefined,
    note: item.note ?? undefined,
  }));
  const request = await readBorneRequest(deps, actor, {
    chainId: own.chainId,
    transfers,
    reference: payout.reference ?? undefined,
    fundFrom: own.fundFrom ?? undefined,
    sourceAccountId: payout.sourceAccountId ?? undefined,
  });
  const origin = { key: null, retryOf: payout.id, run: null, allowDuplicates: true };
  return partsOf(deps, await store(deps, actor, request, origin));
};

/** Checks the caller's list of recipients again before the stored answer of an earlier call is repeated. @throws DomainError `recipient_not_allowed` naming each row */
const checkRecipients = (deps: WalletPayoutsDeps, actor: Actor, { transfers }: Pick<RequestInput, "transfers">): void =>
  refuseFaults(strangersAmong(transfers, deps.policies.mayPay(actor)), transfers.length);

const checkRetry = async (deps: WalletPayoutsDeps, actor: Actor, { payout }: WalletsPayoutParts): Promise<void> => {
  const failed = await allItems(deps, payout, "failed");
  checkRecipients(deps, actor, {
    transfers: failed.map(({ recipient }) => ({ address: recipient, amount: "", token: "" })),
  });
};

/** The service of payouts from the treasury to wallets on one chain. Amounts in base units of the token. */
export const createWalletPayoutsService = (deps: WalletPayoutsDeps) => ({
  create: bindDeps(deps, create),
  createScheduled: bindDeps(deps, createScheduled),
  checkRecipients: bindDeps(deps, checkRecipients),
  checkRetry: bindDeps(deps, checkRetry),
  retry: bindDeps(deps, retry),
  parts: bindDeps(deps, parts),
  partsOf: bindDeps(deps, partsOf),
  ...createApproving(deps),
  ...createDoubtDecisions(deps),
  ...createCancelling(deps),
  items: deps.rows.items,
});

export type WalletPayoutsService = ReturnType<typeof createWalletPayoutsService>;
