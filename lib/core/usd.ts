import { readDecimal, scaledTo } from "./decimal";

const DIGITS = 6;
const microUsd = (usd: string): bigint => {
  const decimal = readDecimal(usd);
  if (decimal === null || decimal.digits < 0n || decimal.scale > DIGITS)
    throw new Error("Not an amount of US dollars with at most 6 fraction digits.");
  return scaledTo(decimal, DIGITS, "floor");
};

/**
 * Whether `a` is above `b`; both are US dollars as decimal strings with at most 6 fraction digits.
 * @throws Error when one of them has another form
 * @example isMoreUsd("10.5", "10.50") // false
 */
export const isMoreUsd = (a: string, b: string): boolean => microUsd(a) > microUsd(b);

/**
 * Removes trailing zeros from a decimal string of US dollars, so that equal amounts have equal
 * texts.
 * @throws Error when the text is no decimal string with at most 6 fraction digits
 * @example plainUsd("500.50") // "500.5"
 */
export const plainUsd = (usd: string): string => {
  const micro = microUsd(usd)
    .toString()
    .padStart(DIGITS + 1, "0");
  const fraction = micro.slice(-DIGITS).replace(/0+$/, "");
  return micro.slice(0, -DIGITS) + (fraction === "" ? "" : `.${fraction}`);
};
