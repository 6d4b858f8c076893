import { DomainError } from "./errors";

/** An amount in base units of a token, never a float. */
export type BaseUnits = bigint;

/**
 * The form of amounts in API requests: ASCII digits without sign or exponent, at most 39 digits
 * before and 18 after the point.
 */
export const AMOUNT_PATTERN = /^(0|[1-9]\d{0,38})(\.\d{1,18})?$/;

const MAX_UINT256 = (1n << 256n) - 1n;

/**
 * Converts a decimal string in whole units of the token to base units. Never rounds.
 * @param path the field that holds the amount, for the details of an error
 * @throws DomainError `invalid_request` when the form is wrong, or the amount is zero or above
 * 2^256 − 1; `amount_precision` when the amount has more fraction digits than the token has
 * decimals
 * @example parseAmount("12.5", 6) // 12_500_000n
 */
export const parseAmount = (text: string, decimals: number, path = "amount"): BaseUnits => {
  const fail = (message: string): DomainError =>
    new DomainError("invalid_request", message, { details: [{ path, message }] });
  if (!AMOUNT_PATTERN.test(text)) throw fail(`${path} must be a decimal string like "12.5".`);
  // `split` would take as long as the rest of this function.
  const point = text.indexOf(".");
  const whole = point === -1 ? text : text.slice(0, point);
  const fraction = point === -1 ? "" : text.slice(point + 1);
  if (fraction.length > decimals) {
    const message = `${path} has ${String(fraction.length)} fraction digits; the token has ${String(decimals)}.`;
    throw new DomainError("amount_precision", message, {
      details: [{ path, message, code: "amount_precision" }],
    });
  }
  const base = BigInt(whole + fraction.padEnd(decimals, "0"));
  if (base <= 0n) throw fail(`${path} must be above zero.`);
  if (base > MAX_UINT256) throw fail(`${path} is larger than any token can hold.`);
  return base;
};

/**
 * Converts base units to the shortest exact decimal string in whole units of the token.
 * @example formatAmount(12_500_000n, 6) // "12.5"
 */
export const formatAmount = (base: BaseUnits, decimals: number): string => {
  const sign = base < 0n ? "-" : "";
  const digits = (base < 0n ? -base : base).toString().padStart(decimals + 1, "0");
  const whole = digits.slice(0, digits.length - decimals);
  const fraction = digits.slice(digits.length - decimals).replace(/0+$/, "");
  return fraction === "" ? sign + whole : `${sign}${whole}.${fraction}`;
};

const BPS = 10_000n;

/**
 * `base` minus `bps` basis points (1/10,000) of it, rounded down, in favour of the party that
 * guarantees the result.
 */
export const lessBpsFloor = (base: BaseUnits, bps: number): BaseUnits =>
  (base * (BPS - BigInt(bps))) / BPS;

/**
 * `bps` basis points (1/10,000) of `base`, rounded up, in favour of the party that charges the
 * result.
 */
export const bpsOfCeil = (base: BaseUnits, bps: number): BaseUnits =>
  (base * BigInt(bps) + BPS - 1n) / BPS;

/**
 * Converts base units of a token to base units of a token with another number of decimals. Exact
 * when `toDecimals` is not smaller, else rounded down.
 * @example rescaleFloor(1_999n, 3, 0) // 1n
 */
export const rescaleFloor = (
  base: BaseUnits,
  fromDecimals: number,
  toDecimals: number,
): BaseUnits =>
  toDecimals >= fromDecimals
    ? base * 10n ** BigInt(toDecimals - fromDecimals)
    : base / 10n ** BigInt(fromDecimals - toDecimals);
