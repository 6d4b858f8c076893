import { parseDecimal } from "./decimal";
import { formatAmount } from "./money";

/**
 * Currencies in which a project can read its figures, by ISO 4217. The API uses only US dollars.
 */
export const REPORTING_CURRENCIES = ["USD", "EUR", "GBP", "CHF"] as const;
export type ReportingCurrency = (typeof REPORTING_CURRENCIES)[number];

/** Whether a project can read its figures in the currency with this code. */
export const isReportingCurrency = (text: string): text is ReportingCurrency =>
  (REPORTING_CURRENCIES as readonly string[]).includes(text);

/** The currencies that need a rate. */
export const RATED_CURRENCIES = ["EUR", "GBP", "CHF"] as const;
export type RatedCurrency = (typeof RATED_CURRENCIES)[number];

/** Digits after the point of a converted amount: two more than the six of USDC and USDT. */
const DIGITS = 8;

/**
 * US dollars in another currency, rounded half away from zero to 8 digits after the point.
 * @param usdPerUnit US dollars for one unit of the currency, a decimal string above zero
 * @throws Error when a text is not a decimal string, or the rate is zero
 * @example convertUsd("108.43", "1.0843") // "100"
 */
export const convertUsd = (usd: string, usdPerUnit: string): string => {
  const [amount, rate] = [parseDecimal(usd), parseDecimal(usdPerUnit)];
  const isNegative = amount.digits < 0n;
  const digits = isNegative ? -amount.digits : amount.digits;
  const numerator = digits * 10n ** BigInt(DIGITS + rate.scale);
  const denominator = rate.digits * 10n ** BigInt(amount.scale);
  const rounded = (2n * numerator + denominator) / (2n * denominator);
  return formatAmount(isNegative ? -rounded : rounded, DIGITS);
};
