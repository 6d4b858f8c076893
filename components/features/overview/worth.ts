import { parseDecimal, scaledTo } from "@/lib/core/decimal";
import { formatAmount } from "@/lib/core/money";
import type { Backing } from "@/components/features/balances/backing";
import type { Balances, TokenTotal } from "./use-balances";

const USD_DIGITS = 6;
const BPS = 10_000n;

type Part = "available" | "reserved" | "pendingOut" | "pendingIn";
type ChainTotal = Pick<TokenTotal["chains"][number], "amount" | "usd" | Part>;

const micro = (usd: string): bigint => scaledTo(parseDecimal(usd), USD_DIGITS, "floor");

/** The worth of `part` at the price that the whole has; null where no price is known, or where nothing is there to take it from. */
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

/** Null where a price is missing, because a sum that leaves something out would be a wrong sum. */
const sumOf = (worths: readonly (bigint | null)[]): string | null =>
  worths.includes(null)
    ? null
    : formatAmount(
        worths.reduce<bigint>((sum, worth) => sum + (worth ?? 0n), 0n),
        USD_DIGITS,
      );

/** The worth of one part of all balances in US dollars, a decimal string rounded down; null where a price is missing. */
export const worthOfPart = ({ totals }: Pick<Balances, "totals">, part: Part): string | null =>
  sumOf(totals.flatMap(({ chains, decimals }) => chains.map((chain) => worthOf(chain, chain[part], decimals))));

/** The worth of what backs global accounts, as `worthOfPart` gives it. */
export const worthOfBacking = ({ totals }: Pick<Balances, "totals">, backing: Backing): string | null =>
  sumOf(totals.map((total) => worthOf(total, backing.get(total.assetId) ?? "0", total.decimals)));

/** The worth of what may be moved now. */
export const worthOfAvailable = (balances: Pick<Balances, "totals">, backing: Backing): string | null => {
  const [free, kept] = [worthOfPart(balances, "available"), worthOfBacking(balances, backing)];
  return free === null || kept === null ? null : formatAmount(micro(free) - micro(kept), USD_DIGITS);
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
