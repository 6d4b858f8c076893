import { idempotentRequest, type IdempotentRequest } from "@/lib/platform/db/idempotency-keys";
import type { z } from "zod";
import type { swapAndTransfer } from "@/lib/contracts/transfers";
import type { Actor, UserActor } from "@/lib/core/actor";
import { DomainError, invalidRequest, isDomainError } from "@/lib/core/errors";
import { sqlOf } from "@/lib/platform/db/sql";
import type { HoldsService } from "@/lib/books/holds/service";
import type { AwaitingApproval } from "@/lib/money/authorize/service";
import { createOperationSubject, type Operation } from "@/lib/money/operations/service";
import { needsVotes, routeIntent, votesOf } from "@/lib/trust/policies/service";
import type { EvmAddress } from "@/lib/core/evm";
import {
  type FieldNames,
  type Quote,
  type QuoteDraft,
  QUOTE_FIELDS,
  quoteUsed,
  type ResolvedRequest,
  type SourceWallet,
  unknownWallet,
} from "@/lib/money/quotes/service";
import type { Authorization } from "./authorize";
import { letWait, OPERATION_SUBJECT } from "./ask-votes";
import type { Execute, ExecuteDeps, Proof } from "./execute";
import type { CheckedSources, Prepare } from "./prepare";
import { toBegun, type Begun } from "./serializer";
import { applySignatures } from "./signatures";

const KIND = "swap_and_transfer";

type SwapAndTransferInput = z.output<typeof swapAndTransfer.body>;

/**
 * The data with which `run` starts a quote. With `operationId` it continues an operation that
 * awaited approval; without it a new operation starts.
 */
interface Run extends Proof {
  readonly operationId?: string;
  /**
   * A quote that is not in the database yet. The quote is stored together with its operation, and
   * marked as used.
   */
  readonly draft?: QuoteDraft["row"];
  /** The sources that this call has already checked, with their balances. */
  readonly checked?: CheckedSources;
}

export interface AutoExecuteDeps extends ExecuteDeps {
  holds: Pick<HoldsService, "require" | "requireSeen">;
  wallets: {
    findById(projectId: string, walletId: string): Promise<SourceWallet | null>;
  };
}

const FIELDS: FieldNames = {
  ...QUOTE_FIELDS,
  source: () => ({
    whole: "fromWalletId",
    address: "fromWalletId",
    chainId: "fromChainId",
    token: "fromToken",
    amount: "amount",
  }),
  recipient: "recipient",
};

interface AutoExecute extends AutoExecuteDeps {
  readonly authorization: Authorization;
  readonly prepare: Prepare;
  readonly execute: Execute;
}

const resolve = async (
  parts: AutoExecute,
  actor: Actor,
  input: SwapAndTransferInput,
): Promise<ResolvedRequest> => {
  const wallet = await parts.wallets.findById(actor.projectId, input.fromWalletId);
  if (wallet === null) throw unknownWallet("fromWalletId");
  if (wallet.keyId === null) {
    const message =
      "The service does not sign for this wallet, so it cannot send by itself. Use POST /swap/quote, which asks the wallet to sign.";
    throw invalidRequest([{ path: "fromWalletId", message }]);
  }
  const {
    fromChainId: chainId,
    fromToken: token,
    amount,
    toChainId,
    toToken,
    recipient,
  } = input;
  const { slippageBps, minAmount, maxPriceImpactBps } = input;
  const from = [{ address: wallet.address as EvmAddress, chainId, token, amount }];
  const request = {
    from,
    toChainId,
    toToken,
    toAddress: recipient,
    slippageBps,
    minAmount,
    maxPriceImpactBps,
  };
  const resolved = await parts.quotes.resolve(actor.projectId, request, FIELDS);
  parts.authorization.checkRecipient(actor, resolved.route, "recipient");
  return resolved;
};

/**
 * Prices, simulates and starts the quote with its promised minimum. Returns null when another call
 * has started or cancelled it first.
 */
const run = async (
  parts: AutoExecute,
  actor: Actor,
  quote: Quote,
  { operationId, checked, draft, ...proof }: Run,
) => {
  const moved = (): Promise<DomainError> => Promise.resolve(priceMoved(operationId));
  const executable = await parts.prepare.ready(quote, moved, checked);
  const { request, wallets, route, simulated } = executable;
  const { legs } = await applySignatures(parts, {
    legs: simulated.legs,
    routeLegs: route.legs,
    signatures: [],
  });
  return parts.execute.accept(actor, {
    quote,
    request,
    wallets,
    legs,
    allSent: false,
    ...(operationId === undefined ? {} : { operationId }),
    ...proof,
    ...(checked === undefined ? {} : { seen: checked.seen }),
    // Without `draft` the operation awaited approval. Its quote was marked as used when the
    // operation was created, so `take` has nothing to do.
    claim: {
      by: "sql",
      take: async (sql, id) => draft === undefined || parts.quotes.insertUsed(sql, draft, id),
    },
  });
};

/**
 * Starts the quote without a code. Returns null when an approval turns out to be needed: the key
 * reached its cap between the first check and the acceptance, or the policies demand votes.
 */
const runWithinPolicy = async (
  parts: AutoExecute,
  actor: Actor,
  quote: Quote,
  { checked, draft }: Required<Pick<Run, "checked" | "draft">>,
) => {
  try {
    return await run(parts, actor, quote, { checked, draft });
  } catch (error) {
    if (needsVotes(error) || (isDomainError(error) && error.code === "otp_required"))
      return null;
    throw error;
  }
};

const letQuoteWait = async (
  parts: AutoExecute,
  actor: Actor,
  quote: Quote,
  {
    resolved,
    idempotency,
  }: { resolved: ResolvedRequest; idempotency: IdempotentRequest | null },
): Promise<Operation> => {
  const { route: request, wallets } = resolved;
  const intent = routeIntent(actor, { kind: KIND, request, wallets });
  const required = votesOf(await parts.authorization.refuse(intent));
  return letWait(parts, actor, quote, {
    request: resolved.route,
    wallets: resolved.wallets,
    required,
    claim: async (tx, operationId) => {
      if (!(await parts.quotes.claimOpen(sqlOf(tx), quote, operationId, idempotency)))
        throw quoteUsed(quote);
    },
  });
};

const begin = async (
  parts: AutoExecute,
  actor: Actor,
  input: SwapAndTransferInput,
  idempotency: IdempotentRequest | null,
): Promise<Begun> => {
  const resolved = await resolve(parts, actor, input);
  const seen = await parts.holds.requireSeen(resolved.route.sources);
  const { quote, row, priced } = await parts.quotes.draft(actor, resolved, {
    kind: KIND,
    isFunded: true,
  });
  const free = await parts.authorization.needsNoCode(actor, resolved.route);
  const draft = { ...row, idempotency };
  const started = free
    ? await runWithinPolicy(parts, actor, quote, {
        checked: { wallets: resolved.wallets, seen, priced },
        draft,
      })
    : null;
  if (started !== null) return { operation: started, warnings: quote.warnings };
  await parts.quotes.keep(row);
  const operation = await letQuoteWait(parts, actor, quote, { resolved, idempotency });
  return { operation, warnings: quote.warnings };
};

/**
 * The operation that an earlier call with the same Idempotency-Key started.
 * @throws DomainError `idempotency_mismatch`
 */
const begunBefore = async (
  parts: AutoExecute,
  actor: Actor,
  idempotency: IdempotentRequest | null,
): Promise<Begun | null> => {
  const quote = await parts.quotes.findEarlier({ actor, kind: KIND, idempotency });
  if (quote === null || quote.operationId === null) return null;
  const operation = await parts.operations.get(actor.projectId, quote.operationId);
  return { operation, warnings: quote.warnings };
};

/**
 * Reads an operation that awaits approval, with its quote.
 * @throws DomainError `not_found`, `invalid_state` when the operation does not await approval,
 * `quote_expired`
 */
const loadAwaiting = async (parts: AutoExecute, actor: Actor, operationId: string) => {
  const operation = await parts.operations.get(actor.projectId, operationId);
  const isOver = operation.expiresAt !== null && operation.expiresAt <= parts.clock.now();
  if (operation.status === "expired" || (operation.status === "pending" && isOver)) {
    throw new DomainError(
      "quote_expired",
      "Nobody approved this in time. Nothing was sent; start it again.",
    );
  }
  const quote = await parts.quotes.findByOperation(actor.projectId, operation.id);
  if (
    operation.subStatus !== "awaiting_approval" ||
    operation.status !== "pending" ||
    quote === null
  ) {
    throw notAwaiting();
  }
  return { operation, quote };
};

/** Swaps and transfers in one call, either within the API key's policy or after an approval. */
export const createAutoExecute = (
  deps: AutoExecuteDeps,
  steps: { authorization: Authorization; prepare: Prepare; execute: Execute },
) => {
  const parts: AutoExecute = { ...deps, ...steps };
  const { authorization } = steps;

  /**
   * Starts the operation, or stores it as awaiting approval when the actor's policy requires one.
   * With an Idempotency-Key this happens only once: the transaction that stores the operation marks
   * the key as used.
   * @throws the DomainErrors of a quote, and `insufficient_balance`, `simulation_failed`,
   * `recipient_not_allowed`, `idempotency_mismatch`
   */
  const start = async (actor: Actor, input: SwapAndTransferInput, key: string | null) => {
    // The recipient is checked even when an earlier answer is only repeated, because the actor may
    // no longer pay this recipient.
    authorization.checkAddress(actor, input.recipient, "recipient");
    const idempotency = idempotentRequest(key, input);
    const before = await begunBefore(parts, actor, idempotency);
    const begun =
      before ??
      (await begin(parts, actor, input, idempotency).catch(async (error: unknown) => {
        // A concurrent call with the same key may have succeeded and used the money, which makes
        // this call fail.
        const other = await begunBefore(parts, actor, idempotency);
        if (other === null) throw error;
        return other;
      }));
    return toBegun(begun);
  };

  /**
   * The part of a waiting operation that a code approves. The operation runs once, at a price that
   * reaches the promised minimum.
   * @throws DomainError `not_found`, `invalid_state`, `quote_expired`; the function `approve` of
   * the result also `quote_price_moved`, `insufficient_balance`, `simulation_failed`
   */
  const awaiting = async (actor: UserActor, operationId: string): Promise<AwaitingApproval> => {
    const { operation, quote } = await loadAwaiting(parts, actor, operationId);
    return {
      ...authorization.approvableOf(actor, quote, operation.id),
      votedAs: OPERATION_SUBJECT,
      approve: async ({ codeId, means: codeMeans }) => {
        const proof = { operationId: operation.id, codeId, codeMeans };
        if ((await run(parts, actor, quote, proof)) === null) throw notAwaiting();
      },
    };
  };

  const subject = createOperationSubject<Quote>({
    operations: deps.operations,
    clock: deps.clock,
    find: (projectId, operationId) => deps.quotes.findByOperation(projectId, operationId),
    run: (actor, quote, how) => run(parts, actor, quote, how),
  });
  return { start, awaiting, subject };
};

const notAwaiting = (): DomainError =>
  new DomainError(
    "invalid_state",
    "This operation does not await approval: it was approved, cancelled or has ended.",
  );

const priceMoved = (operationId: string | undefined): DomainError =>
  new DomainError(
    "quote_price_moved",
    operationId === undefined
      ? "The price moved while it was being prepared. Nothing was sent; try again."
      : "The price moved: less than the promised minimum would arrive. Nothing was sent. It still awaits approval: approve it with a new code when the price is back, or cancel it.",
  );
