/**
 * Reads amounts as people write them. The service takes plain decimal strings alone; forms read the typed text by this file and show
 * how they read it.
 */

interface Separators {
  readonly decimal: string;
  readonly group: string;
}

/** @param locale BCP 47; by default that of the browser */
export const separatorsOf = (locale?: string): Separators => {
  const parts = new Intl.NumberFormat(locale, { useGrouping: true }).formatToParts(1_234_567.8);
  const find = (type: "decimal" | "group"): string | undefined => parts.find((part) => part.type === type)?.value;
  return { decimal: find("decimal") ?? ".", group: find("group") ?? "," };
};

/** Spaces of every width and apostrophes, which only ever group digits. */
const GROUPING_MARKS = /[\s\u00a0\u202f\u2009'’]/gu;
/** Groups of three behind a first one of one to three. */
const GROUPED = /^[1-9]\d{0,2}([.,]\d{3})+$/;

/** Digits with at most one point → the plain form: no zeros in front, a digit before and after the point. */
const plain = (text: string): string | null => {
  const [, whole = "", fraction] = /^(\d*)(?:\.(\d*))?$/.exec(text) ?? [];
  if (whole === "" && (fraction === undefined || fraction === "")) return null;
  const integer = whole.replace(/^0+(?=\d)/, "");
  return `${integer === "" ? "0" : integer}${fraction === undefined || fraction === "" ? "" : `.${fraction}`}`;
};

const count = (text: string, mark: string): number => text.split(mark).length - 1;

/** With both marks the last one is the decimal mark, whatever the locale says. */
const readMixed = (text: string): string | null => {
  const decimal = text.lastIndexOf(",") > text.lastIndexOf(".") ? "," : ".";
  if (count(text, decimal) !== 1) return null;
  const [whole = "", fraction = ""] = text.split(decimal);
  return GROUPED.test(whole) ? plain(`${whole.replace(/[.,]/g, "")}.${fraction}`) : null;
};

/** With one kind of mark, the locale decides only where the text allows both readings, such as "1,234". */
const readSingle = (text: string, mark: string, { decimal, group }: Separators): string | null => {
  const digits = text.replaceAll(mark, "");
  if (count(text, mark) > 1) return GROUPED.test(text) ? plain(digits) : null;
  const isGroup = mark === group && mark !== decimal && GROUPED.test(text);
  return plain(isGroup ? digits : text.replace(mark, "."));
};

/**
 * The plain decimal string that a typed amount means; null where it means none, or where it has a sign or a letter.
 * @param locale BCP 47; by default that of the browser
 * @example readAmount("1,000", "en") // "1000"
 * @example readAmount("1 000,50", "de") // "1000.50"
 * @example readAmount("1,234", "de") // "1.234"
 */
export const readAmount = (text: string, locale?: string): string | null => {
  const packed = text.trim().replace(GROUPING_MARKS, "");
  if (packed === "" || /[^\d.,]/.test(packed)) return null;
  const marks = [",", "."].filter((mark) => packed.includes(mark));
  const [mark] = marks;
  if (mark === undefined) return plain(packed);
  return marks.length === 2 ? readMixed(packed) : readSingle(packed, mark, separatorsOf(locale));
};

/** As `readAmount`; a text that is no amount is given back as it was typed, for the check that refuses it. */
export const readOrTyped = (text: string, locale?: string): string => readAmount(text, locale) ?? text.trim();

/** A plain decimal string as a person of this locale types it, without groups, so that it is read back as the same amount. */
export const typedAmount = (value: string, locale?: string): string => value.replace(".", separatorsOf(locale).decimal);

/** The same with its digits grouped: to show how an amount was read. */
export const groupedAmount = (value: string, locale?: string): string => {
  const { decimal, group } = separatorsOf(locale);
  const [whole = "", fraction] = value.split(".");
  const grouped = whole.replace(/\B(?=(\d{3})+(?!\d))/g, group);
  return fraction === undefined ? grouped : `${grouped}${decimal}${fraction}`;
};
