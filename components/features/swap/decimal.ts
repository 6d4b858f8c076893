import { readDecimal, scaledTo } from "@/lib/core/decimal";
import { formatAmount } from "@/lib/core/money";

const PRICE_DIGITS = 18;
const USD_DIGITS = 6;
const BPS = 10_000n;

/**
 * Decimal string → integer in units of 10^-digits, rounded down. Null when the text is not a
 * decimal string.
 */
export const toScaled = (text: string, digits: number): bigint | null => {
  const decimal = readDecimal(text);
  return decimal === null ? null : scaledTo(decimal, digits, "floor");
};

/** Amount times price, truncated to 6 digits; null when one of them is unknown. */
export const usdValue = (amount: string, priceUsd: string | null): string | null => {
  if (priceUsd === null) return null;
  const [units, price] = [toScaled(amount, PRICE_DIGITS), toScaled(priceUsd, PRICE_DIGITS)];
  if (units === null || price === null) return null;
  const digits = 2 * PRICE_DIGITS;
  return formatAmount((units * price) / 10n ** BigInt(digits - USD_DIGITS), USD_DIGITS);
};

/** −1, 0 or 1: whether `a` is less than, equal to or more than `b`. Exact to 18 digits. */
export const compareAmounts = (a: string, b: string): -1 | 0 | 1 => {
  return signOf((toScaled(a, PRICE_DIGITS) ?? 0n) - (toScaled(b, PRICE_DIGITS) ?? 0n));
};

export const signOf = (number: bigint): -1 | 0 | 1 => {
  if (number < 0n) return -1;
  return number > 0n ? 1 : 0;
};

/**
 * The item with the largest amount, the first one among equal amounts; undefined for an empty list.
 */
export const largestBy = <Item>(
  items: readonly Item[],
  amountOf: (item: Item) => string,
): Item | undefined =>
  items.reduce<Item | undefined>(
    (best, item) =>
      best === undefined || compareAmounts(amountOf(item), amountOf(best)) === 1 ? item : best,
    undefined,
  );

/** Whether a decimal string is zero; true also for texts that are not an amount. */
export const isZero = (amount: string): boolean => !/[1-9]/.test(amount);

/** The sum of decimal strings, exact to 18 digits; texts that are not an amount count as zero. */
export const sumAmounts = (amounts: readonly string[]): string =>
  formatAmount(
    amounts.reduce((sum, amount) => sum + (toScaled(amount, PRICE_DIGITS) ?? 0n), 0n),
    PRICE_DIGITS,
  );

/** 1 / `rate`, truncated to 18 digits; null when the rate is not above zero. */
export const inverseOf = (rate: string): string | null => {
  const units = toScaled(rate, PRICE_DIGITS);
  if (units === null || units <= 0n) return null;
  return formatAmount(10n ** BigInt(2 * PRICE_DIGITS) / units, PRICE_DIGITS);
};

/** `a` minus `b`, exact to 18 digits. */
export const subtractAmounts = (a: string, b: string): string =>
  formatAmount(
    (toScaled(a, PRICE_DIGITS) ?? 0n) - (toScaled(b, PRICE_DIGITS) ?? 0n),
    PRICE_DIGITS,
  );

/**
 * The amount of a token for an amount of dollars, truncated to the token's decimals; null when
 * dollars or price are unknown.
 */
export const amountForUsd = (
  usd: string,
  priceUsd: string | null,
  decimals: number,
): string | null => {
  if (priceUsd === null) return null;
  const [dollars, price] = [toScaled(usd, PRICE_DIGITS), toScaled(priceUsd, PRICE_DIGITS)];
  if (dollars === null || price === null || price === 0n) return null;
  return formatAmount((dollars * 10n ** BigInt(decimals)) / price, decimals);
};

/** The loss from `before` to `after` in basis points, rounded up; 0 when there is none. */
export const dropBps = (before: string, after: string): number => {
  const [old, now] = [
    toScaled(before, PRICE_DIGITS) ?? 0n,
    toScaled(after, PRICE_DIGITS) ?? 0n,
  ];
  if (old <= 0n || now >= old) return 0;
  return Number(((old - now) * BPS + old - 1n) / old);
};

/** 50 → `0.5 %`. */
export const percentText = (bps: number): string =>
  `${formatAmount(BigInt(Math.round(bps)), 2)} %`;
