/**
 * Computes the worth of a payout in US dollars. Caps use the worth at current prices. Records show
 * the worth that was stored when the policies were evaluated.
 */
import { worthOf } from "@/lib/core/decimal";
import { formatAmount } from "@/lib/core/money";
import { peggedWorth } from "@/lib/core/pegged-worth";
import type { Token } from "@/lib/core/token";
import { LEDGER_DECIMALS } from "@/lib/books/ledger/service";
import type { PayoutParts } from "./payout-view";

export const PRICE_TIMEOUT_MS = 3000;

/**
 * Reads prices of tokens in US dollars. `highestPriceUsd` reads the highest price of each token's
 * asset on any chain. Prices are decimal strings in the order of the tokens; null for a token
 * without a price.
 */
export interface Prices {
  priceUsd(tokens: readonly Token[], signal: AbortSignal): Promise<readonly (string | null)[]>;
  highestPriceUsd(
    tokens: readonly Token[],
    signal: AbortSignal,
  ): Promise<readonly (string | null)[]>;
}

const USD_DECIMALS = 6;

interface Valued {
  readonly token: Token;
  readonly amountBase: bigint;
  readonly decimals: number;
}

/** Worth in millionths of a US dollar. It is rounded up, because it is compared with a cap. */
const millionths = ({ amountBase, decimals }: Omit<Valued, "token">, price: string): bigint =>
  worthOf({ amountBase, decimals, price }, USD_DECIMALS, "ceil");

/** Converts an amount to US dollars at a price; null when the price is unknown. */
export const usdOf = (
  valued: Omit<Valued, "token">,
  price: string | null | undefined,
): string | null =>
  price === null || price === undefined
    ? null
    : formatAmount(millionths(valued, price), USD_DECIMALS);

/**
 * The current worth of the sum of all amounts in US dollars, each token at its highest price on any
 * chain. Null when a token has no price, when prices cannot be read, or when there are no amounts.
 */
export const worthNow = async (
  prices: Pick<Prices, "highestPriceUsd">,
  amounts: readonly Valued[],
): Promise<string | null> => {
  const tokens = amounts.map(({ token }) => token);
  const found = await prices
    .highestPriceUsd(tokens, AbortSignal.timeout(PRICE_TIMEOUT_MS))
    .catch(() => []);
  let sum = 0n;
  for (const [index, valued] of amounts.entries()) {
    const price = found[index];
    if (price === null || price === undefined) return null;
    sum += millionths(valued, price);
  }
  return amounts.length === 0 ? null : formatAmount(sum, USD_DECIMALS);
};

/** For each id of a policy evaluation, the recorded worth in US dollars. */
export type Worths = ReadonlyMap<string, string>;

const partsOf = (parts: PayoutParts) => {
  if (parts.kind === "wallets")
    return parts.own.totals.map(({ token, amountBase }) => ({
      amountBase,
      decimals: token.decimals,
      isPegged: token.usdPegged,
    }));
  const tokens = parts.asset?.tokens ?? [];
  const isPegged = tokens.length > 0 && tokens.every(({ usdPegged }) => usdPegged);
  return [{ amountBase: parts.payout.totalBase, decimals: LEDGER_DECIMALS, isPegged }];
};

/**
 * The worth of a payout as recorded when the policies were evaluated. Without a record, it is the
 * worth of tokens that are pegged to the US dollar, and null for other tokens. Uses no current
 * prices.
 */
export const recordedWorth = (parts: PayoutParts, worths: Worths): string | null =>
  worths.get(parts.payout.evaluationId ?? "") ?? peggedWorth(partsOf(parts));
