import type { Balances, TokenTotal } from "@/components/features/balances/use-balances";
import { isZero, signOf, toScaled } from "@/components/features/swap/decimal";
import { sharesOf } from "@/lib/core/amount-text";
import { parseDecimal, scaledTo } from "@/lib/core/decimal";
import { formatAmount } from "@/lib/core/money";

const USD_DIGITS = 6;
const BPS = 10_000n;

type Part = "reserved" | "pendingOut" | "pendingIn";
type ChainTotal = Pick<TokenTotal["chains"][number], "amount" | "usd" | Part>;

const micro = (usd: string): bigint => scaledTo(parseDecimal(usd), USD_DIGITS, "floor");

/**
 * The worth of `part` in millionths of a dollar, rounded down, at the price that `amount` and `usd`
 * imply. Null when `part` is not zero and they imply no price.
 */
const worthOf = (
  { amount, usd }: Pick<ChainTotal, "amount" | "usd">,
  part: string,
  decimals: number,
): bigint | null => {
  const units = scaledTo(parseDecimal(part), decimals, "floor");
  if (units === 0n) return 0n;
  const whole = scaledTo(parseDecimal(amount), decimals, "floor");
  return usd === null || whole === 0n ? null : (micro(usd) * units) / whole;
};

/** The sum in US dollars. Null when a price is missing, because a partial sum would be wrong. */
const sumOf = (worths: readonly (bigint | null)[]): string | null =>
  worths.includes(null)
    ? null
    : formatAmount(
        worths.reduce<bigint>((sum, worth) => sum + (worth ?? 0n), 0n),
        USD_DIGITS,
      );

/**
 * The worth of one part of all balances in US dollars, a decimal string rounded down; null when a
 * price is missing.
 */
export const worthOfPart = ({ totals }: Pick<Balances, "totals">, part: Part): string | null =>
  sumOf(
    totals.flatMap(({ chains, decimals }) =>
      chains.map((chain) => worthOf(chain, chain[part], decimals)),
    ),
  );

/**
 * The worth of the available amount, or of the amount that backs global accounts, as in
 * `worthOfPart`. The service gives both amounts per asset, because they may be less than the sum
 * over the chains.
 */
export const worthOfShared = (
  { totals }: Pick<Balances, "totals">,
  part: "available" | "backing",
): string | null => sumOf(totals.map((total) => worthOf(total, total[part], total.decimals)));

interface Change {
  readonly sign: -1 | 0 | 1;
  /** Absolute value, a decimal string. */
  readonly usd: string;
  /** Absolute value in basis points, rounded down; null when the earlier value is zero. */
  readonly bps: number | null;
}

export const changeBetween = (before: string, now: string): Change => {
  const [old, fresh] = [micro(before), micro(now)];
  const difference = fresh - old;
  const size = difference < 0n ? -difference : difference;
  return {
    sign: signOf(difference),
    usd: formatAmount(size, USD_DIGITS),
    bps: old === 0n ? null : Number((size * BPS) / old),
  };
};

type ChainShare = TokenTotal["chains"][number] & {
  /**
   * The chain's entries in the breakdown by wallet, which has only the wallets that the API lists.
   */
  readonly parts: TokenTotal["breakdown"];
};

/** The share of each chain in an asset's total over all wallets, ordered by chain id. */
export const byChain = (total: TokenTotal): ChainShare[] =>
  [...total.chains]
    .sort((one, other) => one.chainId - other.chainId)
    .map((share) => ({
      ...share,
      parts: total.breakdown.filter(({ chainId }) => chainId === share.chainId),
    }));

const WHOLE_PERCENT = 100;

/**
 * Shares of amounts of one token in per cent. They add up to 100, or are all zero when the sum is
 * zero.
 */
export const chainShares = (amounts: readonly string[], decimals: number): readonly number[] =>
  sharesOf(
    amounts.map((amount) => toScaled(amount, decimals) ?? 0n),
    WHOLE_PERCENT,
  );

export const isEmpty = ({
  amount,
  pendingIn,
}: {
  readonly amount: string;
  readonly pendingIn: string;
}): boolean => isZero(amount) && isZero(pendingIn);
