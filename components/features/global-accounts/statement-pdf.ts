import { tablePdf } from "@/lib/core/pdf";
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

/** The statement as a PDF file, oldest entry first. Amounts are whole, in units of the currency. */
export const statementPdf = (statement: Statement, madeAt: Date): string => {
  const { account, entries } = statement;
  const amount = (value: string): string => `${value} ${account.currency}`;
  return tablePdf({
    title: `Statement of ${accountName(account)}`,
    facts: [
      ["Account", account.id],
      ["Period (UTC)", `${timeText(statement.from)} to ${timeText(statement.to)}`],
      ["Made at (UTC)", timeText(madeAt.toISOString())],
      ["Opening balance", amount(statement.opening)],
    ],
    columns: COLUMNS,
    rows: entries.map((entry) => rowOf(entry, account.currency)),
    closing: [
      ["In", amount(statement.in)],
      ["Out", amount(statement.out)],
      ["Closing balance", amount(statement.closing)],
      ...(statement.truncated
        ? ([["Note", `These are the first ${String(entries.length)} entries; the sums are of all.`]] as const)
        : []),
    ],
  });
};
