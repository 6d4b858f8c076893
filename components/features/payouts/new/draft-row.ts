import { countText } from "@/lib/core/amount-text";
import { FIELDS, type ImportField } from "../import/columns";

export const DRAFT_FIELDS = FIELDS;
export type DraftField = ImportField;

/** One payment as typed or read from a file. Rows are never changed, only replaced, so that findings about one can be kept. */
export interface DraftRow {
  /** Stays the same while rows come and go. */
  readonly key: number;
  readonly recipient: string;
  readonly amount: string;
  readonly token: string;
  readonly reference: string;
  readonly note: string;
  /** The line of the file had more cells than it should; see `ImportedRow`. */
  readonly ragged: boolean;
  /** Problems are shown: it came from a file, or the person has left it. */
  readonly checked: boolean;
}

export type DraftValues = Omit<DraftRow, "key">;

/** Field → what is wrong with it. */
export type RowProblems = Readonly<Partial<Record<DraftField, string>>>;

export const EMPTY_ROW: DraftValues = {
  recipient: "",
  amount: "",
  token: "",
  reference: "",
  note: "",
  ragged: false,
  checked: false,
};

/** Whether the row is empty. Empty rows are not sent. */
export const isBlank = (row: DraftValues): boolean => DRAFT_FIELDS.every((field) => row[field].trim() === "");

export const hasProblems = (problems: RowProblems): boolean => Object.keys(problems).length > 0;

/** How much of which token or currency a row pays. */
export interface RowMoney {
  readonly id: string;
  readonly symbol: string;
  readonly decimals: number;
  readonly base: bigint;
}

/** The rules that one kind of payout has for its rows. */
export interface RowRules {
  /** Columns of the table, in their order. */
  readonly fields: readonly DraftField[];
  readonly problemsOf: (row: DraftValues) => RowProblems;
  /** Null while the amount or the token is wrong. */
  readonly moneyOf: (row: DraftValues) => RowMoney | null;
  /** The same for rows that pay the same twice; null where that cannot be said yet. */
  readonly contentOf: (row: DraftValues) => string | null;
}

const CONTROL = /\p{Cc}/u;

/** Of a reference or a note. */
export const textProblem = (text: string, lengthMax: number): string | null => {
  if (text.length > lengthMax) return `At most ${String(lengthMax)} characters; this has ${countText(text.length)}.`;
  return CONTROL.test(text) ? "This has characters that cannot be stored, such as line ends. Remove them." : null;
};

/** Rules whose findings about a row are kept for as long as the row is. */
export const remembered = (rules: RowRules): RowRules => {
  const problems = new WeakMap<DraftValues, RowProblems>();
  return {
    ...rules,
    problemsOf: (row) => {
      const known = problems.get(row);
      if (known !== undefined) return known;
      const found = rules.problemsOf(row);
      problems.set(row, found);
      return found;
    },
  };
};

/** Keys of the rows that pay what an earlier row pays already, and the number of that row from 1. */
export const repeatsOf = (rows: readonly DraftRow[], rules: RowRules): ReadonlyMap<number, number> => {
  const first = new Map<string, number>();
  const repeats = new Map<number, number>();
  rows.forEach((row, index) => {
    const content = rules.contentOf(row);
    if (content === null) return;
    const earlier = first.get(content);
    if (earlier === undefined) first.set(content, index + 1);
    else repeats.set(row.key, earlier);
  });
  return repeats;
};

export interface DraftTotal extends RowMoney {
  readonly rows: number;
}

/** Sums of the rows that are right, for each token in the order of its first row. */
export const totalsOf = (rows: readonly DraftRow[], rules: RowRules): readonly DraftTotal[] => {
  const totals = new Map<string, DraftTotal>();
  for (const row of rows) {
    const money = rules.moneyOf(row);
    if (money === null) continue;
    const before = totals.get(money.id);
    totals.set(money.id, { ...money, base: money.base + (before?.base ?? 0n), rows: (before?.rows ?? 0) + 1 });
  }
  return [...totals.values()];
};
