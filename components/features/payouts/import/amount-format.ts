import { numberAs, typedSign, type DecimalSign } from "@/lib/core/read-amount";
import { type Cell, cellText, quoted } from "@/components/features/file-import/table";

export type { DecimalSign };

export type AmountReading =
  | {
      /** Decimal digits with a point, without separators. */
      readonly amount: string;
      /**
       * Units beside the number, such as `€` or `USDC`. The row's token must match each of them.
       */
      readonly units: readonly string[];
    }
  | { readonly refusal: string };

const WORD = String.raw`[\p{L}\p{Sc}](?:[\p{L}\p{Sc}.]*[\p{L}\p{Sc}])?`;
/**
 * Matches a unit with digits, such as `USDT0`. A space must follow it, so that its digits are not
 * read as a part of the number.
 */
const WORD_APART = String.raw`\p{L}[\p{L}\p{N}.]*(?=\s)`;
const MARKS = String.raw`.,'’ \u00a0\u2007\u2009\u202f`;
const PARTS = new RegExp(
  // `.5` after letters needs a space before it, because `Rs.5` is five.
  String.raw`^(?:(?<before>${WORD_APART}|${WORD})(?:\s|(?<=\p{Sc})|(?![.,])))?` +
    String.raw`(?<number>[.,]?\d(?:[\d${MARKS}]*\d)?)(?:[eE](?<exponent>[-+]?\d{1,2})(?![\p{L}\d]))?` +
    String.raw`\s?(?<after>[\p{L}\p{Sc}][\p{L}\p{Sc}\p{N}.]*)?$`,
  "u",
);
/**
 * Words that multiply or divide the number. An amount with such a word is refused, because the word
 * could also be the symbol of a token.
 */
const MULTIPLIER =
  /^(k|m|mm|mn|mio|mill?|million|b|bn|billion|mrd|t|tn|trn|trillion|thousand|tsd|lakh|lac|crore|cr|ct|cents?|wei|gwei)s?\.?$/i;
interface Parts {
  readonly number: string;
  readonly exponent: string | null;
  readonly units: readonly string[];
}

const partsOf = (text: string): Parts | null => {
  const { before, number, exponent = null, after } = PARTS.exec(text)?.groups ?? {};
  if (number === undefined) return null;
  return { number, exponent, units: [before, after].filter((unit) => unit !== undefined) };
};

/** Moves the point of plain digits to the right, or to the left when `places` is negative. */
const movePoint = (plain: string, places: number): string => {
  const [whole = "", fraction = ""] = plain.split(".");
  const digits = whole + fraction;
  const point = whole.length + places;
  const padded =
    point <= 0 ? digits.padStart(digits.length + 1 - point, "0") : digits.padEnd(point, "0");
  const at = Math.max(point, 1);
  const moved = padded.slice(0, at).replace(/^0+(?=\d)/, "");
  return padded.length === at ? moved : `${moved}.${padded.slice(at)}`;
};

/**
 * Whether a spreadsheet has rounded the number for display: such a number has a fraction, and an
 * exponent of at least two digits.
 */
const isShortened = (plain: string, exponent: string): boolean =>
  plain.includes(".") && exponent.replace(/\D/g, "").length > 1;

/** Reads the number of a cell with the given decimal sign; null when it is not an exact number. */
const digitsAs = ({ number, exponent }: Parts, sign: DecimalSign): string | null => {
  const plain = numberAs(number, sign);
  if (plain === null || exponent === null) return plain;
  return isShortened(plain, exponent) ? null : movePoint(plain, Number(exponent));
};

const otherSign = (sign: DecimalSign): DecimalSign => (sign === "point" ? "comma" : "point");

const reasonOf = (text: string, parts: Parts | null, sign: DecimalSign): string => {
  if (/^[-−–(]/.test(text) && /\d/.test(text)) return "a payout cannot pay a negative amount.";
  if (parts === null) return "write digits only, such as 1250.50.";
  const { number, exponent, units } = parts;
  if (units.some((unit) => MULTIPLIER.test(unit)))
    return "write the number with all its digits and without a word.";
  if (/^0\d/.test(number)) return "an amount does not begin with zeros.";
  if (exponent !== null && numberAs(number, sign) !== null)
    return "a spreadsheet may have shortened it. Write all its digits.";
  if (digitsAs(parts, otherSign(sign)) !== null)
    return `its decimal sign is a ${otherSign(sign)} where a ${sign} is expected.`;
  return "marks inside a number stand only between whole groups of digits, such as 1,250.50.";
};

const refusalOf = (text: string, parts: Parts | null, sign: DecimalSign): string =>
  `${quoted(text)} was not understood: ${reasonOf(text, parts, sign)}`;

/**
 * Reads the amount of a cell. All amounts from files, pasted rows and typed cells are read here.
 *
 * @example readAmountCell("1.250,50 €", "comma") // { amount: "1250.50", units: ["€"] }
 */
export const readAmountCell = (cell: Cell | undefined, sign: DecimalSign): AmountReading => {
  const text = cellText(cell);
  if (typeof cell === "object") {
    if (cell.cut)
      return { refusal: `${quoted(text)} has more digits than a spreadsheet's number keeps.` };
    if (text.startsWith("-")) return { refusal: refusalOf(text, null, sign) };
    return { amount: text, units: cell.units };
  }
  const parts = partsOf(text);
  const digits =
    parts === null || parts.units.some((unit) => MULTIPLIER.test(unit))
      ? null
      : digitsAs(parts, sign);
  if (parts === null || digits === null) return { refusal: refusalOf(text, parts, sign) };
  return { amount: digits, units: parts.units };
};

/** Reads an amount that a person typed, in the number format of the browser's locale. */
export const readTypedAmount = (text: string, locale?: string): AmountReading => {
  const number = partsOf(text.trim())?.number ?? "";
  return readAmountCell(text.trim(), typedSign(number, locale));
};

export interface SignGuess {
  /**
   * The decimal sign of the amounts; null when they do not show it, so that the person must choose.
   */
  readonly sign: DecimalSign | null;
  /**
   * Amounts that mean different numbers with a point and with a comma, as examples for the person
   * who chooses.
   */
  readonly examples: readonly string[];
}

const EXAMPLES_MAX = 3;

/**
 * Guesses the decimal sign of a column of amounts. Ignores cells that contain numbers instead of
 * text, because their value does not depend on a sign.
 */
export const guessSign = (cells: readonly (Cell | undefined)[]): SignGuess => {
  const unclear: string[] = [];
  const clear = { point: [] as string[], comma: [] as string[] };
  for (const cell of cells) {
    if (typeof cell !== "string") continue;
    const parts = partsOf(cell);
    if (parts === null) continue;
    const point = digitsAs(parts, "point");
    const comma = digitsAs(parts, "comma");
    if (point === comma) continue;
    if (comma === null) clear.point.push(cell);
    else if (point === null) clear.comma.push(cell);
    else unclear.push(cell);
  }
  const signs = (["point", "comma"] as const).filter((sign) => clear[sign].length > 0);
  const [only] = signs;
  if (signs.length === 1 && only !== undefined) return { sign: only, examples: [] };
  if (signs.length === 0 && unclear.length === 0) return { sign: "point", examples: [] };
  const examples = [...clear.point.slice(0, 1), ...clear.comma.slice(0, 1), ...unclear].slice(
    0,
    EXAMPLES_MAX,
  );
  return { sign: null, examples };
};
