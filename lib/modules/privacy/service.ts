import type { GivenCode } from "@/lib/contracts/proofs";
import { requireScope, type Actor, type UserActor } from "@/lib/core/actor";
import type { Operation } from "@/lib/modules/operations/service";
import type { CodeChannel, OtpSent } from "@/lib/modules/otp/service";
import type { EvmAddress } from "@/lib/ports/routing";
import { approveTransfer, cancelSpend, privateSubject, requestApprovalCode } from "./approve";
import { createPrivacyContext, type PrivacyContext, type PrivacyDeps } from "./context";
import { treasuryMissing } from "./errors";
import { findEarlier, idempotentRequest, type IdempotentRequest } from "./idempotency";
import { publicExits, type ExitInput } from "./public-exit";
import { readBalances } from "./read-balances";
import {
  getTransfer,
  listTransfers,
  transferOfOperation,
  transfersOfOperations,
  viewOf,
  type TransferQuery,
  type TransferView,
} from "./read-transfers";
import { retryTransfer } from "./retry";
import { shields, type ShieldInput } from "./shield";
import { spends } from "./spend";
import type { SpendInput } from "./spend-request";
import { swaps, type PrepareSwapInput, type SwapQuoteInput } from "./swap";

export type { PrivateTransfer } from "./private-transfer";
export { encryptedPrivacyWallets } from "./wallet-repository";
export { withPrivacyLegs, type ExitCalls } from "./leg-routing";

interface Call {
  /** The caller's Idempotency-Key. */
  readonly key: string | null;
  readonly kind: string;
  readonly input: object;
}

/** Makes a transfer once for an Idempotency-Key, also when the HTTP layer has forgotten the key. @throws DomainError `idempotency_mismatch` */
const createOnce = async (
  context: PrivacyContext,
  actor: Actor,
  { key, kind, input }: Call,
  create: (idempotency: IdempotentRequest | null) => Promise<string>,
): Promise<TransferView> => {
  const request = idempotentRequest(key, kind, input);
  const earlier = await findEarlier(context.repository, actor, request);
  if (earlier !== null) return viewOf(context, earlier);
  try {
    return await getTransfer(context, actor.projectId, await create(request));
  } catch (error) {
    // The same call may have been accepted meanwhile, and this one may have failed because of it.
    const meanwhile = await findEarlier(context.repository, actor, request);
    if (meanwhile === null) throw error;
    return viewOf(context, meanwhile);
  }
};

/** Pays an address, or the treasury when the caller names none. @throws DomainError `unknown_wallet`, and those of a spend */
const unshield = async (
  context: PrivacyContext,
  actor: Actor,
  input: SpendInput,
  idempotency: IdempotentRequest | null,
): Promise<string> => {
  const toAddress = input.toAddress ?? (await context.wallets.treasury(actor.projectId))?.address;
  if (toAddress === undefined) throw treasuryMissing();
  const own = { ...input, kind: "unshield", toAddress, toPrivacyWalletId: undefined } as const;
  return spends.create(context, actor, own, idempotency);
};

/** A key that may pay only certain addresses may not make notes for other private wallets. @throws DomainError `recipient_not_allowed` */
const checkRecipient = (
  { policies }: PrivacyContext,
  actor: Actor,
  input: { readonly toAddress?: EvmAddress | undefined; readonly toPrivacyWalletId?: string | undefined },
): void => {
  if (input.toAddress !== undefined) policies.checkRecipient(actor, input.toAddress, "toAddress");
  else if (input.toPrivacyWalletId !== undefined) policies.checkAccountRecipients(actor, "toPrivacyWalletId");
};

/**
 * Checks whether the actor may still pay the recipient of a private operation. A shield makes a note of the project's own and a public
 * exit pays its treasury, so these have no recipient to check.
 * @returns false when the operation is not a private one
 * @throws DomainError `insufficient_scope`, `recipient_not_allowed`
 */
const checkRetry = async (context: PrivacyContext, actor: Actor, operationId: string): Promise<boolean> => {
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

/** Sends the code that approves a private quote; null when the quote is not a private one. */
const requestQuoteCode = async (
  context: PrivacyContext,
  actor: Actor,
  quoteId: string,
  channel?: CodeChannel,
): Promise<OtpSent | null> => {
  if (!(await swaps.has(context, actor.projectId, quoteId))) return null;
  requireScope(actor, "privacy:write");
  return swaps.requestCode(context, actor, quoteId, channel);
};

/** Does the failed part of a private operation again; null when the operation is not a private one. @throws DomainError `invalid_state`, … */
const retry = async (context: PrivacyContext, actor: Actor, operationId: string): Promise<TransferView | null> => {
  const transfer = await transferOfOperation(context, actor.projectId, operationId);
  if (transfer === null) return null;
  await checkRetry(context, actor, operationId);
  return getTransfer(context, actor.projectId, await retryTransfer(context, actor, transfer));
};

/**
 * Private wallets, and money that moves into, inside and out of privacy pools. Functions that take an operation or quote of any kind
 * answer null (or false) when it is not a private one, so that the caller can try another module.
 */
export const createPrivacyService = (deps: PrivacyDeps) => {
  const context = createPrivacyContext(deps);
  const { engine, anonymitySetMin, privateWallets } = context;

  return {
    engineName: engine.name,
    swapVenue: engine.swapVenue,
    anonymitySetMin,
    wallets: privateWallets,
    /** A private operation by its `tr_` id. @throws DomainError `not_found`, also for one of another project */
    get: (projectId: string, id: string): Promise<TransferView> => getTransfer(context, projectId, id),
    /** A page of the project's private operations, newest first. */
    list: (projectId: string, query: TransferQuery) => listTransfers(context, projectId, query),
    /** The private transfers of operations, by the ids of these. */
    ofOperations: (projectId: string, operationIds: readonly string[]) =>
      transfersOfOperations(context, projectId, operationIds),
    /** The balances of each private wallet, or of one, in each pool, in base units. @throws DomainError `unknown_privacy_wallet`, `chain_unavailable` */
    balances: (actor: Actor, walletId: string | undefined) => readBalances(context, actor, walletId),
    /** Notes that can leave by the public exit. */
    exits: (actor: Actor, walletId: string | undefined) => publicExits.list(context, actor, walletId),

    /** A key that may pay only certain addresses may not make notes for other private wallets. @throws DomainError `recipient_not_allowed` */
    checkRecipient: (actor: Actor, input: Parameters<typeof checkRecipient>[2]): void =>
      checkRecipient(context, actor, input),

    /**
     * Deposits tokens of the treasury into a pool, for a private wallet. The same Idempotency-Key `key` returns the first operation, here
     * and below.
     * @throws DomainError `below_pool_minimum`, `unknown_pool`, `insufficient_balance`, `idempotency_mismatch`, …
     */
    shield: (actor: Actor, input: ShieldInput, key: string | null): Promise<TransferView> =>
      createOnce(context, actor, { key, kind: "shield", input }, (idempotency) =>
        shields.create(context, actor, input, { idempotency, retryOf: null }),
      ),
    /** Withdraws notes to the treasury. @throws DomainError as `transfer` does */
    unshield: (actor: Actor, input: SpendInput, key: string | null): Promise<TransferView> =>
      createOnce(context, actor, { key, kind: "unshield", input }, (idempotency) =>
        unshield(context, actor, input, idempotency),
      ),
    /**
     * Pays an address, or another private wallet, out of notes. The recipient gets exactly the amount; the relayer's fee is taken from the
     * notes beside it.
     * @throws DomainError `small_anonymity_set`, `insufficient_balance`, `unknown_pool`, `below_pool_minimum`, `idempotency_mismatch`, …
     */
    transfer: (actor: Actor, input: SpendInput, key: string | null): Promise<TransferView> =>
      createOnce(context, actor, { key, kind: "private_transfer", input }, (idempotency) =>
        spends.create(context, actor, { ...input, kind: "private_transfer" }, idempotency),
      ),
    /** Takes a whole deposit, which the provider of the association set declined, back to the treasury in public. @throws DomainError `note_spent`, `invalid_state`, `simulation_failed`, … */
    exit: (actor: Actor, input: ExitInput, key: string | null): Promise<TransferView> =>
      createOnce(context, actor, { key, kind: "public_exit", input }, (idempotency) =>
        publicExits.create(context, actor, input, { idempotency, retryOf: null }),
      ),

    /** Prices a swap of notes of one pool into a note of another, for a while. @throws DomainError `unknown_pool`, `below_pool_minimum`, `no_route`, … */
    quoteSwap: (actor: Actor, input: SwapQuoteInput) => swaps.quote(context, actor, input),
    /** Binds a quote to a private wallet and takes the code that approves it. @throws DomainError `quote_expired`, `quote_already_used`, `otp_*`, `unknown_privacy_wallet` */
    prepareSwap: (actor: Actor, input: PrepareSwapInput) => swaps.prepare(context, actor, input),
    /** Starts a prepared swap. @throws DomainError `invalid_state` (not prepared), `quote_expired`, `quote_already_used`, `insufficient_balance` */
    executeSwap: (actor: Actor, quoteId: string, key: string | null): Promise<TransferView> =>
      createOnce(context, actor, { key, kind: "private_swap", input: { quoteId } }, (idempotency) =>
        swaps.execute(context, actor, quoteId, idempotency),
      ),

    /** Sends the code that approves exactly this quote; null when the quote is not private. @throws DomainError `quote_expired`, `quote_already_used` */
    requestQuoteCode: (actor: Actor, quoteId: string, channel?: CodeChannel) =>
      requestQuoteCode(context, actor, quoteId, channel),
    /** Sends the code that approves a waiting operation; null when it is not private. @throws DomainError `insufficient_scope`, `invalid_state`, `quote_expired` */
    requestCode: (actor: Actor, operationId: string, channel?: CodeChannel) =>
      requestApprovalCode(context, actor, operationId, channel),
    /** Lets a waiting operation run; null when it is not private. @throws DomainError `otp_*`, `invalid_state`, `quote_expired`, … */
    approve: (actor: UserActor, operationId: string, code: GivenCode): Promise<Operation | null> =>
      approveTransfer(context, actor, operationId, code),
    /** False when the operation is not private. @throws DomainError as `retry` does before it makes anything */
    checkRetry: (actor: Actor, operationId: string): Promise<boolean> => checkRetry(context, actor, operationId),
    /** Makes a new operation for what failed; null when the operation is not private. @throws DomainError `invalid_state`, `insufficient_balance`, `quote_price_moved`, … */
    retry: (actor: Actor, operationId: string): Promise<TransferView | null> => retry(context, actor, operationId),
    /** Carries on private operations that people have voted on. */
    subject: privateSubject(context),
    /** Cancels an operation whose proof was not sent; null when it is not private. @throws DomainError `insufficient_scope`, `invalid_state` */
    cancel: (actor: Actor, operationId: string): Promise<Operation | null> => cancelSpend(context, actor, operationId),

    /** The calls of a leg that is a public exit. */
    exitCalls: (exit: Parameters<typeof publicExits.exitCalls>[1], signal: AbortSignal) =>
      publicExits.exitCalls(context, exit, signal),
  };
};
