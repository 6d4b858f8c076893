import { actorName, type Actor } from "@/lib/core/actor";
import { addSeconds } from "@/lib/core/clock";
import { DomainError, invalidRequest, notFound } from "@/lib/core/errors";
import { isId, newId } from "@/lib/core/ids";
import { bpsOfCeil, formatAmount, lessBpsFloor, parseAmount } from "@/lib/core/money";
import { feeFloor } from "@/lib/core/privacy-fees";
import { toBigInt, toDecimal } from "@/lib/db/decimal";
import type { OtpSent } from "@/lib/modules/otp/service";
import type { PrivacyPool } from "@/lib/ports/privacy";
import { storedToken, toStored } from "@/lib/ports/routing-json";
import { digestOf, type PrivacyContext } from "./context";
import { belowMinimum, noPrivateRoute, noProcessor } from "./errors";
import type { Once } from "./once";
import type { QuoteRow } from "./repository";
import type { Spending } from "./spending";

const QUOTE_TTL_SECONDS = 300;

export interface SwapQuoteInput {
  readonly chainId: number;
  readonly fromToken: string;
  readonly toToken: string;
  readonly amount: string;
  readonly slippageBps: number;
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

/** Private swaps: quote, then a code or the choice of a private wallet, then execute. */
export const createSwapping = (context: PrivacyContext, spending: Spending) => {
  const { repository, engine, privateWallets, clock, otp } = context;

  const load = async (projectId: string, id: string): Promise<QuoteRow> => {
    const quote = isId("quote", id) ? await repository.findQuote(projectId, id) : null;
    if (quote === null) throw notFound();
    return quote;
  };

  const open = async (projectId: string, id: string): Promise<QuoteRow> => {
    const quote = await load(projectId, id);
    if (quote.status === "used") throw used();
    if (quote.expiresAt <= clock.now()) throw expired();
    return quote;
  };

  const poolsOf = async ({ chainId, fromToken, toToken }: SwapQuoteInput): Promise<[PrivacyPool, PrivacyPool]> => {
    const from = await context.poolOf(chainId, fromToken, "fromToken");
    const to = await context.poolOf(chainId, toToken, "toToken");
    if (!from.mayProcess) throw noProcessor();
    if (from.address === to.address)
      throw invalidRequest([{ path: "toToken", message: "must be another token than fromToken" }]);
    return [from, to];
  };

  return {
    /** @throws DomainError `unknown_pool`, `below_pool_minimum`, `no_route`, … */
    quote: async (actor: Actor, input: SwapQuoteInput) => {
      const [from, to] = await poolsOf(input);
      const amountBase = parseAmount(input.amount, from.token.decimals);
      if (amountBase < from.minimumBase) throw belowMinimum(from.token, from.minimumBase);
      const relayFee = bpsOfCeil(amountBase, from.relayFeeBps);
      const price = await engine.priceSwap({ from: from.token, to: to.token, amountBase: amountBase - relayFee });
      if (price === null) throw noPrivateRoute(from.token, to.token);
      const minimumBase = lessBpsFloor(price.outBase, input.slippageBps);
      if (minimumBase < to.minimumBase) throw belowMinimum(to.token, to.minimumBase);
      const now = clock.now();
      const quote = {
        projectId: actor.projectId,
        id: newId("quote"),
        walletId: null,
        status: "open",
        chainId: input.chainId,
        token: toStored(from.token),
        tokenOut: toStored(to.token),
        amountBase: toDecimal(amountBase),
        path: price.path,
        outBase: toDecimal(price.outBase),
        minimumBase: toDecimal(minimumBase),
        digest: digestOf([
          "private_swap",
          actor.projectId,
          input.chainId,
          from.address,
          to.address,
          amountBase,
          price.path,
          minimumBase,
        ]),
        createdBy: actorName(actor),
        createdAt: now,
        expiresAt: addSeconds(now, QUOTE_TTL_SECONDS),
      };
      await repository.insertQuote(quote);
      const keeps = feeFloor(to.shieldFeeBps);
      return {
        quoteId: quote.id,
        expiresAt: quote.expiresAt,
        from: { token: from.token, amountBase },
        expected: { token: to.token, amountBase: price.outBase - keeps(price.outBase) },
        minimum: { token: to.token, amountBase: minimumBase - keeps(minimumBase) },
        poolFee: { token: to.token, amountBase: keeps(price.outBase) },
        anonymitySet: await context.anonymitySetOf(await privateWallets.choose(actor, undefined), from),
      };
    },

    /** Whether there is such a private quote. */
    has: async (projectId: string, id: string): Promise<boolean> =>
      isId("quote", id) && (await repository.findQuote(projectId, id)) !== null,

    /** Sends the code that approves exactly this quote. */
    requestCode: async (actor: Actor, id: string): Promise<OtpSent> => {
      const quote = await open(actor.projectId, id);
      const [from, to] = [storedToken.parse(quote.token), storedToken.parse(quote.tokenOut)];
      return otp.request({
        actor,
        subjectId: quote.id,
        digest: new Uint8Array(quote.digest),
        subject: "Your code to approve a private swap",
        lines: [
          `You swap privately: ${formatAmount(toBigInt(quote.amountBase), from.decimals)} ${from.symbol}`,
          `The swap brings at least: ${formatAmount(toBigInt(quote.minimumBase), to.decimals)} ${to.symbol}`,
        ],
      });
    },

    /**
     * Variant A: a code approves it. Variant B: the private wallet is chosen; where the caller needs a code, execute waits for one.
     * @throws DomainError `quote_expired`, `quote_already_used`, `otp_*`, `unknown_privacy_wallet`
     */
    prepare: async (
      actor: Actor,
      input: { quoteId: string; otp?: string | undefined; privacyWalletId?: string | undefined },
    ) => {
      const quote = await open(actor.projectId, input.quoteId);
      const wallet = await privateWallets.choose(actor, input.privacyWalletId ?? quote.walletId ?? undefined);
      const now = clock.now();
      const code =
        input.otp === undefined
          ? null
          : await otp.consume({ actor, subjectId: quote.id, digest: new Uint8Array(quote.digest), code: input.otp });
      // Whoever approved it meant the private wallet of then.
      const keeps = code === null && quote.walletId === wallet.id;
      const approvedAt = code !== null ? now : keeps ? quote.approvedAt : null;
      const codeId = code !== null ? code.otpId : keeps ? quote.codeId : null;
      if (!(await repository.prepareQuote(quote, { walletId: wallet.id, approvedAt, codeId }, now))) {
        await open(actor.projectId, quote.id);
        throw preparedElsewhere();
      }
      return {
        quoteId: quote.id,
        expiresAt: quote.expiresAt,
        privacyWalletId: wallet.id,
        approved: approvedAt !== null,
      };
    },

    /** Moves the money, once. @throws DomainError `invalid_state` (not prepared), `quote_expired`, `quote_already_used`, `insufficient_balance` */
    execute: async (actor: Actor, id: string, once: Once | null): Promise<string> => {
      const quote = await open(actor.projectId, id);
      if (quote.status !== "prepared" || quote.walletId === null)
        throw new DomainError(
          "invalid_state",
          "This quote is not prepared yet (POST /privacy/swap/prepare). Nothing was sent.",
        );
      const wallet = await privateWallets.find(actor.projectId, quote.walletId, "privacyWalletId");
      const poolFor = (json: unknown) => context.poolOf(quote.chainId, storedToken.parse(json).address, "fromToken");
      const [pool, poolOut] = await Promise.all([poolFor(quote.token), poolFor(quote.tokenOut)]);
      const swap = { path: quote.path, minimumBase: toBigInt(quote.minimumBase), outBase: toBigInt(quote.outBase) };
      const transferId = await spending.start(
        actor,
        {
          kind: "private_swap",
          wallet,
          pool,
          poolOut,
          amountBase: toBigInt(quote.amountBase),
          toAddress: null,
          toWallet: wallet,
          swap,
        },
        { once, quote: { id: quote.id, walletId: wallet.id, codeId: quote.codeId }, retryOf: null },
      );
      if (transferId === null) {
        await open(actor.projectId, quote.id);
        throw preparedElsewhere();
      }
      return transferId;
    },
  };
};
