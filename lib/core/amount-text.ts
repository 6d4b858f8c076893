/**
 * Formats numbers for people in the reader's locale: token amounts, US dollars, counts and shares.
 * Browser-safe.
 */
import { divide, readDecimal, scaledTo } from "./decimal";
import { formatAmount } from "./money";

const CENTS_DIGITS = 2;
const SIGNIFICANT_DIGITS = 6;
const MINUS = "−";

/**
 * Matches symbols of currencies, and of tokens that are worth one unit of a currency: USDC, USDC.e,
 * USDT, PYUSD, crvUSD, DAI, EURC …
 */
const STABLE = /^(x?dai|usd.{0,5}|eur.{0,2}|[a-z]{1,4}usd|gho|frax)$/i;

/** Whether amounts of the token are written like money, with two digits after the point. */
export const isStable = (symbol: string): boolean => STABLE.test(symbol);

export interface AmountText {
  /** Rounded to the last displayed digit. */
  readonly text: string;
  readonly full: string;
  readonly rounded: boolean;
}

export interface AmountFormat {
  /** Symbol of the token. It decides how many digits are shown. */
  readonly symbol?: string | undefined;
  /** True to show every digit, for reviews and receipts. */
  readonly exact?: boolean;
  /** True to keep trailing zeros, so that the digits of a column are aligned. */
  readonly padded?: boolean;
  readonly signed?: boolean;
  /** Locale (BCP 47); by default that of the browser. */
  readonly locale?: string | undefined;
}

interface Separators {
  readonly group: (whole: bigint) => string;
  readonly point: string;
}

const separators = new Map<string, Separators>();

const separatorsOf = (locale: string | undefined): Separators => {
  const key = locale ?? "";
  const known = separators.get(key);
  if (known !== undefined) return known;
  const format = new Intl.NumberFormat(locale, { numberingSystem: "latn" });
  const point = format.formatToParts(1.5).find(({ type }) => type === "decimal")?.value ?? ".";
  const made = { group: (whole: bigint) => format.format(whole), point };
  separators.set(key, made);
  return made;
};

/** `digits` / 10^`scale`, written with exactly `scale` digits after the point. */
const written = (digits: bigint, scale: number, { group, point }: Separators): string => {
  const text = digits.toString().padStart(scale + 1, "0");
  const whole = group(BigInt(text.slice(0, text.length - scale)));
  return scale === 0 ? whole : whole + point + text.slice(-scale);
};

/** Rounds half away from zero; `digits` is not negative. */
const roundedTo = (digits: bigint, scale: number, to: number): bigint => {
  if (to >= scale) return scaledTo({ digits, scale }, to, "floor");
  const unit = 10n ** BigInt(scale - to);
  return divide(digits + unit / 2n, unit, "floor");
};

const digitCount = (whole: bigint): number => (whole === 0n ? 0 : whole.toString().length);

/** The number of digits to show after the point. Digits before the point are always shown. */
const fractionShown = (digits: bigint, scale: number, symbol: string | undefined): number => {
  if (symbol !== undefined && isStable(symbol)) return CENTS_DIGITS;
  const whole = digits / 10n ** BigInt(scale);
  if (whole > 0n) return Math.max(0, SIGNIFICANT_DIGITS - digitCount(whole));
  const leadingZeros = digits === 0n ? 0 : scale - digitCount(digits);
  return leadingZeros + SIGNIFICANT_DIGITS;
};

const trimmed = (
  digits: bigint,
  scale: number,
  least: number,
): { digits: bigint; scale: number } => {
  let short = { digits, scale };
  while (short.scale > least && short.digits % 10n === 0n)
    short = { digits: short.digits / 10n, scale: short.scale - 1 };
  return short.scale >= least
    ? short
    : { digits: short.digits * 10n ** BigInt(least - short.scale), scale: least };
};

/**
 * Formats a decimal string for people. Stablecoins get 2 digits after the point, other tokens 6
 * significant digits; whole digits are never left out. An amount below half of the last displayed
 * digit becomes `< 0.01`.
 * @throws Error when `value` is not a decimal string
 * @example amountText("0.066630215", { symbol: "WETH" }) // { text: "0.0666302", full:
 * "0.066630215", rounded: true }
 */
export const amountText = (value: string, format: AmountFormat = {}): AmountText => {
  const decimal = readDecimal(value);
  if (decimal === null) throw new Error("Not a decimal string.");
  const { symbol, exact = false, padded = false, signed = false, locale } = format;
  const marks = separatorsOf(locale);
  const isNegative = decimal.digits < 0n;
  const digits = isNegative ? -decimal.digits : decimal.digits;
  const { scale } = decimal;
  const sign = isNegative ? MINUS : signed && digits > 0n ? "+" : "";
  const least = symbol !== undefined && isStable(symbol) ? CENTS_DIGITS : 0;
  const whole = trimmed(digits, scale, least);
  const full = sign + written(whole.digits, whole.scale, marks);
  const wanted = fractionShown(digits, scale, symbol);
  if (exact || (whole.scale <= wanted && !padded)) return { text: full, full, rounded: false };
  const shown = roundedTo(digits, scale, wanted);
  const isRounded = whole.scale > wanted;
  if (shown === 0n && digits > 0n)
    return {
      text: `${isNegative ? "> −" : "< "}${written(1n, wanted, marks)}`,
      full,
      rounded: true,
    };
  const short = padded ? { digits: shown, scale: wanted } : trimmed(shown, wanted, least);
  return { text: sign + written(short.digits, short.scale, marks), full, rounded: isRounded };
};

/**
 * An amount with its symbol, for titles that the service stores or sends: in English and with every
 * digit.
 * @example titleAmount(12_500_000n, { symbol: "USDC", decimals: 6 }) // "12.50 USDC"
 */
export const titleAmount = (
  amountBase: bigint,
  { symbol, decimals }: { readonly symbol: string; readonly decimals: number },
): string => {
  const { text } = amountText(formatAmount(amountBase, decimals), {
    symbol,
    exact: true,
    locale: "en",
  });
  return `${text} ${symbol}`;
};

/** Formats the amount in a currency, with the currency sign where the locale puts it. */
const asCurrency = (
  text: string,
  { locale, currency }: { readonly locale: string | undefined; readonly currency: string },
): string => {
  const isNegative = text.includes(MINUS);
  const number = text.replace(/[−+<> ]/g, "");
  const parts = new Intl.NumberFormat(locale, {
    style: "currency",
    currency,
    currencyDisplay: "narrowSymbol",
    maximumFractionDigits: 0,
  }).formatToParts(isNegative ? -1 : 1);
  const written = parts
    .map(({ type, value }) => {
      if (type === "integer") return number;
      return type === "minusSign" ? MINUS : value;
    })
    .join("");
  const compared = /^[<>]/.exec(text)?.[0];
  return (
    (compared === undefined ? "" : `${compared} `) + (text.startsWith("+") ? "+" : "") + written
  );
};

interface CurrencyFormat {
  readonly locale?: string | undefined;
  readonly signed?: boolean;
  /** The code of the currency by ISO 4217; US dollars by default. */
  readonly currency?: string;
}

/**
 * Writes an amount of a currency with two digits after the point.
 * @throws Error when `value` is no decimal string
 * @example currencyText("1234.567") // { text: "$1,234.57", full: "$1,234.567", rounded: true }
 */
export const currencyText = (
  value: string,
  { locale, signed = false, currency = "USD" }: CurrencyFormat = {},
): AmountText => {
  // The symbol USD selects two digits after the point, which every currency gets here.
  const { text, full, rounded } = amountText(value, { symbol: "USD", locale, signed });
  const format = { locale, currency };
  return { text: asCurrency(text, format), full: asCurrency(full, format), rounded };
};

/** A count with separators: `10,000`. */
export const countText = (count: number, locale?: string): string =>
  new Intl.NumberFormat(locale, { maximumFractionDigits: 0, numberingSystem: "latn" }).format(
    count,
  );

/**
 * A measured number with at most one digit after the point, such as a pace or a size: `1,234.5`.
 */
export const measureText = (value: number, locale?: string): string =>
  new Intl.NumberFormat(locale, { maximumFractionDigits: 1, numberingSystem: "latn" }).format(
    value,
  );

/**
 * Divides `total` among the weights by the largest remainder method, so that the shares add up to
 * `total` exactly. A weight of zero gets zero. Returns zeros when all weights are zero.
 * @param weights not negative
 * @example sharesOf([1n, 1n, 1n], 1000) // [334, 333, 333]
 */
export const sharesOf = (weights: readonly bigint[], total: number): number[] => {
  const sum = weights.reduce((all, weight) => all + weight, 0n);
  if (sum === 0n) return weights.map(() => 0);
  const scaled = weights.map((weight) => weight * BigInt(total));
  const shares = scaled.map((part) => Number(part / sum));
  const left = total - shares.reduce((all, share) => all + share, 0);
  const next = scaled
    .map((part, index) => ({ index, rest: part % sum }))
    .sort((a, b) => (a.rest === b.rest ? a.index - b.index : a.rest > b.rest ? -1 : 1))
    .slice(0, left);
  for (const { index } of next) shares[index] = (shares[index] ?? 0) + 1;
  return shares;
};

const TENTHS = 10;

/**
 * Formats a share in tenths of a per cent: `12.5 %`.
 * @param isSomething whether the exact share is above zero; 0 tenths then become `< 0.1 %`
 * @example shareText(125, true) // "12.5 %"
 */
export const shareText = (tenths: number, isSomething: boolean, locale?: string): string => {
  const format = new Intl.NumberFormat(locale, {
    minimumFractionDigits: 1,
    maximumFractionDigits: 1,
    numberingSystem: "latn",
  });
  return tenths === 0 && isSomething
    ? `< ${format.format(0.1)} %`
    : `${format.format(tenths / TENTHS)} %`;
};
