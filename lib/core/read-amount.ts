/**
 * Parses amounts as people write them. The service accepts only decimal strings; forms parse the
 * typed text with this file and show the result.
 */

interface Separators {
  readonly decimal: string;
  readonly group: string;
}

/**
 * The decimal and group separators of a locale.
 * @param locale BCP 47; by default that of the browser
 */
export const separatorsOf = (locale?: string): Separators => {
  const parts = new Intl.NumberFormat(locale, { useGrouping: true }).formatToParts(1_234_567.8);
  const find = (type: "decimal" | "group"): string | undefined =>
    parts.find((part) => part.type === type)?.value;
  return { decimal: find("decimal") ?? ".", group: find("group") ?? "," };
};

export type DecimalSign = "point" | "comma";

const GROUP_SPACES = /[\u00a0\u2007\u2009\u202f]/g;
const PLAIN = String.raw`0|[1-9]\d*`;
/**
 * The digits of a number in groups of three, the first group of one to three, with the same mark
 * between all groups: `1,250,000`.
 */
const groupsBy = (marks: string): string =>
  String.raw`[1-9]\d{0,2}(?<mark>[${marks}])\d{3}(?:\k<mark>\d{3})*`;
/** Numbers in Indian grouping, such as `1,00,000`. They use commas and a decimal point only. */
const INDIAN = String.raw`[1-9]\d?(?:,\d{2})+,\d{3}`;

const FORMS = {
  point: new RegExp(
    String.raw`^(?<whole>${PLAIN}|${groupsBy(",' ")}|${INDIAN})?(?:\.(?<fraction>\d*))?$`,
  ),
  comma: new RegExp(String.raw`^(?<whole>${PLAIN}|${groupsBy(".' ")})?(?:,(?<fraction>\d*))?$`),
} as const satisfies Record<DecimalSign, RegExp>;

/**
 * The only parser for numbers that people write. Returns the decimal string for the text when its
 * decimal separator is `sign`; null when the text is not such a number. Group separators are
 * accepted only between complete groups, so `12 50` is refused. Leading zeros, as in `007`, are
 * refused too.
 * @example numberAs("1,00,000.50", "point") // "100000.50"
 */
export const numberAs = (text: string, sign: DecimalSign): string | null => {
  const unified = text.replace(GROUP_SPACES, " ").replaceAll("’", "'");
  const { whole = "", fraction = "" } = FORMS[sign].exec(unified)?.groups ?? {};
  if (whole === "" && fraction === "") return null;
  return `${whole === "" ? "0" : whole.replace(/\D/g, "")}${fraction === "" ? "" : `.${fraction}`}`;
};

/**
 * The decimal separator of a typed text. If both separators are possible, the locale decides.
 * @param locale BCP 47; by default that of the browser
 */
export const typedSign = (text: string, locale?: string): DecimalSign => {
  const point = numberAs(text, "point");
  const comma = numberAs(text, "comma");
  if (comma === null || point === comma) return "point";
  if (point === null) return "comma";
  // A text with two readings has one separator, either for groups or for the fraction.
  const { decimal, group } = separatorsOf(locale);
  const mark = text.includes(",") ? "," : ".";
  const isGroup = mark === group && mark !== decimal;
  return (mark === ",") === isGroup ? "point" : "comma";
};

/**
 * The decimal string for a typed amount. Null when the text is not an amount, or has a sign or a
 * letter. The locale decides only when the text has two readings, such as "1,234".
 * @param locale BCP 47; by default that of the browser
 * @example readAmount("1,000", "en") // "1000"
 * @example readAmount("1 000,50", "de") // "1000.50"
 * @example readAmount("1,234", "de") // "1.234"
 */
export const readAmount = (text: string, locale?: string): string | null => {
  const typed = text.trim();
  return numberAs(typed, typedSign(typed, locale));
};

/**
 * Like `readAmount`, but returns a text that is not an amount unchanged, so that validation refuses
 * it.
 */
export const readOrTyped = (text: string, locale?: string): string =>
  readAmount(text, locale) ?? text.trim();

/**
 * Writes a decimal string with the locale's decimal separator and without groups. `readAmount`
 * returns the same amount for it.
 */
export const typedAmount = (value: string, locale?: string): string =>
  value.replace(".", separatorsOf(locale).decimal);

/** Like `typedAmount` with grouped digits, to show how an amount was parsed. */
export const groupedAmount = (value: string, locale?: string): string => {
  const { decimal, group } = separatorsOf(locale);
  const [whole = "", fraction] = value.split(".");
  const grouped = whole.replace(/\B(?=(\d{3})+(?!\d))/g, group);
  return fraction === undefined ? grouped : `${grouped}${decimal}${fraction}`;
};
