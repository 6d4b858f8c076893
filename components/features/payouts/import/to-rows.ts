import { cellAmount, type DecimalSign } from "./amount-format";
import type { Layout } from "./columns";
import { cellText, type Cell, type Table } from "./table";

/** One payment of a file, as text. */
export interface ImportedRow {
  readonly recipient: string;
  readonly amount: string;
  readonly token: string;
  readonly reference: string;
  readonly note: string;
  /** The line has more cells than the header or than most lines: a comma inside an amount may have moved everything behind it. */
  readonly ragged: boolean;
}

/** How many cells most rows have. */
const usualWidth = (rows: Table["rows"]): number => {
  const counts = new Map<number, number>();
  for (const { length } of rows) counts.set(length, (counts.get(length) ?? 0) + 1);
  return [...counts].reduce((best, each) => (each[1] > best[1] ? each : best), [0, 0])[0];
};

/** Payments of a table, once it is known which column is what. */
export const toRows = (table: Table, { headed, mapping }: Layout, sign: DecimalSign): ImportedRow[] => {
  const rows = table.rows.slice(headed ? 1 : 0);
  const width = headed ? (table.rows[0]?.length ?? 0) : usualWidth(rows);
  const textAt = (row: readonly Cell[], column: number | null): string =>
    column === null ? "" : cellText(row[column]);
  return rows.map((row) => ({
    recipient: textAt(row, mapping.recipient),
    amount: mapping.amount === null ? "" : cellAmount(row[mapping.amount], sign),
    token: textAt(row, mapping.token),
    reference: textAt(row, mapping.reference),
    note: textAt(row, mapping.note),
    ragged: row.slice(width).some((cell) => cell !== ""),
  }));
};
