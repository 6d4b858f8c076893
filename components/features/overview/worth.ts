import { parseDecimal, scaledTo } from "@/lib/core/decimal";
import { formatAmount } from "@/lib/core/money";
import type { Balances, TokenTotal } from "./use-balances";

const USD_DIGITS = 6;
const BPS = 10_000n;

type Part = "available" | "reserved" | "pendingOut" | "pendingIn";
type ChainTotal = Pick<TokenTotal["chains"][number], "amount" | "usd" | Part>;

const micro = (usd: string): bigint => scaledTo(parseDecimal(usd), USD_DIGITS, "floor");

/** The worth of a part at the price that the whole has; null where no price is known, or where nothing is there to take it from. */
const worthOf = ({ amount, usd, ...parts }: ChainTotal, part: Part, decimals: number): bigint | null => {
  const units = scaledTo(parseDecimal(parts[part]), decimals, "floor");
  if (units === 0n) return 0n;
  const whole = scaledTo(parseDecimal(amount), decimals, "floor");
  return usd === null || whole === 0n ? null : (micro(usd) * units) / whole;
};

/**
 * The worth of one part of all balances in US dollars, a decimal string rounded down; null where a price is missing, because a
 * sum that leaves something out would be a wrong sum.
 */
export const worthOfPart = ({ totals }: Pick<Balances, "totals">, part: Part): string | null => {
  const worths = totals.flatMap(({ chains, decimals }) => chains.map((chain) => worthOf(chain, part, decimals)));
  if (worths.includes(null)) return null;
  return formatAmount(
    worths.reduce<bigint>((sum, worth) => sum + (worth ?? 0n), 0n),
    USD_DIGITS,
  );
};

export interface Change {
  readonly sign: -1 | 0 | 1;
  /** Without sign, a decimal string. */
  readonly usd: string;
  /** Without sign, in basis points rounded down; null where it began with nothing. */
  readonly bps: number | null;
}

/** From `before` to `now`, both decimal strings of dollars. */
export const changeBetween = (before: string, now: string): Change => {
  const [old, fresh] = [micro(before), micro(now)];
  const difference = fresh - old;
  const size = difference < 0n ? -difference : difference;
  return {
    sign: difference < 0n ? -1 : difference > 0n ? 1 : 0,
    usd: formatAmount(size, USD_DIGITS),
    bps: old === 0n ? null : Number((size * BPS) / old),
  };
};
