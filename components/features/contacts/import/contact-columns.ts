/** Finds the columns of a file of contacts. */
import {
  filledIn,
  freeColumns,
  type LayoutOf,
  type MappingOf,
  type Rows,
} from "@/components/features/file-import/layout";
import { type Cell, cellText, type Table } from "@/components/features/file-import/table";

export const CONTACT_COLUMNS = ["name", "address", "chains", "tags"] as const;
export type ContactColumn = (typeof CONTACT_COLUMNS)[number];
/** The texts of one row, by column. */
export type ContactCells = Readonly<Record<ContactColumn, string>>;
type ContactLayout = LayoutOf<ContactColumn>;

export const COLUMN_WORDS = {
  name: "Name",
  address: "Address",
  chains: "Chains",
  tags: "Tags",
} as const satisfies Record<ContactColumn, string>;

/** Known headings of each column, in lower case without spaces and signs. */
const NAMES: Readonly<Record<ContactColumn, readonly string[]>> = {
  name: "name contact contactname displayname fullname company companyname supplier vendor payee recipientname beneficiaryname label nickname".split(
    " ",
  ),
  address:
    "address wallet walletaddress recipientaddress toaddress accountaddress ethaddress evmaddress recipient destination account to".split(
      " ",
    ),
  chains: "chain chains chainid chainids chainname network networks blockchain".split(" "),
  tags: "tag tags group groups category categories labels".split(" "),
};

const NO_COLUMNS: MappingOf<ContactColumn> = {
  name: null,
  address: null,
  chains: null,
  tags: null,
};

const isAddress = (cell: Cell | undefined): boolean => /^0x[0-9a-f]{20,}/i.test(cellText(cell));

const columnOf = (heading: Cell): ContactColumn | null => {
  const bare = cellText(heading)
    .toLowerCase()
    .replace(/[^a-z]/g, "");
  return CONTACT_COLUMNS.find((column) => NAMES[column].includes(bare)) ?? null;
};

const holdsAddresses = (rows: Rows, column: number): boolean =>
  filledIn(rows, column).some(isAddress);

/**
 * Columns whose heading means `wanted`. When several headings mean an address, only the columns
 * that contain addresses.
 */
const named = (header: readonly Cell[], body: Rows, wanted: ContactColumn): number[] => {
  const found = header.flatMap((cell, column) => (columnOf(cell) === wanted ? [column] : []));
  if (wanted !== "address" || found.length < 2) return found;
  const fitting = found.filter((column) => holdsAddresses(body, column));
  return fitting.length === 0 ? found : fitting;
};

/**
 * Detects whether the first row is a header, and the meaning of each column. When no heading means
 * the address, the only column that contains addresses is the address column. In a file without a
 * header, the first column without a meaning has the names.
 */
export const contactLayoutOf = (rows: Rows): ContactLayout => {
  const [first = []] = rows;
  const headed =
    !first.some(isAddress) &&
    (first.some((cell) => columnOf(cell) !== null) || (rows.length > 1 && first.length > 1));
  const body = rows.slice(headed ? 1 : 0);
  const mapping: Record<ContactColumn, number | null> = { ...NO_COLUMNS };
  const open: Partial<Record<ContactColumn, readonly number[]>> = {};
  for (const column of CONTACT_COLUMNS) {
    const found = headed ? named(first, body, column) : [];
    if (found.length > 1) open[column] = found;
    else mapping[column] = found[0] ?? null;
  }
  if (mapping.address === null && open.address === undefined) {
    const fitting = freeColumns(body, { mapping, open }).filter((column) =>
      holdsAddresses(body, column),
    );
    if (fitting.length > 1) open.address = fitting;
    else mapping.address = fitting[0] ?? null;
  }
  if (!headed && mapping.name === null)
    mapping.name = freeColumns(body, { mapping, open })[0] ?? null;
  return { headed, mapping, open };
};

export const contactCellsOf = (
  table: Table,
  { headed, mapping }: ContactLayout,
): ContactCells[] => {
  const at = (row: readonly Cell[], column: number | null): string =>
    column === null ? "" : cellText(row[column]).trim();
  return table.rows.slice(headed ? 1 : 0).map((row) => ({
    name: at(row, mapping.name),
    address: at(row, mapping.address),
    chains: at(row, mapping.chains),
    tags: at(row, mapping.tags),
  }));
};
