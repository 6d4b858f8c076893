/**
 * Private swaps: a quote, then the choice of a private wallet with or without a code, then the
 * execution.
 */
import type { GivenCode } from "@/lib/contracts/proofs";
import { type Actor, actorName } from "@/lib/core/actor";
import { addSeconds } from "@/lib/core/clock";
import { DomainError, invalidRequest, notFound } from "@/lib/core/errors";
import { isId, newId } from "@/lib/core/ids";
import { bpsOfCeil, formatAmount, lessBpsFloor, parseAmount } from "@/lib/core/money";
import { feeFloor } from "@/lib/core/fees";
import type { PrivacyPool } from "@/lib/money/ports/privacy";
import type { Approvable } from "@/lib/money/authorize/service";
import { digestOf, type PrivacyContext, votesFor } from "./context";
import { belowMinimum, noPrivateRoute, noProcessor, executeWithoutCode } from "./errors";
import type { IdempotentRequest } from "@/lib/platform/db/idempotency-keys";
import type { PrivateQuote } from "./rows";
import { spends } from "./spend";
import { intentOf } from "./spend-request";

const QUOTE_TTL_SECONDS = 300;

export interface SwapQuoteInput {
  readonly chainId: number;
  readonly fromToken: string;
  readonly toToken: string;
  /** Decimal, in units of `fromToken`. */
  readonly amount: string;
  readonly slippageBps: number;
}

export interface PrepareSwapInput {
  readonly quoteId: string;
  readonly code?: GivenCode | undefined;
  readonly privacyWalletId?: string | undefined;
}

const expired = (): DomainError =>
  new DomainError(
    "quote_expired",
    "This quote has expired. Nothing was sent; ask for a new one.",
  );
const used = (): DomainError =>
  new DomainError(
    "quote_already_used",
    "This quote was executed already; its money moved once.",
  );
const preparedElsewhere = (): DomainError =>
  new DomainError(
    "invalid_state",
    "Another request prepared this quote at the same moment. Nothing was sent; try again.",
  );
const notPrepared = (): DomainError =>
  new DomainError(
    "invalid_state",
    "This quote is not prepared yet (POST /privacy/swap/prepare). Nothing was sent.",
  );

/**
 * The project's quote of a private swap with this id.
 * @throws DomainError `not_found`
 */
const quoteOf = async (
  { repository }: PrivacyContext,
  projectId: string,
  id: string,
): Promise<PrivateQuote> => {
  const quote = isId("quote", id) ? await repository.findQuote(projectId, id) : null;
  if (quote === null) throw notFound();
  return quote;
};

/**
 * Like `quoteOf`, for a quote that can still be used.
 * @throws DomainError `not_found`, `quote_already_used`, `quote_expired`
 */
const openQuote = async (context: PrivacyContext, projectId: string, id: string) => {
  const { clock } = context;
  const quote = await quoteOf(context, projectId, id);
  if (quote.status === "used") throw used();
  if (quote.expiresAt <= clock.now()) throw expired();
  return quote;
};

const poolsOf = async (
  context: PrivacyContext,
  { chainId, fromToken, toToken }: SwapQuoteInput,
): Promise<[PrivacyPool, PrivacyPool]> => {
  const from = await context.poolOf(chainId, fromToken, "fromToken");
  const to = await context.poolOf(chainId, toToken, "toToken");
  if (!from.mayProcess) throw noProcessor();
  if (from.address === to.address)
    throw invalidRequest([
      { path: "toToken", message: "must be another token than fromToken" },
    ]);
  return [from, to];
};

type Priced = Pick<PrivateQuote, "amountBase" | "path" | "outBase" | "minimumBase">;

/**
 * Prices the swap. The relayer's fee is rounded up, and the minimum output is rounded down.
 * @throws DomainError `below_pool_minimum`, `no_route`
 */
const priceOf = async (
  { engine }: PrivacyContext,
  [from, to]: readonly [PrivacyPool, PrivacyPool],
  input: SwapQuoteInput,
): Promise<Priced> => {
  const amountBase = parseAmount(input.amount, from.token.decimals);
  if (amountBase < from.minimumBase) throw belowMinimum(from.token, from.minimumBase);
  const soldBase = amountBase - bpsOfCeil(amountBase, from.relayFeeBps);
  const price = await engine.priceSwap({
    from: from.token,
    to: to.token,
    amountBase: soldBase,
  });
  if (price === null) throw noPrivateRoute(from.token, to.token);
  const minimumBase = lessBpsFloor(price.outBase, input.slippageBps);
  if (minimumBase < to.minimumBase) throw belowMinimum(to.token, to.minimumBase);
  return { amountBase, path: price.path, outBase: price.outBase, minimumBase };
};

/**
 * Prices a private swap and stores its quote.
 * @throws DomainError `unknown_pool`, `below_pool_minimum`, `no_route`, …
 */
const quote = async (context: PrivacyContext, actor: Actor, input: SwapQuoteInput) => {
  const [from, to] = await poolsOf(context, input);
  const price = await priceOf(context, [from, to], input);
  const { amountBase, outBase, minimumBase, path } = price;
  const { projectId } = actor;
  const { chainId } = input;
  const now = context.clock.now();
  const stored: PrivateQuote = {
    projectId,
    id: newId("quote"),
    walletId: null,
    status: "open",
    chainId,
    token: from.token,
    tokenOut: to.token,
    ...price,
    digest: digestOf([
      "private_swap",
      projectId,
      chainId,
      from.address,
      to.address,
      amountBase,
      path,
      minimumBase,
    ]),
    createdBy: actorName(actor),
    createdAt: now,
    expiresAt: addSeconds(now, QUOTE_TTL_SECONDS),
    approvedAt: null,
    codeId: null,
    codeMeans: null,
    operationId: null,
  };
  await context.repository.insertQuote(stored);
  const poolFeeOf = feeFloor(to.shieldFeeBps);
  return {
    quoteId: stored.id,
    expiresAt: stored.expiresAt,
    from: { token: from.token, amountBase },
    expected: { token: to.token, amountBase: outBase - poolFeeOf(outBase) },
    minimum: { token: to.token, amountBase: minimumBase - poolFeeOf(minimumBase) },
    poolFee: { token: to.token, amountBase: poolFeeOf(outBase) },
    anonymitySet: await context.anonymitySetOf(
      await context.privateWallets.choose(actor, undefined),
      from,
    ),
  };
};

const has = async (
  { repository }: PrivacyContext,
  projectId: string,
  id: string,
): Promise<boolean> =>
  isId("quote", id) && (await repository.findQuote(projectId, id)) !== null;

/**
 * Fails when the swap needs votes, because no code is mailed or accepted for such a swap.
 * @throws DomainError `invalid_state`; PolicyViolationError
 */
const refuseCode = async (
  context: PrivacyContext,
  actor: Actor,
  quoted: PrivateQuote,
): Promise<void> => {
  const { chainId, token, amountBase, createdBy } = quoted;
  const paid = { toAddress: null, toWallet: null, grossBase: amountBase };
  const spent = { kind: "private_swap", chainId, token, ...paid, createdBy } as const;
  if ((await votesFor(context, intentOf(actor, spent))) !== null) throw executeWithoutCode();
};

/**
 * The values of the quote that a one-time code approves.
 * @throws DomainError `quote_expired`, `quote_already_used`
 */
const approvable = async (
  context: PrivacyContext,
  actor: Actor,
  id: string,
): Promise<Approvable> => {
  const open = await openQuote(context, actor.projectId, id);
  await refuseCode(context, actor, open);
  const { token: from, tokenOut: to } = open;
  return {
    id: open.id,
    digest: open.digest,
    title: "Your code to approve a private swap",
    lines: () => [
      `You swap privately: ${formatAmount(open.amountBase, from.decimals)} ${from.symbol}`,
      `The swap brings at least: ${formatAmount(open.minimumBase, to.decimals)} ${to.symbol}`,
    ],
  };
};

/**
 * Chooses the private wallet, and approves the quote if the caller sends a code. Without a code,
 * the executed operation waits for one when the caller's policy requires it.
 * @throws DomainError `quote_expired`, `quote_already_used`, `otp_*`, `unknown_privacy_wallet`
 */
const prepare = async (context: PrivacyContext, actor: Actor, input: PrepareSwapInput) => {
  const { privateWallets, otp, repository, clock } = context;
  const open = await openQuote(context, actor.projectId, input.quoteId);
  const wallet = await privateWallets.choose(
    actor,
    input.privacyWalletId ?? open.walletId ?? undefined,
  );
  if (input.code !== undefined) await refuseCode(context, actor, open);
  const now = clock.now();
  const code =
    input.code === undefined
      ? null
      : await otp.consume({ actor, subjectId: open.id, digest: open.digest, code: input.code });
  // An earlier approval is valid only for the private wallet chosen at that time.
  const keeps = code === null && open.walletId === wallet.id;
  const approvedAt = code !== null ? now : keeps ? open.approvedAt : null;
  const codeId = code !== null ? code.otpId : keeps ? open.codeId : null;
  const codeMeans = code !== null ? code.means : keeps ? open.codeMeans : null;
  if (
    !(await repository.prepareQuote(
      open,
      { walletId: wallet.id, approvedAt, codeId, codeMeans },
      now,
    ))
  ) {
    await openQuote(context, actor.projectId, open.id);
    throw preparedElsewhere();
  }
  return {
    quoteId: open.id,
    expiresAt: open.expiresAt,
    privacyWalletId: wallet.id,
    approved: approvedAt !== null,
  };
};

/**
 * Starts the operation of a prepared quote.
 * @throws DomainError `invalid_state` (not prepared), `quote_expired`, `quote_already_used`,
 * `insufficient_balance`
 */
const begin = async (
  context: PrivacyContext,
  actor: Actor,
  id: string,
  idempotency: IdempotentRequest | null,
): Promise<string> => {
  const open = await openQuote(context, actor.projectId, id);
  const { chainId, walletId, amountBase, path, minimumBase, outBase } = open;
  if (open.status !== "prepared" || walletId === null) throw notPrepared();
  const wallet = await context.privateWallets.find(
    actor.projectId,
    walletId,
    "privacyWalletId",
  );
  const [pool, poolOut] = await Promise.all([
    context.poolOf(chainId, open.token.address, "fromToken"),
    context.poolOf(chainId, open.tokenOut.address, "fromToken"),
  ]);
  const swap = { path, minimumBase, outBase };
  const { codeId, codeMeans } = open;
  const own = {
    idempotency,
    quote: { id: open.id, walletId: wallet.id, codeId, codeMeans },
    retryOf: null,
  };
  const request = {
    wallet,
    pool,
    poolOut,
    amountBase,
    toAddress: null,
    toWallet: wallet,
    swap,
  };
  const transferId = await spends.start(
    context,
    actor,
    { ...request, kind: "private_swap" },
    own,
  );
  if (transferId === null) throw preparedElsewhere();
  return transferId;
};

/**
 * Executes a prepared quote once. Repeated calls return the first transfer.
 * @returns the transfer's id
 * @throws DomainError `invalid_state` (not prepared), `quote_expired`, `insufficient_balance`
 */
const execute = async (
  context: PrivacyContext,
  actor: Actor,
  id: string,
  idempotency: IdempotentRequest | null,
): Promise<string> => {
  const startedBefore = async (): Promise<string | null> => {
    const { projectId, operationId } = await quoteOf(context, actor.projectId, id);
    const transfer =
      operationId === null
        ? null
        : await context.repository.findByOperation(projectId, operationId);
    return transfer?.id ?? null;
  };
  const before = await startedBefore();
  if (before !== null) return before;
  try {
    return await begin(context, actor, id, idempotency);
  } catch (error) {
    // This call may have failed because a concurrent call executed the quote.
    const meanwhile = await startedBefore();
    if (meanwhile === null) throw error;
    return meanwhile;
  }
};

export const swaps = { quote, has, approvable, prepare, execute };
