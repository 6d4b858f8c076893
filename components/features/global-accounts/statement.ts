import { tablePdf } from "@/lib/core/pdf";
import type { ResponseOf } from "@/lib/contracts/contract";
import type { getReserveStatement } from "@/lib/contracts/reserves";
import { accountName, type Entry, type Statement } from "./account";

const COLUMNS = [
  { header: "Time (UTC)", width: 19 },
  { header: "What", width: 9 },
  { header: "Other account", width: 40 },
  { header: "Reference", width: 40 },
  { header: "Amount", width: 26, align: "right" },
  { header: "Balance", width: 26, align: "right" },
  { header: "Token", width: 8, isWhole: true },
] as const;

const timeText = (iso: string): string => iso.slice(0, 19).replace("T", " ");

const rowOf = (entry: Entry, currency: string): readonly string[] => [
  timeText(entry.createdAt),
  entry.kind,
  entry.counterpartyId ?? "",
  entry.reference ?? "",
  entry.amount,
  entry.balanceAfter,
  currency,
];

type Body = Omit<Statement, "account">;

interface PdfHead {
  readonly title: string;
  readonly account: string;
  readonly currency: string;
}

const bookPdf = (
  { title, account, currency }: PdfHead,
  statement: Body,
  madeAt: Date,
): string => {
  const { entries } = statement;
  const amount = (value: string): string => `${value} ${currency}`;
  const note = [
    "Note",
    `These are the first ${String(entries.length)} entries; the sums are of all.`,
  ] as const;
  return tablePdf({
    title,
    facts: [
      ["Account", account],
      ["Period (UTC)", `${timeText(statement.from)} to ${timeText(statement.to)}`],
      ["Made at (UTC)", timeText(madeAt.toISOString())],
      ["Opening balance", amount(statement.opening)],
    ],
    columns: COLUMNS,
    rows: entries.map((entry) => rowOf(entry, currency)),
    closing: [
      ["In", amount(statement.in)],
      ["Out", amount(statement.out)],
      ["Closing balance", amount(statement.closing)],
      ...(statement.truncated ? [note] : []),
    ],
  });
};

/**
 * The statement as a PDF file, oldest entry first. Amounts are not rounded and are in units of the
 * currency.
 */
export const statementPdf = (statement: Statement, madeAt: Date): string => {
  const { account } = statement;
  const title = `Statement of ${accountName(account)}`;
  return bookPdf({ title, account: account.id, currency: account.currency }, statement, madeAt);
};

/** The statement of a currency's reserve account as a PDF file. @see statementPdf */
export const reserveStatementPdf = (
  statement: ResponseOf<typeof getReserveStatement>,
  madeAt: Date,
): string => {
  const { currency } = statement;
  const account = "Reserve: what is owed to accounts and to withdrawals, below zero";
  return bookPdf(
    { title: `Statement of the ${currency} reserve`, account, currency },
    statement,
    madeAt,
  );
};

export const PERIODS = ["this-month", "last-month", "custom"] as const;
export type PeriodKind = (typeof PERIODS)[number];

interface CustomDays {
  /** First and last day, both included, such as `2026-11-21`; null when not chosen. */
  readonly from: string | null;
  readonly to: string | null;
}

/** The period of `GET …/statement`: `from` is included, `to` is not. */
export type StatementPeriod = { readonly from?: string; readonly to?: string };

const DAY = /^\d{4}-\d{2}-\d{2}$/;
const DAY_MS = 86_400_000;

const midnight = (day: string): Date | null => {
  if (!DAY.test(day)) return null;
  const at = new Date(`${day}T00:00:00.000Z`);
  // The parsed day is compared with the text, because `Date` reads 31 February as 3 March.
  return Number.isNaN(at.getTime()) || at.toISOString().slice(0, 10) !== day ? null : at;
};

const firstOfMonth = (now: Date, monthsBack: number): string =>
  new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() - monthsBack, 1)).toISOString();

/**
 * The period of a statement; null when the days are not valid. It begins at midnight UTC, so that
 * it does not depend on the reader's time zone.
 */
export const periodOf = (
  kind: PeriodKind,
  days: CustomDays,
  now: Date,
): StatementPeriod | null => {
  if (kind === "this-month") return { from: firstOfMonth(now, 0) };
  if (kind === "last-month") return { from: firstOfMonth(now, 1), to: firstOfMonth(now, 0) };
  const from = days.from === null ? null : midnight(days.from);
  const last = days.to === null ? null : midnight(days.to);
  if (from === null || last === null || last < from) return null;
  return { from: from.toISOString(), to: new Date(last.getTime() + DAY_MS).toISOString() };
};
