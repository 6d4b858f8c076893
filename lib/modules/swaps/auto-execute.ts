import type { z } from "zod";
import type { swapAndTransfer } from "@/lib/contracts/transfers";
import type { GivenCode } from "@/lib/contracts/proofs";
import type { Actor } from "@/lib/core/actor";
import { DomainError, invalidRequest, isDomainError } from "@/lib/core/errors";
import type { HoldsService } from "@/lib/modules/holds/service";
import type { CodeChannel, OtpSent } from "@/lib/modules/otp/service";
import { createOperationSubject, type Operation } from "@/lib/modules/operations/service";
import { needsVotes, routeIntent, votesOf } from "@/lib/modules/policies/service";
import type { EvmAddress } from "@/lib/ports/routing";
import {
  type FieldNames,
  type IdempotencyUse,
  idempotencyUseOf,
  type Quote,
  type QuoteDraft,
  QUOTE_FIELDS,
  quoteUsed,
  type ResolvedRequest,
  type SourceWallet,
  unknownWallet,
} from "@/lib/modules/quotes/service";
import type { Authorization } from "./authorize";
import { letWait, OPERATION_SUBJECT } from "./ask-votes";
import type { Execute, ExecuteDeps, Proof } from "./execute";
import type { CheckedSources, Prepare } from "./prepare";
import { toBegun, type Begun } from "./serializer";
import { applySignatures } from "./signatures";

const KIND = "swap_and_transfer";

type SwapAndTransferInput = z.output<typeof swapAndTransfer.body>;

/** The operation that awaited approval, or the call that starts one. */
interface Run extends Proof {
  readonly operationId?: string;
  /** A quote that is not in the database yet. It is stored together with its operation, marked as used. */
  readonly draft?: QuoteDraft["row"];
  /** The sources that this call has checked already. */
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

/** The dependencies of the steps below. */
interface AutoExecute extends AutoExecuteDeps {
  readonly authorization: Authorization;
  readonly prepare: Prepare;
  readonly execute: Execute;
}

const resolve = async (parts: AutoExecute, actor: Actor, input: SwapAndTransferInput): Promise<ResolvedRequest> => {
  const wallet = await parts.wallets.findById(actor.projectId, input.fromWalletId);
  if (wallet === null) throw unknownWallet("fromWalletId");
  if (wallet.keyId === null) {
    const message =
      "The service does not sign for this wallet, so it cannot send by itself. Use POST /swap/quote, which asks the wallet to sign.";
    throw invalidRequest([{ path: "fromWalletId", message }]);
  }
  const { fromChainId: chainId, fromToken: token, amount, toChainId, toToken, recipient } = input;
  const { slippageBps, minAmount, maxPriceImpactBps } = input;
  const from = [{ address: wallet.address as EvmAddress, chainId, token, amount }];
  const request = { from, toChainId, toToken, toAddress: recipient, slippageBps, minAmount, maxPriceImpactBps };
  const resolved = await parts.quotes.resolve(actor.projectId, request, FIELDS);
  parts.authorization.checkRecipient(actor, resolved.route, "recipient");
  return resolved;
};

/** Prices, simulates and starts the quote with its promised minimum. Null when another call started or stopped it. */
const run = async (parts: AutoExecute, actor: Actor, quote: Quote, { operationId, checked, draft, ...proof }: Run) => {
  const moved = (): Promise<DomainError> => Promise.resolve(priceMoved(operationId));
  const executable = await parts.prepare.ready(quote, moved, checked);
  const { request, wallets, route, simulated } = executable;
  const { legs } = await applySignatures(parts, { legs: simulated.legs, routeLegs: route.legs, signatures: [] });
  return parts.execute.accept(actor, {
    quote,
    request,
    wallets,
    legs,
    allSent: false,
    ...(operationId === undefined ? {} : { operationId }),
    ...proof,
    ...(checked === undefined ? {} : { seen: checked.seen }),
    // The quote of an operation that awaited approval was marked as used when the operation was created.
    claim: draft === undefined ? () => Promise.resolve(true) : { part: (id) => parts.quotes.usedPart(draft, id) },
  });
};

/** Null when the key reached its cap between the first check and the acceptance, or when the policies demand votes. */
const runWithinPolicy = async (
  parts: AutoExecute,
  actor: Actor,
  quote: Quote,
  { checked, draft }: Required<Pick<Run, "checked" | "draft">>,
) => {
  try {
    return await run(parts, actor, quote, { checked, draft });
  } catch (error) {
    if (needsVotes(error) || (isDomainError(error) && error.code === "otp_required")) return null;
    throw error;
  }
};

const letQuoteWait = async (
  parts: AutoExecute,
  actor: Actor,
  quote: Quote,
  { resolved, idempotency }: { resolved: ResolvedRequest; idempotency: IdempotencyUse | null },
): Promise<Operation> => {
  const { route: request, wallets } = resolved;
  const intent = routeIntent(actor, { kind: KIND, request, wallets });
  const { approval } = await parts.authorization.refuse(intent);
  return letWait(parts, actor, quote, {
    request: resolved.route,
    wallets: resolved.wallets,
    required: votesOf(await parts.decisions.requirementOf(actor.projectId), approval),
    claim: async (tx, operationId) => {
      if (!(await parts.quotes.claimOpen(tx, quote, operationId, idempotency))) throw quoteUsed(quote);
    },
  });
};

const begin = async (
  parts: AutoExecute,
  actor: Actor,
  input: SwapAndTransferInput,
  idempotency: IdempotencyUse | null,
): Promise<Begun> => {
  const resolved = await resolve(parts, actor, input);
  const seen = await parts.holds.requireSeen(resolved.route.sources);
  const { quote, row, priced } = await parts.quotes.draft(actor, resolved, { kind: KIND, isFunded: true });
  const free = await parts.authorization.needsNoCode(actor, resolved.route);
  const draft = { ...row, idempotency };
  const started = free
    ? await runWithinPolicy(parts, actor, quote, { checked: { wallets: resolved.wallets, seen, priced }, draft })
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
  idempotency: IdempotencyUse | null,
): Promise<Begun | null> => {
  const quote = await parts.quotes.findEarlier({ actor, kind: KIND, idempotency });
  if (quote === null || quote.operationId === null) return null;
  const operation = await parts.operations.get(actor.projectId, quote.operationId);
  return { operation, warnings: quote.warnings };
};

/** @throws DomainError `not_found`, `invalid_state` when it does not await approval, `quote_expired` */
const loadAwaiting = async (parts: AutoExecute, actor: Actor, operationId: string) => {
  const operation = await parts.operations.get(actor.projectId, operationId);
  const isOver = operation.expiresAt !== null && operation.expiresAt <= parts.clock.now();
  if (operation.status === "expired" || (operation.status === "pending" && isOver)) {
    throw new DomainError("quote_expired", "Nobody approved this in time. Nothing was sent; start it again.");
  }
  const quote = await parts.quotes.findByOperation(actor.projectId, operation.id);
  if (operation.subStatus !== "awaiting_approval" || operation.status !== "pending" || quote === null) {
    throw notAwaiting();
  }
  return { operation, quote };
};

/** As `loadAwaiting`, for the code of one person. @throws DomainError `invalid_state` when people have to vote on it */
const loadForCode = async (parts: AutoExecute, actor: Actor, operationId: string) => {
  const { operation, quote } = await loadAwaiting(parts, actor, operationId);
  const subject = { type: OPERATION_SUBJECT, id: operation.id };
  await parts.decisions.refuseCode({ projectId: actor.projectId, subject });
  return { operation, quote };
};

/** Swap and transfer in one call, without a person in between: within the key's policy, or after an approval. */
export const createAutoExecute = (
  deps: AutoExecuteDeps,
  steps: { authorization: Authorization; prepare: Prepare; execute: Execute },
) => {
  const parts: AutoExecute = { ...deps, ...steps };
  const { authorization } = steps;

  /**
   * Starts the operation, or stores it as awaiting approval when the actor's policy requires one. With an
   * Idempotency-Key it does so once: the transaction that stores the operation marks the key as used.
   * @throws DomainError as a quote does, `insufficient_balance`, `simulation_failed`, `recipient_not_allowed`,
   * `idempotency_mismatch`
   */
  const start = async (actor: Actor, input: SwapAndTransferInput, key: string | null) => {
    // Checked before an earlier answer is repeated, because the actor may no longer pay the recipient.
    authorization.checkAddress(actor, input.recipient, "recipient");
    const idempotency = idempotencyUseOf(key, input);
    const before = await begunBefore(parts, actor, idempotency);
    const begun =
      before ??
      (await begin(parts, actor, input, idempotency).catch(async (error: unknown) => {
        // A concurrent call with the same key may have succeeded; this call can then fail, because that one took the
        // money.
        const other = await begunBefore(parts, actor, idempotency);
        if (other === null) throw error;
        return other;
      }));
    return toBegun(begun);
  };

  const requestCode = async (actor: Actor, operationId: string, channel?: CodeChannel): Promise<OtpSent> => {
    const { operation, quote } = await loadForCode(parts, actor, operationId);
    return authorization.sendCode(actor, quote, { subjectId: operation.id, channel });
  };

  /**
   * Runs a waiting operation, once, at a price that keeps the promised minimum.
   * @throws DomainError `invalid_state`, `quote_expired`, `otp_*`, `quote_price_moved`, `insufficient_balance`,
   * `simulation_failed`
   */
  const approve = async (actor: Actor, operationId: string, code: GivenCode): Promise<Operation> => {
    const { operation, quote } = await loadForCode(parts, actor, operationId);
    const { otpId: codeId, means: codeMeans } = await authorization.consume({
      actor,
      subjectId: operation.id,
      digest: quote.digest,
      code,
    });
    if ((await run(parts, actor, quote, { operationId: operation.id, codeId, codeMeans })) === null)
      throw notAwaiting();
    return deps.operations.get(actor.projectId, operation.id);
  };

  const subject = createOperationSubject<Quote>({
    operations: deps.operations,
    clock: deps.clock,
    find: (projectId, operationId) => deps.quotes.findByOperation(projectId, operationId),
    run: (actor, quote, how) => run(parts, actor, quote, how),
  });
  return { start, requestCode, approve, subject };
};

const notAwaiting = (): DomainError =>
  new DomainError("invalid_state", "This operation does not await approval: it was approved, cancelled or has ended.");

const priceMoved = (operationId: string | undefined): DomainError =>
  new DomainError(
    "quote_price_moved",
    operationId === undefined
      ? "The price moved while it was being prepared. Nothing was sent; try again."
      : "The price moved: less than the promised minimum would arrive. Nothing was sent. It still awaits approval: approve it with a new code when the price is back, or cancel it.",
  );
