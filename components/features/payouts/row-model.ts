import { amountProblem } from "@/components/features/global-accounts/fund-model";
import type { BodyInput } from "@/lib/contracts/contract";
import type { createAccountsPayout } from "@/lib/contracts/payouts";
import { isId } from "@/lib/core/ids";
import { parseAmount } from "@/lib/core/money";
import { parseCsv } from "./csv";

export type PayoutBody = BodyInput<typeof createAccountsPayout>;

/** A row as typed or read from a file. */
export interface PayoutRow {
  /** Stays the same while rows come and go. */
  readonly key: number;
  readonly recipient: string;
  readonly amount: string;
  readonly reference: string;
  /** As a file gave it; null where it gave none: the source's. */
  readonly currency: string | null;
}

type RowValues = Omit<PayoutRow, "key">;
export type RowField = "recipient" | "amount" | "reference";
/** Field → what is wrong with it. */
export type RowProblems = Readonly<Partial<Record<RowField, string>>>;

/** The account that pays. */
export interface PayoutSource {
  readonly id: string;
  readonly currency: string;
  readonly assetId: string;
  readonly decimals: number;
}

const REFERENCE_MAX = 140;

export const EMPTY_ROW: RowValues = { recipient: "", amount: "", reference: "", currency: null };

/** Nothing was typed into it; such rows are not sent. */
export const isBlank = ({ recipient, amount, reference }: RowValues): boolean =>
  recipient.trim() === "" && amount.trim() === "" && reference.trim() === "";

const isCurrency = (text: string, source: PayoutSource): boolean =>
  text.toLowerCase() === source.currency.toLowerCase() || text === source.assetId;

const recipientProblem = (text: string, source: PayoutSource): string | null => {
  if (text === "") return "Choose an account.";
  if (!isId("globalAccount", text)) return "This is no id of a global account: it begins with ga_.";
  return text === source.id ? "This is the account that pays." : null;
};

/** What this page can see by itself; the service checks everything again. */
export const problemsOf = (row: RowValues, source: PayoutSource): RowProblems => {
  const recipient = recipientProblem(row.recipient.trim(), source);
  const amount =
    row.currency !== null && !isCurrency(row.currency, source)
      ? `The file says ${row.currency}, but the source holds ${source.currency}.`
      : amountProblem(row.amount, source);
  return {
    ...(recipient === null ? {} : { recipient }),
    ...(amount === null ? {} : { amount }),
    ...(row.reference.trim().length > REFERENCE_MAX
      ? { reference: `At most ${String(REFERENCE_MAX)} characters.` }
      : {}),
  };
};

export const hasProblems = (problems: RowProblems): boolean => Object.keys(problems).length > 0;

/** The sum of the rows whose amounts are right, in base units. */
export const totalBase = (rows: readonly RowValues[], source: PayoutSource): bigint =>
  rows.reduce(
    (sum, { amount }) =>
      amountProblem(amount, source) === null ? sum + parseAmount(amount.trim(), source.decimals) : sum,
    0n,
  );

const contentOf = ({ recipient, amount, reference }: RowValues): string =>
  JSON.stringify([recipient.trim(), amount.trim(), reference.trim()]);

/** Keys of rows that say what an earlier row says already. */
export const repeatsOf = (rows: readonly PayoutRow[]): ReadonlySet<number> => {
  const seen = new Set<string>();
  return new Set(
    rows.flatMap((row) => {
      const content = contentOf(row);
      if (isBlank(row) || !seen.has(content)) {
        seen.add(content);
        return [];
      }
      return [row.key];
    }),
  );
};

/** Column of the file, without regard to case and signs → field. */
const COLUMNS: Readonly<Record<string, keyof RowValues>> = {
  recipientaccountid: "recipient",
  recipientaccount: "recipient",
  recipient: "recipient",
  accountid: "recipient",
  account: "recipient",
  amount: "amount",
  reference: "reference",
  currency: "currency",
};
const WITHOUT_HEADER: readonly (keyof RowValues)[] = ["recipient", "amount", "reference"];

const columnOf = (header: string): keyof RowValues | undefined => COLUMNS[header.toLowerCase().replace(/[^a-z]/g, "")];

/** Rows of a CSV text; without a header the columns are recipient, amount, reference. */
export const rowsFromCsv = (text: string): RowValues[] => {
  const [first = [], ...rest] = parseCsv(text);
  const named = first.map(columnOf);
  const headed = named.includes("recipient") || named.includes("amount");
  const fields = headed ? named : WITHOUT_HEADER;
  return (headed ? rest : first.length === 0 ? [] : [first, ...rest]).map((cells) => {
    const values = { ...EMPTY_ROW };
    fields.forEach((field, index) => {
      const cell = cells[index] ?? "";
      if (field !== undefined && !(field === "currency" && cell === "")) Object.assign(values, { [field]: cell });
    });
    return values;
  });
};

export interface PayoutOptions {
  readonly mode: "atomic" | "independent";
  readonly reference: string;
}

/** The body of `POST /payouts/bulk/global-accounts`, and the keys of its rows in their order. */
export const toPayoutBody = (
  rows: readonly PayoutRow[],
  source: PayoutSource,
  { mode, reference }: PayoutOptions,
): { readonly body: PayoutBody; readonly keys: readonly number[] } => {
  const sent = rows.filter((row) => !isBlank(row));
  return {
    keys: sent.map(({ key }) => key),
    body: {
      sourceAccountId: source.id,
      mode,
      ...(reference.trim() === "" ? {} : { reference: reference.trim() }),
      transfers: sent.map((row) => ({
        recipientAccountId: row.recipient.trim(),
        amount: row.amount.trim(),
        currency: source.assetId,
        ...(row.reference.trim() === "" ? {} : { reference: row.reference.trim() }),
      })),
    },
  };
};

const FIELD_OF: Readonly<Record<string, RowField>> = {
  recipientAccountId: "recipient",
  amount: "amount",
  currency: "amount",
  reference: "reference",
};

interface Detail {
  readonly path: string;
  readonly message: string;
}

/** What the service said about rows, by the key of the row; and whether that is all that it said. */
export const rowProblemsOf = (
  details: readonly Detail[],
  keys: readonly number[],
): { readonly rows: ReadonlyMap<number, RowProblems>; readonly complete: boolean } => {
  const rows = new Map<number, RowProblems>();
  let complete = details.length > 0;
  for (const { path, message } of details) {
    const [, index, name = ""] = /^transfers\.(\d+)(?:\.(\w+))?$/.exec(path) ?? [];
    const key = index === undefined ? undefined : keys[Number(index)];
    if (key === undefined) complete = false;
    // The first about a field is enough; what is about the row as a whole stands at its recipient.
    else rows.set(key, { [FIELD_OF[name] ?? "recipient"]: message, ...rows.get(key) });
  }
  return { rows, complete };
};
