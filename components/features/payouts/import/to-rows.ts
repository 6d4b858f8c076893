import { type DecimalSign, readAmountCell } from "./amount-format";
import { headingUnit, type ImportField } from "./column-names";
import { columnLetter } from "@/components/features/file-import/layout";
import { type Layout, readToken } from "./columns";
import { type Cell, type Table, cellText } from "@/components/features/file-import/table";

/**
 * For each field, why the file's cell was refused. The row cannot be paid until the person corrects
 * the field.
 */
type Refusals = Readonly<Partial<Record<ImportField, string>>>;

export interface ImportedRow {
  readonly recipient: string;
  /** Decimal digits, or the cell's text when it was refused. */
  readonly amount: string;
  /** Units beside the amount in the file. The row's token must match them. */
  readonly units: readonly string[];
  readonly token: string;
  readonly reference: string;
  readonly note: string;
  /** The chains that the file names for the row. */
  readonly chains: readonly string[];
  readonly refusals: Refusals;
}

interface FileChoices {
  readonly sign: DecimalSign;
  readonly emptyIsCoin: boolean;
}

const RAGGED =
  "This line has more cells than the others. Check for a comma inside the amount, then enter it again.";

const NO_CHAIN = "(no chain)";

/** The most frequent number of cells in a row. */
const usualWidth = (rows: Table["rows"]): number => {
  const counts = new Map<number, number>();
  for (const { length } of rows) counts.set(length, (counts.get(length) ?? 0) + 1);
  return [...counts].reduce((best, each) => (each[1] > best[1] ? each : best), [0, 0])[0];
};

/** Matches an address with its chain: `eth:0x…` (EIP-3770) or `eip155:1:0x…` (CAIP-10). */
const PREFIXED = /^(?<chain>eip155:\d+|[a-z0-9-]+):(?<address>0x[0-9a-f]+)$/i;

interface Place {
  readonly layout: Layout;
  readonly choices: FileChoices;
  /**
   * The usual number of cells in a row. Rows with more cells are refused, because a comma inside
   * an amount may have shifted the cells after it.
   */
  readonly width: number;
  /** The unit in the heading of the amounts. */
  readonly unit: string | null;
}

const textAt = (row: readonly Cell[], column: number | null): string =>
  column === null ? "" : cellText(row[column]);

const amountOf = (
  row: readonly Cell[],
  line: number,
  { layout, choices, width, unit }: Place,
) => {
  const { amount: column } = layout.mapping;
  const text = textAt(row, column);
  const headed = unit === null ? [] : [unit];
  if (row.slice(width).some((cell) => cellText(cell) !== ""))
    return { amount: text, units: headed, refusal: RAGGED };
  if (column === null || text === "") return { amount: text, units: headed };
  const reading = readAmountCell(row[column], choices.sign);
  if ("amount" in reading)
    return { amount: reading.amount, units: [...reading.units, ...headed] };
  const isCell = typeof row[column] === "object";
  const refusal = isCell
    ? `Cell ${columnLetter(column)}${String(line)}: ${reading.refusal} Format the cell as text, or enter the amount here.`
    : reading.refusal;
  return { amount: text, units: headed, refusal };
};

const chainsOf = (
  row: readonly Cell[],
  { mapping }: Layout,
  prefix: string | undefined,
): readonly string[] => {
  const cell = textAt(row, mapping.chain);
  return [
    ...(mapping.chain === null ? [] : [cell === "" ? NO_CHAIN : cell]),
    ...(prefix === undefined ? [] : [prefix]),
  ];
};

const tokenOf = (
  row: readonly Cell[],
  { layout: { mapping }, choices: { emptyIsCoin } }: Place,
) => {
  if (mapping.token === null && mapping.type === null) return { token: "" };
  const token = textAt(row, mapping.token);
  return {
    token,
    ...readToken({
      token,
      type: mapping.type === null ? null : textAt(row, mapping.type),
      emptyIsCoin,
    }),
  };
};

const toRow = (row: readonly Cell[], line: number, place: Place): ImportedRow => {
  const { mapping } = place.layout;
  const cell = textAt(row, mapping.recipient);
  const { chain: prefix, address } = PREFIXED.exec(cell)?.groups ?? {};
  const amount = amountOf(row, line, place);
  const token = tokenOf(row, place);
  return {
    recipient: address ?? cell,
    amount: amount.amount,
    units: amount.units,
    token: token.token,
    reference: textAt(row, mapping.reference),
    note: textAt(row, mapping.note),
    chains: chainsOf(row, place.layout, prefix),
    refusals: {
      ...(amount.refusal === undefined ? {} : { amount: amount.refusal }),
      ...("refusal" in token ? { token: token.refusal } : {}),
    },
  };
};

export const toRows = (table: Table, layout: Layout, choices: FileChoices): ImportedRow[] => {
  const skipped = layout.headed ? 1 : 0;
  const rows = table.rows.slice(skipped);
  const [header = []] = table.rows;
  const { amount } = layout.mapping;
  const place: Place = {
    layout,
    choices,
    width: layout.headed ? header.length : usualWidth(rows),
    unit: layout.headed && amount !== null ? headingUnit(header[amount]) : null,
  };
  return rows.map((row, index) => toRow(row, table.lines[index + skipped] ?? index + 1, place));
};

/**
 * Whether a file has the old format of Safe's CSV app, where an empty token is the chain's coin.
 */
export const isOldSafeFile = (table: Table, { headed, mapping }: Layout): boolean => {
  const names = headed
    ? (table.rows[0] ?? []).map((cell) => cellText(cell).trim().toLowerCase())
    : [];
  return (
    mapping.type === null &&
    names.includes("token_address") &&
    names.includes("receiver") &&
    (names.includes("amount") || names.includes("value"))
  );
};
