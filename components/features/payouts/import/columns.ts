import { cellText, type Cell } from "./table";

export const FIELDS = ["recipient", "amount", "token", "reference", "note"] as const;
export type ImportField = (typeof FIELDS)[number];

/** Column of the file for each field; null where the file has none. */
export type Mapping = Readonly<Record<ImportField, number | null>>;

/** Names of columns, without case, spaces and signs; earlier ones are preferred. */
const NAMES = {
  recipient: [
    "recipientaddress",
    "walletaddress",
    "recipientaccountid",
    "recipientaccount",
    "toaddress",
    "address",
    "recipient",
    "receiver",
    "wallet",
    "payee",
    "beneficiary",
    "destination",
    "accountid",
    "account",
    "to",
  ],
  amount: ["amount", "value", "quantity", "qty", "sum", "total", "payment", "pay"],
  token: ["tokenaddress", "token", "currency", "asset", "coin", "symbol", "ticker", "ccy"],
  reference: [
    "reference",
    "paymentreference",
    "ref",
    "memo",
    "invoice",
    "invoiceno",
    "invoicenumber",
    "invoiceid",
    "description",
    "purpose",
  ],
  note: ["note", "notes", "internalnote", "comment", "comments", "remark", "remarks"],
} as const satisfies Record<ImportField, readonly string[]>;

const NOTHING: Mapping = { recipient: null, amount: null, token: null, reference: null, note: null };
const SAMPLE_ROWS = 50;

const bareName = (cell: Cell | undefined): string =>
  cellText(cell)
    .toLowerCase()
    .replace(/[^a-z]/g, "");

const byNames = (header: readonly Cell[]): Mapping => {
  const names = header.map(bareName);
  const find = (field: ImportField): number | null => {
    const name = NAMES[field].find((each) => names.includes(each));
    return name === undefined ? null : names.indexOf(name);
  };
  return {
    recipient: find("recipient"),
    amount: find("amount"),
    token: find("token"),
    reference: find("reference"),
    note: find("note"),
  };
};

const LOOKS_LIKE = {
  recipient: (text: string) => /^(0x[0-9a-f]{20,}|ga_)/i.test(text),
  amount: (text: string) => /^[\d.,'’\s]*\d[\d.,'’\s]*$/.test(text),
  token: (text: string) => /^[A-Z][A-Za-z0-9.]{1,10}$/.test(text),
} as const;

const widthOf = (rows: readonly (readonly Cell[])[]): number =>
  Math.max(0, ...rows.slice(0, SAMPLE_ROWS).map((row) => row.length));

/**
 * Fills what no name says by what most cells of a column look like. Where two columns could be meant none is chosen, and the person is
 * asked: an invoice number taken for an amount would be paid.
 */
const byContent = (rows: readonly (readonly Cell[])[], named: Mapping): Mapping => {
  const sample = rows.slice(0, SAMPLE_ROWS);
  const taken = new Set(Object.values(named));
  const free = new Set(Array.from({ length: widthOf(rows) }, (_, column) => column).filter((each) => !taken.has(each)));
  const take = (field: keyof typeof LOOKS_LIKE): number | null => {
    if (named[field] !== null) return named[field];
    const found = [...free].filter((column) => {
      const texts = sample.map((row) => cellText(row[column])).filter((text) => text !== "");
      return texts.length > 0 && texts.filter(LOOKS_LIKE[field]).length * 2 > texts.length;
    });
    const [only, second] = found;
    if (only === undefined || second !== undefined) return null;
    free.delete(only);
    return only;
  };
  return { ...named, recipient: take("recipient"), amount: take("amount"), token: take("token") };
};

/** Without any names, further columns of text are reference and note, in their order. */
const withTexts = (rows: readonly (readonly Cell[])[], mapping: Mapping): Mapping => {
  const taken = new Set(Object.values(mapping));
  const free = Array.from({ length: widthOf(rows) }, (_, column) => column).filter((each) => !taken.has(each));
  if (mapping.recipient === null || mapping.amount === null) return mapping;
  const [reference = null, note = null] = free;
  return { ...mapping, reference, note };
};

export interface Layout {
  /** Whether the first row names the columns. */
  readonly headed: boolean;
  readonly mapping: Mapping;
}

/** Whether the first row is a header, and which column is what. */
export const layoutOf = (rows: readonly (readonly Cell[])[]): Layout => {
  const [first = []] = rows;
  const named = byNames(first);
  const hasData = first.some((cell) => LOOKS_LIKE.recipient(cellText(cell)));
  if (!hasData && (named.recipient !== null || named.amount !== null))
    return { headed: true, mapping: byContent(rows.slice(1), named) };
  // A first line in words that are not known heads the columns all the same.
  const headed = !hasData && rows.length > 1 && first.every((cell) => typeof cell === "string" && !/\d/.test(cell));
  const body = rows.slice(headed ? 1 : 0);
  return { headed, mapping: withTexts(body, byContent(body, NOTHING)) };
};

/** Gives a column to a field; no column serves two fields. */
export const withColumn = (mapping: Mapping, field: ImportField, column: number | null): Mapping => {
  const others = Object.fromEntries(
    FIELDS.map((each) => [each, column !== null && mapping[each] === column ? null : mapping[each]]),
  );
  return { ...NOTHING, ...others, [field]: column };
};

const letterOf = (column: number): string =>
  column < 26 ? String.fromCharCode(65 + column) : letterOf(Math.floor(column / 26) - 1) + letterOf(column % 26);

/** Names of the columns for people: from the header, or `Column B`. */
export const columnNames = (rows: readonly (readonly Cell[])[], headed: boolean): readonly string[] => {
  return Array.from({ length: widthOf(rows) }, (_, column) => {
    const name = headed ? cellText(rows[0]?.[column]) : "";
    return name === "" ? `Column ${letterOf(column)}` : name;
  });
};
