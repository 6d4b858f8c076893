import type { Cell } from "./table";
import { cellText } from "./table";

/** Which sign stands before the fraction. */
export type DecimalSign = "point" | "comma";

const SIGNS = { point: ".", comma: "," } as const satisfies Record<DecimalSign, string>;
/** Spaces of any width and apostrophes group digits everywhere. */
const NEUTRAL_GROUPS = /[\s'’]/g;
const GROUPED = { point: /^\d{1,3}(,\d{3})+$/, comma: /^\d{1,3}(\.\d{3})+$/ } as const;

/** The decimal sign that one amount shows; `unclear`: `1,250` may be 1250 or 1.25. */
type Evidence = DecimalSign | "unclear" | "none";

const evidenceOf = (text: string): Evidence => {
  const bare = text.replace(NEUTRAL_GROUPS, "");
  if (!/^\d*([.,]\d+)+$/.test(bare)) return "none";
  const last = bare.lastIndexOf(".") > bare.lastIndexOf(",") ? "point" : "comma";
  const other = last === "point" ? "comma" : "point";
  if (bare.includes(".") && bare.includes(",")) return last;
  const parts = bare.split(SIGNS[last]);
  // Twice the same sign groups digits, so the other one would be the decimal sign.
  if (parts.length > 2) return other;
  const [whole = "", fraction = ""] = parts;
  return fraction.length !== 3 || whole === "" || whole.startsWith("0") || whole.length > 3 ? last : "unclear";
};

export interface SignGuess {
  /** Null: the amounts do not tell, so the person is asked. */
  readonly sign: DecimalSign | null;
  /** Amounts that read differently with the other sign, to show in the question. */
  readonly examples: readonly string[];
}

const EXAMPLES_MAX = 3;

/** The decimal sign of a column of amounts. Numbers of a spreadsheet need none. */
export const guessSign = (cells: readonly Cell[]): SignGuess => {
  const seen = { point: false, comma: false };
  const unclear: string[] = [];
  const clear: string[] = [];
  for (const cell of cells) {
    if (typeof cell === "number") continue;
    const evidence = evidenceOf(cell);
    if (evidence === "none") continue;
    if (evidence === "unclear") unclear.push(cell);
    else {
      seen[evidence] = true;
      clear.push(cell);
    }
  }
  const both = seen.point && seen.comma;
  const one = seen.point ? "point" : seen.comma ? "comma" : null;
  if (both) return { sign: null, examples: [...clear, ...unclear].slice(0, EXAMPLES_MAX) };
  if (one === null && unclear.length > 0) return { sign: null, examples: unclear.slice(0, EXAMPLES_MAX) };
  return { sign: one ?? "point", examples: [] };
};

const canonicalWhole = (text: string, sign: DecimalSign): string | null => {
  if (text === "" || /^\d+$/.test(text)) return text === "" ? "0" : text;
  return GROUPED[sign].test(text) ? text.replace(/[.,]/g, "") : null;
};

/**
 * `1.250,50` with a decimal comma → `1250.50`. Text that is no amount stays as it is, so that the check of the row names it.
 */
export const cellAmount = (cell: Cell | undefined, sign: DecimalSign): string => {
  const text = cellText(cell);
  if (typeof cell === "number") return text;
  const bare = text.replace(NEUTRAL_GROUPS, "");
  if (!/^[\d.,]+$/.test(bare)) return text;
  const at = bare.lastIndexOf(SIGNS[sign]);
  const whole = canonicalWhole(at === -1 ? bare : bare.slice(0, at), sign);
  const fraction = at === -1 ? "" : bare.slice(at + 1);
  if (whole === null || (at !== -1 && !/^\d+$/.test(fraction))) return text;
  return fraction === "" ? whole : `${whole}.${fraction}`;
};
