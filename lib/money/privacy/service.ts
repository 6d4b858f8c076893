import { type Actor, actorName, requireScope } from "@/lib/core/actor";
import {
  type IdempotentRequest,
  idempotentRequest,
  requireSameRequest,
} from "@/lib/platform/db/idempotency-keys";
import type { PrivateTransfer } from "./rows";
import type { PrivacyRepository } from "./repository";
import { bindDeps } from "@/lib/core/bind-deps";
import type { Approvable } from "@/lib/money/authorize/service";
import type { Operation } from "@/lib/money/operations/service";
import type { EvmAddress } from "@/lib/core/evm";
import { awaitingTransfer, cancelSpend, privateSubject, retryTransfer } from "./approve";
import { createPrivacyContext, type PrivacyContext, type PrivacyDeps } from "./context";
import { treasuryMissing } from "./errors";
import { type ExitInput, publicExits } from "./public-exit";
import {
  getTransfer,
  listTransfers,
  readBalances,
  transferOfOperation,
  type TransferQuery,
  transfersOfOperations,
  type TransferView,
  viewOf,
} from "./read-transfers";
import { type ShieldInput, shields } from "./shield";
import { spends } from "./spend";
import type { SpendInput } from "./spend-request";
import { type PrepareSwapInput, type SwapQuoteInput, swaps } from "./swap";

/**
 * The transfer that an earlier call with the same Idempotency-Key created; null when there is none.
 * @throws DomainError `idempotency_mismatch`
 */
const findEarlier = async (
  repository: Pick<PrivacyRepository, "findByKey">,
  actor: Actor,
  request: IdempotentRequest | null,
): Promise<PrivateTransfer | null> => {
  if (request === null) return null;
  const { projectId } = actor;
  const found = await repository.findByKey({
    projectId,
    createdBy: actorName(actor),
    idempotencyKey: request.key,
  });
  if (found !== null) requireSameRequest(found, request);
  return found;
};

export type { PrivateTransfer } from "./rows";
export { encryptedPrivacyWallets } from "./wallet-repository";
export { withPrivacyLegs, type ExitCalls } from "./leg-routing";

interface Call {
  /** The caller's Idempotency-Key. */
  readonly key: string | null;
  readonly kind: string;
  readonly input: object;
}

/**
 * Creates a transfer once per Idempotency-Key, even when the HTTP layer no longer stores the key.
 * @throws DomainError `idempotency_mismatch`
 */
const createOnce = async (
  context: PrivacyContext,
  actor: Actor,
  { key, kind, input }: Call,
  create: (idempotency: IdempotentRequest | null) => Promise<string>,
): Promise<TransferView> => {
  const request = idempotentRequest(key, { kind, input });
  const earlier = await findEarlier(context.repository, actor, request);
  if (earlier !== null) return viewOf(context, earlier);
  try {
    return await getTransfer(context, actor.projectId, await create(request));
  } catch (error) {
    // This call may have failed because a concurrent call with the same key was accepted.
    const meanwhile = await findEarlier(context.repository, actor, request);
    if (meanwhile === null) throw error;
    return viewOf(context, meanwhile);
  }
};

/**
 * Pays an address out of notes; without an address, the project's treasury.
 * @throws DomainError `unknown_wallet`, and the errors of a spend
 */
const unshield = async (
  context: PrivacyContext,
  actor: Actor,
  input: SpendInput,
  idempotency: IdempotentRequest | null,
): Promise<string> => {
  const toAddress =
    input.toAddress ?? (await context.wallets.treasury(actor.projectId))?.address;
  if (toAddress === undefined) throw treasuryMissing();
  const own = { ...input, kind: "unshield", toAddress, toPrivacyWalletId: undefined } as const;
  return spends.create(context, actor, own, idempotency);
};

/**
 * Fails when the caller is an API key with a list of recipients and would create notes for other
 * private wallets.
 * @throws DomainError `recipient_not_allowed`
 */
const checkRecipient = (
  { policies }: PrivacyContext,
  actor: Actor,
  input: {
    readonly toAddress?: EvmAddress | undefined;
    readonly toPrivacyWalletId?: string | undefined;
  },
): void => {
  if (input.toAddress !== undefined)
    policies.checkRecipient(actor, input.toAddress, "toAddress");
  else if (input.toPrivacyWalletId !== undefined)
    policies.checkAccountRecipients(actor, "toPrivacyWalletId");
};

/**
 * Checks whether the actor may still pay the recipient of a private operation. A shield creates a
 * note of the project, and a public exit pays its treasury, so neither has a recipient to check.
 * @returns false when the operation is not private
 * @throws DomainError `insufficient_scope`, `recipient_not_allowed`
 */
const checkRetry = async (
  context: PrivacyContext,
  actor: Actor,
  operationId: string,
): Promise<boolean> => {
  const transfer = await transferOfOperation(context, actor.projectId, operationId);
  if (transfer === null) return false;
  requireScope(actor, "privacy:write");
  const { kind, toAddress, toWalletId } = transfer;
  if (kind === "unshield" || kind === "private_transfer")
    checkRecipient(context, actor, {
      toAddress: toAddress ?? undefined,
      toPrivacyWalletId: toWalletId ?? undefined,
    });
  return true;
};

/**
 * The values of a private quote that a person approves with a one-time code; null when the quote
 * is not private.
 */
const approvable = async (
  context: PrivacyContext,
  actor: Actor,
  quoteId: string,
): Promise<Approvable | null> => {
  if (!(await swaps.has(context, actor.projectId, quoteId))) return null;
  requireScope(actor, "privacy:write");
  return swaps.approvable(context, actor, quoteId);
};

/**
 * Repeats the failed part of a private operation; null when the operation is not private.
 * @throws DomainError `invalid_state`, …
 */
const retry = async (
  context: PrivacyContext,
  actor: Actor,
  operationId: string,
): Promise<TransferView | null> => {
  const transfer = await transferOfOperation(context, actor.projectId, operationId);
  if (transfer === null) return null;
  await checkRetry(context, actor, operationId);
  return getTransfer(context, actor.projectId, await retryTransfer(context, actor, transfer));
};

/**
 * Private wallets, and money that moves into, inside and out of privacy pools. Functions that
 * accept an operation or quote of any kind return null (or false) for those that are not private,
 * so that the caller can try another module.
 */
export const createPrivacyService = (deps: PrivacyDeps) => {
  const context = createPrivacyContext(deps);
  const { engine, anonymitySetMin, privateWallets } = context;

  return {
    engineName: engine.name,
    swapVenue: engine.swapVenue,
    anonymitySetMin,
    wallets: privateWallets,
    /**
     * A private operation by its `tr_` id.
     * @throws DomainError `not_found`, also for an operation of another project
     */
    get: (projectId: string, id: string): Promise<TransferView> =>
      getTransfer(context, projectId, id),
    /** The project's private operations, newest first. */
    list: (projectId: string, query: TransferQuery) => listTransfers(context, projectId, query),
    /** The private transfers of operations, by operation id. */
    ofOperations: (projectId: string, operationIds: readonly string[]) =>
      transfersOfOperations(context, projectId, operationIds),
    /**
     * The balances of all private wallets of the project, or of the given one, in each pool, in
     * base units.
     * @throws DomainError `unknown_privacy_wallet`, `chain_unavailable`
     */
    balances: (actor: Actor, walletId: string | undefined) =>
      readBalances(context, actor, walletId),
    /**
     * Notes that can leave by the public exit, of all private wallets of the project or of the
     * given one.
     */
    exits: (actor: Actor, walletId: string | undefined) =>
      publicExits.list(context, actor, walletId),

    /**
     * Fails when the caller is an API key with a list of recipients and would create notes for
     * other private wallets.
     * @throws DomainError `recipient_not_allowed`
     */
    checkRecipient: (actor: Actor, input: Parameters<typeof checkRecipient>[2]): void =>
      checkRecipient(context, actor, input),

    /**
     * Deposits tokens of the treasury into a pool, for a private wallet. Here and in the functions
     * below, a repeated Idempotency-Key `key` returns the first operation.
     * @throws DomainError `below_pool_minimum`, `unknown_pool`, `insufficient_balance`,
     * `idempotency_mismatch`, …
     */
    shield: (actor: Actor, input: ShieldInput, key: string | null): Promise<TransferView> =>
      createOnce(context, actor, { key, kind: "shield", input }, (idempotency) =>
        shields.create(context, actor, input, { idempotency, retryOf: null }),
      ),
    /**
     * Withdraws notes to an address, by default the treasury's.
     * @throws the DomainErrors of `transfer`; `unknown_wallet`
     */
    unshield: (actor: Actor, input: SpendInput, key: string | null): Promise<TransferView> =>
      createOnce(context, actor, { key, kind: "unshield", input }, (idempotency) =>
        unshield(context, actor, input, idempotency),
      ),
    /**
     * Pays an address or another private wallet out of notes. The recipient gets exactly the
     * amount; the notes also pay the relayer's fee.
     * @throws DomainError `small_anonymity_set`, `insufficient_balance`, `unknown_pool`,
     * `below_pool_minimum`, `idempotency_mismatch`, …
     */
    transfer: (actor: Actor, input: SpendInput, key: string | null): Promise<TransferView> =>
      createOnce(context, actor, { key, kind: "private_transfer", input }, (idempotency) =>
        spends.create(context, actor, { ...input, kind: "private_transfer" }, idempotency),
      ),
    /**
     * Withdraws a whole deposit publicly to the treasury, because the provider of the association
     * set has not approved it.
     * @throws DomainError `note_spent`, `invalid_state`, `simulation_failed`, …
     */
    exit: (actor: Actor, input: ExitInput, key: string | null): Promise<TransferView> =>
      createOnce(context, actor, { key, kind: "public_exit", input }, (idempotency) =>
        publicExits.create(context, actor, input, { idempotency, retryOf: null }),
      ),

    /**
     * Quotes a swap of notes in one pool into a note in another pool. The quote is valid for a
     * limited time.
     * @throws DomainError `unknown_pool`, `below_pool_minimum`, `no_route`, …
     */
    quoteSwap: (actor: Actor, input: SwapQuoteInput) => swaps.quote(context, actor, input),
    /**
     * Binds a quote to a private wallet and checks the code that approves the quote.
     * @throws DomainError `quote_expired`, `quote_already_used`, `otp_*`, `unknown_privacy_wallet`
     */
    prepareSwap: (actor: Actor, input: PrepareSwapInput) =>
      swaps.prepare(context, actor, input),
    /**
     * Starts a prepared swap.
     * @throws DomainError `invalid_state` (not prepared), `quote_expired`, `quote_already_used`,
     * `insufficient_balance`
     */
    executeSwap: (actor: Actor, quoteId: string, key: string | null): Promise<TransferView> =>
      createOnce(
        context,
        actor,
        { key, kind: "private_swap", input: { quoteId } },
        (idempotency) => swaps.execute(context, actor, quoteId, idempotency),
      ),

    approvable: bindDeps(context, approvable),
    awaiting: bindDeps(context, awaitingTransfer),
    /**
     * Returns false when the operation is not private.
     * @throws the DomainErrors that `retry` throws before it creates anything
     */
    checkRetry: (actor: Actor, operationId: string): Promise<boolean> =>
      checkRetry(context, actor, operationId),
    /**
     * Repeats the failed part as a new operation; null when the operation is not private.
     * @throws DomainError `invalid_state`, `insufficient_balance`, `quote_price_moved`, …
     */
    retry: (actor: Actor, operationId: string): Promise<TransferView | null> =>
      retry(context, actor, operationId),
    /** Runs or ends private operations after the votes about them. */
    subject: privateSubject(context),
    /**
     * Cancels an operation whose proof was not sent; null when the operation is not private.
     * @throws DomainError `insufficient_scope`, `invalid_state`
     */
    cancel: (actor: Actor, operationId: string): Promise<Operation | null> =>
      cancelSpend(context, actor, operationId),

    /** The calls of a leg that is a public exit. */
    exitCalls: (exit: Parameters<typeof publicExits.exitCalls>[1], signal: AbortSignal) =>
      publicExits.exitCalls(context, exit, signal),
  };
};
