import { DomainError } from "./errors";

/** An amount in base units of a token, never a float. */
export type BaseUnits = bigint;

/** Decimal amount as the API takes it: ASCII digits, no sign, no exponent, at most 39 + 18 digits. */
export const AMOUNT_PATTERN = /^(0|[1-9]\d{0,38})(\.\d{1,18})?$/;

const MAX_UINT256 = (1n << 256n) - 1n;

/**
 * Decimal string in units of the token → base units.
 * @throws DomainError `invalid_request` when the form is wrong, the amount is not above zero or over 2^256 − 1;
 *   `amount_precision` when it has more fraction digits than the token (never rounded).
 */
export const parseAmount = (text: string, decimals: number, path = "amount"): BaseUnits => {
  const fail = (message: string): DomainError =>
    new DomainError("invalid_request", message, { details: [{ path, message }] });
  if (!AMOUNT_PATTERN.test(text)) throw fail(`${path} must be a decimal string like "12.5".`);
  const [whole = "0", fraction = ""] = text.split(".");
  if (fraction.length > decimals) {
    const message = `${path} has ${String(fraction.length)} fraction digits; the token has ${String(decimals)}.`;
    throw new DomainError("amount_precision", message, { details: [{ path, message, code: "amount_precision" }] });
  }
  const base = BigInt(whole + fraction.padEnd(decimals, "0"));
  if (base <= 0n) throw fail(`${path} must be above zero.`);
  if (base > MAX_UINT256) throw fail(`${path} is larger than any token can hold.`);
  return base;
};

/** Base units → the shortest decimal string that is exact: `12500000n, 6` → `"12.5"`. */
export const formatAmount = (base: BaseUnits, decimals: number): string => {
  const sign = base < 0n ? "-" : "";
  const digits = (base < 0n ? -base : base).toString().padStart(decimals + 1, "0");
  const whole = digits.slice(0, digits.length - decimals);
  const fraction = digits.slice(digits.length - decimals).replace(/0+$/, "");
  return fraction === "" ? sign + whole : `${sign}${whole}.${fraction}`;
};

const BPS = 10_000n;

/** What remains of `base` after taking `bps` basis points off, rounded down (in favour of the party that guarantees it). */
export const lessBpsFloor = (base: BaseUnits, bps: number): BaseUnits => (base * (BPS - BigInt(bps))) / BPS;

/** `bps` basis points of `base`, rounded up (in favour of the party that charges it). */
export const bpsOfCeil = (base: BaseUnits, bps: number): BaseUnits => (base * BigInt(bps) + BPS - 1n) / BPS;

/**
 * The same quantity in another number of decimals. Exact when digits are added; rounded down when they are taken away.
 */
export const rescaleFloor = (base: BaseUnits, fromDecimals: number, toDecimals: number): BaseUnits =>
  toDecimals >= fromDecimals
    ? base * 10n ** BigInt(toDecimals - fromDecimals)
    : base / 10n ** BigInt(fromDecimals - toDecimals);
