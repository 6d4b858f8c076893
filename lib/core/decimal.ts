export type Rounding = "floor" | "ceil";

const DECIMAL = /^([-+]?)(\d+)(?:\.(\d+))?$/;

/** An exact decimal fraction, `digits` / 10^`scale`: `"12.50"` is 1250 / 10^2. */
export interface Decimal {
  readonly digits: bigint;
  readonly scale: number;
}

/**
 * Reads a decimal string of any length, with or without a sign. Returns null when the text is not a
 * decimal string.
 */
export const readDecimal = (text: string): Decimal | null => {
  const [, sign, whole, fraction = ""] = DECIMAL.exec(text) ?? [];
  if (whole === undefined) return null;
  const digits = BigInt(whole + fraction);
  return { digits: sign === "-" ? -digits : digits, scale: fraction.length };
};

/**
 * Reads a decimal string of any length, with or without a sign.
 * @throws Error when the text is no decimal string
 * @example parseDecimal("12.50") // { digits: 1250n, scale: 2 }
 */
export const parseDecimal = (text: string): Decimal => {
  const decimal = readDecimal(text);
  if (decimal === null) throw new Error("Not a decimal string.");
  return decimal;
};

/**
 * `numerator / denominator` as a whole number, rounded towards −∞ (`floor`) or +∞ (`ceil`).
 * `denominator` must be above zero.
 */
export const divide = (numerator: bigint, denominator: bigint, rounding: Rounding): bigint => {
  const quotient = numerator / denominator;
  const rest = numerator % denominator;
  if (rest === 0n) return quotient;
  if (rounding === "ceil") return numerator > 0n ? quotient + 1n : quotient;
  return numerator > 0n ? quotient : quotient - 1n;
};

/**
 * Converts a decimal to a whole number of 10^-`to`.
 * @example scaledTo(parseDecimal("1.239"), 2, "floor") // 123n
 */
export const scaledTo = ({ digits, scale }: Decimal, to: number, rounding: Rounding): bigint =>
  to >= scale
    ? digits * 10n ** BigInt(to - scale)
    : divide(digits, 10n ** BigInt(scale - to), rounding);

/**
 * The worth of an amount at a price per whole token, as a multiple of 10^-`scale` of the price's
 * unit. The product is exact and is rounded once.
 * @param amountBase in base units of a token with `decimals` decimals; `price` is a decimal string
 * @throws Error when `price` is not a decimal string
 * @example worthOf({ amountBase: 1_500_000n, decimals: 6, price: "2" }, 6, "ceil") // 3_000_000n
 */
export const worthOf = (
  { amountBase, decimals, price }: { amountBase: bigint; decimals: number; price: string },
  scale: number,
  rounding: Rounding,
): bigint => {
  const { digits, scale: priceScale } = parseDecimal(price);
  return scaledTo(
    { digits: amountBase * digits, scale: decimals + priceScale },
    scale,
    rounding,
  );
};
