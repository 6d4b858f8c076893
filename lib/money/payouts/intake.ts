/**
 * Creates and starts payouts of both kinds (between accounts and to wallets). Requests of callers,
 * retries and runs of schedules all use these functions.
 */
import { actorName, type Actor } from "@/lib/core/actor";
import { addSeconds } from "@/lib/core/clock";
import { DomainError, isDomainError } from "@/lib/core/errors";
import { keptSqlOn, type Sql } from "@/lib/platform/db/sql";
import type { AuditEntry } from "@/lib/news/audit/service";
import type { NewDecision } from "@/lib/trust/decisions/service";
import { needsVotes, votesOf, type Intent } from "@/lib/trust/policies/service";
import { draftBetweenAccounts } from "./accounts/draft";
import { readAccountsRequest, repeatedDigest, type AccountsInput } from "./accounts/request";
import { approvalLines, approvalTitle, approvedDigest } from "./approval-text";
import { PAYOUT_SUBJECT } from "./ask-votes";
import type { PayoutsContext } from "./context";
import {
  createdEntry,
  duplicateWarnings,
  type Draft,
  type Origin,
  type Payment,
  type PayoutRequest,
} from "./draft";
import { findDuplicates } from "./duplicate-repository";
import { NotAdmittedError, UsedAlreadyError } from "./errors";
import { approvePayout, insertPayout, type NewPayout, type Start } from "./intake-repository";
import { accountsIntent, paymentsDigest, walletsIntent } from "./intent";
import { APPROVAL_SECONDS } from "./limits";
import type { Payout, WalletsPayout } from "./payout";
import type { PayoutParts, WalletsPayoutParts } from "./payout-view";
import { accountObstacle } from "./wallets/account-side";
import type { BearingAccount } from "./wallets/account-side-repository";
import { draftToWallets } from "./wallets/draft";
import { outflowOf } from "./wallets/money";
import { feeOf } from "./wallets/pricing";
import { digestOf, readWalletsRequest, type WalletsInput } from "./wallets/request";

export interface InputOf {
  readonly global_accounts: AccountsInput;
  readonly wallets: WalletsInput;
}

type PayoutInput = InputOf[keyof InputOf];

export interface PayoutCall {
  readonly validateOnly: boolean;
  readonly allowDuplicates: boolean;
  /** The caller's Idempotency-Key; null when the request has none. */
  readonly key: string | null;
}

/**
 * Reads and checks a request for a payout of either kind.
 * @throws DomainError naming every invalid row by its index
 */
export const readInput = (
  context: PayoutsContext,
  actor: Actor,
  input: PayoutInput,
): Promise<PayoutRequest> =>
  input.kind === "wallets"
    ? readWalletsRequest(context, actor, input)
    : readAccountsRequest(context, actor.projectId, input);

const draftOf = (
  context: PayoutsContext,
  actor: Actor,
  request: PayoutRequest,
  how: { readonly origin: Origin; readonly isStored: boolean },
): Promise<Draft> =>
  request.kind === "wallets"
    ? draftToWallets(context, actor, request, how)
    : draftBetweenAccounts(context, actor, request, how.origin);

/**
 * Builds the intent that the policies evaluate. For a run of a schedule, `createdBy` is the
 * schedule's creator, so that the policy of an API key also limits the schedules that the key
 * created.
 */
const intentOf = (actor: Actor, request: PayoutRequest, { run }: Origin): Intent => {
  const createdBy = run?.askedBy ?? actorName(actor);
  if (request.kind === "global_accounts") {
    const { asset, totalBase } = request;
    return accountsIntent(actor, { currency: asset.assetId, totalBase, createdBy }, asset);
  }
  const { chainId, treasury, totals, rows } = request;
  const recipients = rows.map(({ recipient }) => recipient);
  return walletsIntent(actor, {
    chainId,
    fromWalletId: treasury.id,
    totals,
    recipients,
    createdBy,
  });
};

type Means = Pick<Start, "holding" | "fundedBy">;

const NO_MEANS: Means = { holding: null, fundedBy: null };

/** The approvals with which the operation that funds a payout may start. */
interface Proof {
  readonly codeId?: string;
  readonly decisionId?: string;
  readonly isApproved?: boolean;
}

/**
 * Runs `store` in the transaction that starts a payout. When the treasury pays, its balances are
 * read before the transaction, and passed to `store` to hold the money. When an operation brings
 * the money, the operation is accepted in the same transaction.
 * @param store stores the payout; when it returns false, nothing was changed, and no operation is
 * accepted
 * @returns null when the quote of the operation was used already
 */
const starting = async <T>(
  context: PayoutsContext,
  actor: Actor,
  { payment, proof }: { readonly payment: Payment; readonly proof: Proof },
  store: (sql: Sql, means: Means) => Promise<T>,
): Promise<T | null> => {
  const inTransaction = (means: Means): Promise<T> =>
    context.database.rawTransaction((sql) => store(sql, means), keptSqlOn);
  if (payment.by === "ledger") return inTransaction(NO_MEANS);
  if (payment.by === "holding")
    return context.money.withHolding(payment.at, payment.outflow, (holding) =>
      inTransaction({ ...NO_MEANS, holding }),
    );
  let stored: T | null = null;
  const claim = async (sql: Sql, fundedBy: string): Promise<boolean> => {
    stored = await store(sql, { ...NO_MEANS, fundedBy });
    return stored !== false;
  };
  const operation = await context.funding.start(actor, payment.quoteId, { ...proof, claim });
  return operation === null ? null : stored;
};

const unlessUsed = async <T>(work: Promise<T>): Promise<T | null> => {
  try {
    return await work;
  } catch (error) {
    if (error instanceof UsedAlreadyError) return null;
    throw error;
  }
};

interface Making {
  readonly draft: Draft;
  readonly origin: Origin;
  readonly intent: Intent;
}

const withState = (
  parts: PayoutParts,
  state: Pick<Payout, "subStatus" | "expiresAt">,
): PayoutParts =>
  parts.kind === "wallets"
    ? { ...parts, payout: { ...parts.payout, ...state } }
    : { ...parts, payout: { ...parts.payout, ...state } };

const newPayoutOf = (
  actor: Actor,
  { draft, origin }: Making,
  state: Pick<Payout, "subStatus" | "expiresAt">,
): Omit<NewPayout, "start" | "votes"> => ({
  parts: withState(draft.parts, state),
  rows: draft.rows,
  keys: draft.keys,
  obstacle: draft.obstacle,
  run: origin.run,
  audit: createdEntry(actor, draft.parts, { status: state.subStatus, origin }),
});

/**
 * Stores a payout that starts without waiting for approval. A run of a schedule needs no code,
 * because a person has approved the whole schedule. Returns null when another payout was faster.
 * @throws NotAdmittedError, and the other errors that `needsApproval` recognizes
 */
const storeRunning = (
  context: PayoutsContext,
  actor: Actor,
  making: Making,
): Promise<Payout | null> => {
  const { draft, origin, intent } = making;
  const { payment, usd, digest } = draft;
  const isRun = origin.run !== null;
  const subStatus = payment.by === "operation" ? "prepared" : "queued";
  const input = newPayoutOf(actor, making, { subStatus, expiresAt: null });
  const subject = { type: "payout", id: draft.parts.payout.id, digest } as const;
  const spending = isRun ? null : { actor, usd };
  return context.policyEngine.checking(intent, (check) =>
    unlessUsed(
      starting(context, actor, { payment, proof: { isApproved: isRun } }, (sql, means) =>
        insertPayout(sql, context, {
          ...input,
          start: { ...means, check, subject, hasCode: isRun, spending },
          votes: null,
        }),
      ),
    ),
  );
};

const storeAwaiting = async (
  context: PayoutsContext,
  actor: Actor,
  making: Making,
): Promise<Payout | null> => {
  const required = votesOf(await context.policyEngine.refuse(making.intent));
  const { parts, shown } = making.draft;
  const { id, projectId, createdAt } = parts.payout;
  const expiresAt = addSeconds(createdAt, APPROVAL_SECONDS);
  const votes: NewDecision | null =
    required === null
      ? null
      : {
          projectId,
          subject: { type: PAYOUT_SUBJECT, id },
          title: approvalTitle(parts, context.registry),
          lines: approvalLines(parts, context.registry, shown),
          digest: approvedDigest(parts),
          maker: actor,
          required,
          expiresAt,
        };
  const input = newPayoutOf(actor, making, { subStatus: "awaiting_approval", expiresAt });
  return unlessUsed(
    context.database.rawTransaction(
      (sql) => insertPayout(sql, context, { ...input, start: null, votes }),
      keptSqlOn,
    ),
  );
};

/**
 * Whether an error shows that a payout which seemed to need no approval does need one: the caller's
 * caps are used up, the policies now demand votes, or the policy of a wallet that provides the
 * money requires a code.
 */
const needsApproval = (error: unknown): boolean =>
  error instanceof NotAdmittedError ||
  needsVotes(error) ||
  (isDomainError(error) && error.code === "otp_required");

const storeDraft = async (
  context: PayoutsContext,
  actor: Actor,
  making: Making,
  mayRun: boolean,
): Promise<Payout | null> => {
  if (!mayRun) return storeAwaiting(context, actor, making);
  try {
    return await storeRunning(context, actor, making);
  } catch (error) {
    if (!needsApproval(error)) throw error;
    return storeAwaiting(context, actor, making);
  }
};

const findKnown = async (
  { repository }: PayoutsContext,
  actor: Actor,
  kind: Payout["kind"],
  key: string | null,
): Promise<Payout | null> => {
  if (key === null) return null;
  const { projectId } = actor;
  return repository.findByKey({
    projectId,
    kind,
    createdBy: actorName(actor),
    idempotencyKey: key,
  });
};

/**
 * Returns the earlier payout of a key when its content equals the content of the request.
 * @throws DomainError `idempotency_mismatch` when the key was used for another request
 */
const sameAs = (earlier: Payout, digest: Uint8Array | null): Payout => {
  if (digest !== null && Buffer.from(earlier.digest).equals(digest)) return earlier;
  throw new DomainError(
    "idempotency_mismatch",
    "This Idempotency-Key was used for another payout. Nothing was paid.",
  );
};

/**
 * Stores the payout of a checked request. The payout awaits approval when the caller's policy
 * requires a code, or when the project's policies demand votes. Otherwise it is queued for the
 * workers. A repeated key returns the first payout.
 * @throws DomainError `policy_violation`, `screening_refused`, `duplicate_payout`,
 * `insufficient_balance`, `insufficient_reserves`, `sponsor_budget_exceeded`, `chain_unavailable`;
 * `invalid_state` when another payout retries the same rows; ScheduleCancelledError
 */
export const createPayout = async (
  context: PayoutsContext,
  actor: Actor,
  request: PayoutRequest,
  origin: Origin,
): Promise<Payout> => {
  const intent = intentOf(actor, request, origin);
  // Refuses a denied payout before balances are read. The policies are evaluated again when the
  // payout is stored.
  const { approval } = await context.policyEngine.refuse(intent, { isFirst: true });
  const draft = await draftOf(context, actor, request, { origin, isStored: true });
  const needsCode = origin.run === null && context.policies.needsCode(actor);
  const mayRun = !needsCode && approval === null;
  const stored = await storeDraft(context, actor, { draft, origin, intent }, mayRun);
  if (stored !== null) return stored;
  const earlier = await findKnown(context, actor, request.kind, origin.key);
  if (earlier === null)
    throw new DomainError(
      "invalid_state",
      "The payout's failed rows are being tried again already. Nothing more was started; read the payout.",
    );
  return sameAs(earlier, draft.parts.payout.digest);
};

/**
 * Finds the payout that an earlier call with the same key stored. Compares only the requests, so
 * that the earlier payout is returned even when accounts or balances have changed since.
 */
const findRepeated = async (
  context: PayoutsContext,
  actor: Actor,
  input: PayoutInput,
  key: string | null,
): Promise<Payout | null> => {
  const earlier = await findKnown(context, actor, input.kind, key);
  if (earlier === null) return null;
  if (input.kind === "wallets")
    return sameAs(earlier, digestOf(await readWalletsRequest(context, actor, input)));
  return earlier.kind === "wallets"
    ? null
    : sameAs(earlier, repeatedDigest(context.assets, earlier, input));
};

/**
 * Creates the payout that a caller requests, once for each key.
 * @throws DomainError as `readInput` and `createPayout` do; `idempotency_mismatch`
 */
export const createOnce = async (
  context: PayoutsContext,
  actor: Actor,
  input: PayoutInput,
  { key, allowDuplicates }: Pick<PayoutCall, "key" | "allowDuplicates">,
): Promise<Payout> => {
  const earlier = await findRepeated(context, actor, input, key);
  if (earlier !== null) return earlier;
  try {
    const request = await readInput(context, actor, input);
    const origin = { key, retryOf: null, run: null, allowDuplicates };
    return await createPayout(context, actor, request, origin);
  } catch (error) {
    // A concurrent call with the same key may have stored its payout first and caused this error:
    // the rows are then duplicates, or the money is held already. The payout of that call is also
    // the answer to this call.
    const other = await findRepeated(context, actor, input, key);
    if (other === null) throw error;
    return other;
  }
};

/**
 * Makes the checks of `createOnce` and stores nothing. The id of the returned payout is empty.
 * @throws DomainError as `createOnce` does, except for the errors of the policies
 */
export const validatePayout = async (
  context: PayoutsContext,
  actor: Actor,
  input: PayoutInput,
  { allowDuplicates }: Pick<PayoutCall, "allowDuplicates">,
): Promise<PayoutParts> => {
  const request = await readInput(context, actor, input);
  const origin = { key: null, retryOf: null, run: null, allowDuplicates };
  const how = { origin, isStored: false };
  const { parts, keys, obstacle } = await draftOf(context, actor, request, how);
  const duplicates = await findDuplicates(context.reader, actor.projectId, keys);
  if (obstacle !== null) throw obstacle;
  if (parts.kind === "global_accounts")
    return { ...parts, payout: { ...parts.payout, id: "" } };
  const warnings = [...duplicateWarnings(duplicates), ...parts.own.warnings];
  return { ...parts, payout: { ...parts.payout, id: "" }, own: { ...parts.own, warnings } };
};

/** Returns the ledger account that funds the payout; null when the project funds it. */
const bearingOf = ({
  sourceAccountId: id,
  currency,
  totalBase,
}: WalletsPayout): BearingAccount | null =>
  id === null || currency === null ? null : { id, currency, totalBase };

/**
 * Determines where the money comes from when a stored payout starts.
 * @throws DomainError `chain_unavailable`
 */
const paymentOf = async (context: PayoutsContext, parts: PayoutParts): Promise<Payment> => {
  if (parts.kind === "global_accounts") return { by: "ledger" };
  const { payout, own } = parts;
  if (own.funding !== null) return { by: "operation", quoteId: own.funding.quoteId };
  const { projectId, id: payoutId } = payout;
  const batches = await context.walletsRepository.queuedBatches(projectId, payoutId);
  const { costs } = await feeOf(context, { payoutId, chainId: own.chainId, batches });
  const at = { payoutId, projectId, account: bearingOf(payout), batches, costs };
  return { by: "holding", at, outflow: outflowOf(own) };
};

const storedIntent = async (
  context: PayoutsContext,
  actor: Actor,
  parts: PayoutParts,
): Promise<{ readonly intent: Intent; readonly digest: Uint8Array }> => {
  const { payout } = parts;
  if (parts.kind === "global_accounts")
    return { intent: accountsIntent(actor, parts.payout, parts.asset), digest: payout.digest };
  const { own } = parts;
  const { projectId, id: payoutId, itemsTotal: limit } = payout;
  const rows = await context.rows.items({ projectId, payoutId, after: -1, limit });
  const recipients = rows.map(({ recipient }) => recipient);
  return {
    intent: walletsIntent(actor, { ...own, recipients, createdBy: own.askedBy }),
    digest: paymentsDigest({ ...own, projectId, payoutId }, rows),
  };
};

/**
 * Starts a payout that a code or votes have approved: holds its money, or starts the operation that
 * brings missing money to the payout's chain.
 * @returns false when the payout no longer awaits approval
 * @throws DomainError `policy_violation`, `insufficient_balance`, `insufficient_reserves`,
 * `sponsor_budget_exceeded`, `quote_price_moved`, `simulation_failed`, `chain_unavailable`
 */
export const startApproved = async (
  context: PayoutsContext,
  actor: Actor,
  parts: PayoutParts,
  {
    audit,
    ...proof
  }: { readonly audit: AuditEntry; readonly codeId?: string; readonly decisionId?: string },
): Promise<boolean> => {
  const { intent, digest } = await storedIntent(context, actor, parts);
  const subject = { type: "payout", id: parts.payout.id, digest } as const;
  return context.policyEngine.checking(intent, async (check) => {
    const payment = await paymentOf(context, parts);
    const started = await starting(context, actor, { payment, proof }, (sql, means) =>
      approvePayout(sql, context, parts.payout, {
        start: { ...means, check, subject, hasCode: true, decisionId: proof.decisionId },
        audit,
      }),
    );
    return started === true;
  });
};

/**
 * Checks that a payout to wallets can be paid, before its code is consumed. When this check fails,
 * the code remains valid.
 * @throws DomainError `insufficient_balance`, `chain_unavailable`, `invalid_state` when the
 * account is frozen or closed
 */
export const requireFunds = async (
  context: PayoutsContext,
  { payout, own }: Pick<WalletsPayoutParts, "payout" | "own">,
): Promise<void> => {
  const account = bearingOf(payout);
  const refused =
    account === null
      ? null
      : await accountObstacle(context, payout.projectId, account, payout.totalBase);
  if (refused !== null) throw refused;
  const outflow = outflowOf(own);
  const fee = { wei: own.feeWei, paidBy: own.feePaidBy };
  const shortfalls = await context.money.missing(outflow, fee);
  const brought = own.funding;
  const uncovered = shortfalls.filter(
    ({ source, missingBase }) =>
      brought === null ||
      source.token.address !== brought.token.address ||
      missingBase > brought.minimumBase,
  );
  if (uncovered.length > 0) throw context.money.notEnough(outflow, uncovered);
};
