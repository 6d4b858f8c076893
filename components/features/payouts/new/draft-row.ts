import { z } from "zod";
import type { ImportKind } from "@/components/features/file-import/read-import";
import { tabStore } from "@/components/ui/tab-store";
import { PAYOUT_ROWS_MAX } from "@/lib/core/payout-facts";
import { countText } from "@/lib/core/amount-text";
import { FIELDS, type ImportColumn, type ImportField } from "../import/column-names";
import type { ImportedRow } from "../import/to-rows";

export const DRAFT_FIELDS = FIELDS;
export type DraftField = ImportField;

export interface DraftValues extends ImportedRow {
  /**
   * Whether the row's problems are shown, because the row came from a file or the person has left
   * it.
   */
  readonly checked: boolean;
}

/** A payment in the list. Rows are immutable, so that their problems can be cached. */
export interface DraftRow extends DraftValues {
  /** Identifies the row in the list. It stays the same while other rows are added and removed. */
  readonly key: number;
}

/** The problem of each field. `row` has the problem of the row as a whole. */
export type RowProblems = Readonly<Partial<Record<DraftField | "row", string>>>;

/** The kind of import that reads a file of payments into one payout. */
export const PAYOUT_FILE: ImportKind = {
  rowsMax: PAYOUT_ROWS_MAX,
  row: "payment",
  whole: "a payout",
  banks: true,
};

export const EMPTY_ROW: DraftValues = {
  recipient: "",
  amount: "",
  token: "",
  reference: "",
  note: "",
  units: [],
  chains: [],
  refusals: {},
  checked: false,
};

/** Whether the row is empty. Empty rows are not sent. */
export const isBlank = (row: DraftValues): boolean =>
  DRAFT_FIELDS.every((field) => row[field].trim() === "");

export const hasProblems = (problems: RowProblems): boolean => Object.keys(problems).length > 0;

export interface RowMoney {
  readonly id: string;
  readonly symbol: string;
  readonly decimals: number;
  readonly base: bigint;
}

export interface RowRules {
  /** Columns of the table, in their order. */
  readonly fields: readonly DraftField[];
  /** Columns that are read from a file. */
  readonly columns: readonly ImportColumn[];
  readonly problemsOf: (row: DraftValues) => RowProblems;
  /** The money that the row pays; null while the row has a problem. */
  readonly moneyOf: (row: DraftValues) => RowMoney | null;
  /**
   * A text that is equal for two rows with the same payment; null while the row is not complete.
   */
  readonly contentOf: (row: DraftValues) => string | null;
}

const CONTROL = /\p{Cc}/u;

export const textProblem = (text: string, lengthMax: number): string | null => {
  if (text.length > lengthMax)
    return `At most ${String(lengthMax)} characters; this has ${countText(text.length)}.`;
  return CONTROL.test(text)
    ? "This has characters that cannot be stored, such as line ends. Remove them."
    : null;
};

/** Removes the fields without a problem. */
export const foundProblems = (
  checks: Readonly<Partial<Record<keyof RowProblems, string | null>>>,
): RowProblems =>
  Object.fromEntries(Object.entries(checks).filter(([, problem]) => problem !== null));

interface KindRules extends Pick<RowRules, "fields" | "columns" | "problemsOf"> {
  /**
   * The money that a row pays; null while its token is unknown. The row's amount is already
   * checked.
   */
  readonly payOf: (row: DraftValues) => RowMoney | null;
}

/**
 * Adds `moneyOf` and `contentOf` to the rules of one kind of payout. Also caches the problems of
 * each row, because rows are immutable.
 */
export const rowRules = ({ payOf, ...kind }: KindRules): RowRules => {
  const cache = new WeakMap<DraftValues, RowProblems>();
  const problemsOf = (row: DraftValues): RowProblems => {
    const cached = cache.get(row);
    if (cached !== undefined) return cached;
    const problems = kind.problemsOf(row);
    cache.set(row, problems);
    return problems;
  };
  return {
    ...kind,
    problemsOf,
    moneyOf: (row) => (hasProblems(problemsOf(row)) ? null : payOf(row)),
    contentOf: (row) => {
      const recipient = row.recipient.trim().toLowerCase();
      if (recipient === "" || problemsOf(row).amount !== undefined) return null;
      const money = payOf(row);
      if (money === null) return null;
      return JSON.stringify([recipient, money.id, String(money.base), row.reference.trim()]);
    },
  };
};

/** The trimmed text; undefined when it is empty, so that a request leaves it out. */
export const filledText = (text: string): string | undefined => text.trim() || undefined;

/**
 * The values that change when a person edits a field. The field's import error is removed, and for
 * an amount also its units, because both belong to the old value.
 */
export const edited = (
  row: DraftValues,
  field: DraftField,
  value: string,
): Partial<DraftValues> => {
  const { [field]: _, ...refusals } = row.refusals;
  return { [field]: value, refusals, ...(field === "amount" ? { units: [] } : {}) };
};

/**
 * For the key of each row that pays the same as an earlier row, the number of the earlier row,
 * from 1.
 */
export const repeatsOf = (
  rows: readonly DraftRow[],
  rules: RowRules,
): ReadonlyMap<number, number> => {
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

/** Sums of the rows without problems, for each token in the order of its first row. */
export const totalsOf = (rows: readonly DraftRow[], rules: RowRules): readonly DraftTotal[] => {
  const totals = new Map<string, DraftTotal>();
  for (const row of rows) {
    const money = rules.moneyOf(row);
    if (money === null) continue;
    const before = totals.get(money.id);
    totals.set(money.id, {
      ...money,
      base: money.base + (before?.base ?? 0n),
      rows: (before?.rows ?? 0) + 1,
    });
  }
  return [...totals.values()];
};

const draftRow = z.object({
  recipient: z.string(),
  amount: z.string(),
  units: z.array(z.string()),
  token: z.string(),
  reference: z.string(),
  note: z.string(),
  chains: z.array(z.string()),
  refusals: z.partialRecord(z.enum(FIELDS), z.string()),
  checked: z.boolean(),
});

const draft = tabStore(
  "causeway.payout.draft",
  z.object({
    owner: z.string(),
    kind: z.string(),
    rows: z.array(draftRow).min(1).max(PAYOUT_ROWS_MAX),
  }),
);

/** Identifies a draft, which is shown only to its owner. */
export interface DraftOwner {
  /** Id of the project's treasury. */
  readonly owner: string;
  readonly kind: string;
}

/** The rows that were stored in this tab before a reload; null when there are none. */
export const readDraft = ({ owner, kind }: DraftOwner): readonly DraftValues[] | null => {
  const found = draft.read();
  return found?.owner === owner && found.kind === kind ? found.rows : null;
};

export const saveDraft = (of: DraftOwner, rows: readonly DraftValues[]): void =>
  draft.save({ ...of, rows: rows.map((row) => draftRow.parse(row)) });

export const dropDraft = draft.drop;
