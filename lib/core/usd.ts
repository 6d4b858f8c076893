import { readDecimal, scaledTo } from "./decimal";

const DIGITS = 6;
/** Millionths of a US dollar of a decimal string that a contract has checked. */
const microUsd = (usd: string): bigint => {
  const decimal = readDecimal(usd);
  if (decimal === null || decimal.digits < 0n || decimal.scale > DIGITS)
    throw new Error("Not an amount of US dollars with at most 6 fraction digits.");
  return scaledTo(decimal, DIGITS, "floor");
};

/** Whether `a` is above `b`; both are decimal strings of at most 6 fraction digits. */
export const isMoreUsd = (a: string, b: string): boolean => microUsd(a) > microUsd(b);

/** Without zeros at the end, so that equal amounts have equal texts: `500.50` is `500.5`. */
export const plainUsd = (usd: string): string => {
  const micro = microUsd(usd)
    .toString()
    .padStart(DIGITS + 1, "0");
  const fraction = micro.slice(-DIGITS).replace(/0+$/, "");
  return micro.slice(0, -DIGITS) + (fraction === "" ? "" : `.${fraction}`);
};
