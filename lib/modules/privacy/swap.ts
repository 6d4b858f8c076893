/** Private swaps: a quote, then a code or the choice of a private wallet, then the execution. */
import type { GivenCode } from "@/lib/contracts/proofs";
import { actorName, type Actor } from "@/lib/core/actor";
import { addSeconds } from "@/lib/core/clock";
import { DomainError, invalidRequest, notFound } from "@/lib/core/errors";
import { isId, newId } from "@/lib/core/ids";
import { bpsOfCeil, formatAmount, lessBpsFloor, parseAmount } from "@/lib/core/money";
import { feeFloor } from "@/lib/core/privacy-fees";
import type { CodeChannel, OtpSent } from "@/lib/modules/otp/service";
import type { PrivacyPool } from "@/lib/ports/privacy";
import { digestOf, type PrivacyContext } from "./context";
import { belowMinimum, noPrivateRoute, noProcessor, executeWithoutCode } from "./errors";
import type { IdempotentRequest } from "./idempotency";
import type { PrivateQuote } from "./private-quote";
import { spends } from "./spend";

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
  new DomainError("quote_expired", "This quote has expired. Nothing was sent; ask for a new one.");
const used = (): DomainError =>
  new DomainError("quote_already_used", "This quote was executed already; its money moved once.");
const preparedElsewhere = (): DomainError =>
  new DomainError(
    "invalid_state",
    "Another request prepared this quote at the same moment. Nothing was sent; try again.",
  );
const notPrepared = (): DomainError =>
  new DomainError("invalid_state", "This quote is not prepared yet (POST /privacy/swap/prepare). Nothing was sent.");

/** @throws DomainError `not_found`, `quote_already_used`, `quote_expired` */
const openQuote = async ({ repository, clock }: PrivacyContext, projectId: string, id: string) => {
  const quote = isId("quote", id) ? await repository.findQuote(projectId, id) : null;
  if (quote === null) throw notFound();
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
    throw invalidRequest([{ path: "toToken", message: "must be another token than fromToken" }]);
  return [from, to];
};

type Priced = Pick<PrivateQuote, "amountBase" | "path" | "outBase" | "minimumBase">;

/** Prices a swap. The relayer's fee is rounded up, the minimum down. @throws DomainError `below_pool_minimum`, `no_route` */
const priceOf = async (
  { engine }: PrivacyContext,
  [from, to]: readonly [PrivacyPool, PrivacyPool],
  input: SwapQuoteInput,
): Promise<Priced> => {
  const amountBase = parseAmount(input.amount, from.token.decimals);
  if (amountBase < from.minimumBase) throw belowMinimum(from.token, from.minimumBase);
  const soldBase = amountBase - bpsOfCeil(amountBase, from.relayFeeBps);
  const price = await engine.priceSwap({ from: from.token, to: to.token, amountBase: soldBase });
  if (price === null) throw noPrivateRoute(from.token, to.token);
  const minimumBase = lessBpsFloor(price.outBase, input.slippageBps);
  if (minimumBase < to.minimumBase) throw belowMinimum(to.token, to.minimumBase);
  return { amountBase, path: price.path, outBase: price.outBase, minimumBase };
};

/** @throws DomainError `unknown_pool`, `below_pool_minimum`, `no_route`, … */
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
    digest: digestOf(["private_swap", projectId, chainId, from.address, to.address, amountBase, path, minimumBase]),
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
    anonymitySet: await context.anonymitySetOf(await context.privateWallets.choose(actor, undefined), from),
  };
};

/** Whether the project has a private quote with this id. */
const has = async ({ repository }: PrivacyContext, projectId: string, id: string): Promise<boolean> =>
  isId("quote", id) && (await repository.findQuote(projectId, id)) !== null;

/** Where the project demands votes, the code of one person is neither mailed nor taken. @throws DomainError `invalid_state` */
const refuseCode = async ({ decisions }: PrivacyContext, { projectId }: Actor): Promise<void> => {
  if ((await decisions.requirementOf(projectId)) !== null) throw executeWithoutCode();
};

/** Sends the code that approves exactly this quote. @throws DomainError `quote_expired`, `quote_already_used` */
const requestCode = async (
  context: PrivacyContext,
  actor: Actor,
  id: string,
  channel?: CodeChannel,
): Promise<OtpSent> => {
  const open = await openQuote(context, actor.projectId, id);
  await refuseCode(context, actor);
  const { token: from, tokenOut: to } = open;
  return context.otp.request({
    actor,
    subjectId: open.id,
    digest: open.digest,
    subject: "Your code to approve a private swap",
    lines: [
      `You swap privately: ${formatAmount(open.amountBase, from.decimals)} ${from.symbol}`,
      `The swap brings at least: ${formatAmount(open.minimumBase, to.decimals)} ${to.symbol}`,
    ],
    channel,
  });
};

/**
 * With a code the quote is approved. Without one only the private wallet is chosen, and where the caller's policy needs a code the
 * executed operation awaits one.
 * @throws DomainError `quote_expired`, `quote_already_used`, `otp_*`, `unknown_privacy_wallet`
 */
const prepare = async (context: PrivacyContext, actor: Actor, input: PrepareSwapInput) => {
  const { privateWallets, otp, repository, clock } = context;
  const open = await openQuote(context, actor.projectId, input.quoteId);
  const wallet = await privateWallets.choose(actor, input.privacyWalletId ?? open.walletId ?? undefined);
  if (input.code !== undefined) await refuseCode(context, actor);
  const now = clock.now();
  const code =
    input.code === undefined
      ? null
      : await otp.consume({ actor, subjectId: open.id, digest: open.digest, code: input.code });
  // An earlier approval holds only for the private wallet that was chosen then.
  const keeps = code === null && open.walletId === wallet.id;
  const approvedAt = code !== null ? now : keeps ? open.approvedAt : null;
  const codeId = code !== null ? code.otpId : keeps ? open.codeId : null;
  const codeMeans = code !== null ? code.means : keeps ? open.codeMeans : null;
  if (!(await repository.prepareQuote(open, { walletId: wallet.id, approvedAt, codeId, codeMeans }, now))) {
    await openQuote(context, actor.projectId, open.id);
    throw preparedElsewhere();
  }
  return { quoteId: open.id, expiresAt: open.expiresAt, privacyWalletId: wallet.id, approved: approvedAt !== null };
};

/**
 * Executes a prepared quote once.
 * @returns the transfer's id
 * @throws DomainError `invalid_state` (not prepared), `quote_expired`, `quote_already_used`, `insufficient_balance`
 */
const execute = async (
  context: PrivacyContext,
  actor: Actor,
  id: string,
  idempotency: IdempotentRequest | null,
): Promise<string> => {
  const open = await openQuote(context, actor.projectId, id);
  const { chainId, walletId, amountBase, path, minimumBase, outBase } = open;
  if (open.status !== "prepared" || walletId === null) throw notPrepared();
  const wallet = await context.privateWallets.find(actor.projectId, walletId, "privacyWalletId");
  const [pool, poolOut] = await Promise.all([
    context.poolOf(chainId, open.token.address, "fromToken"),
    context.poolOf(chainId, open.tokenOut.address, "fromToken"),
  ]);
  const swap = { path, minimumBase, outBase };
  const { codeId, codeMeans } = open;
  const own = { idempotency, quote: { id: open.id, walletId: wallet.id, codeId, codeMeans }, retryOf: null };
  const request = { wallet, pool, poolOut, amountBase, toAddress: null, toWallet: wallet, swap };
  const transferId = await spends.start(context, actor, { ...request, kind: "private_swap" }, own);
  if (transferId === null) {
    await openQuote(context, actor.projectId, open.id);
    throw preparedElsewhere();
  }
  return transferId;
};

export const swaps = { quote, has, requestCode, prepare, execute };
