import { readAmountCell } from "./amount-format";
import { columnOfHeading, COLUMNS, type ImportColumn } from "./column-names";
import { bareText, looksLikeChain } from "@/components/features/file-import/chain-names";
import {
  filledIn,
  freeColumns,
  type LayoutOf,
  type MappingOf,
  type Rows,
} from "@/components/features/file-import/layout";
import { type Cell, cellText } from "@/components/features/file-import/table";

export type Layout = LayoutOf<ImportColumn>;
type Mapping = MappingOf<ImportColumn>;

export const NO_MAPPING: Mapping = {
  recipient: null,
  amount: null,
  token: null,
  reference: null,
  note: null,
  chain: null,
  type: null,
};
const SAMPLE_ROWS = 50;

const isAmount = (cell: Cell): boolean =>
  "amount" in readAmountCell(cell, "point") || "amount" in readAmountCell(cell, "comma");

/**
 * Whether a cell looks like a number, even when the number cannot be parsed. `Invoice 7` does not
 * look like a number.
 */
const isNumeric = (cell: Cell): boolean =>
  typeof cell === "object" ||
  /^[\d.,'’\s]*\d[\d.,'’\s]*$/.test(cell) ||
  (/^(?:US)?[\p{Sc}\d.,]/u.test(cell) && isAmount(cell));

const looksLikeRecipient = (cell: Cell): boolean =>
  /^(?:[a-z0-9:-]+:)?(0x[0-9a-f]{20,}|ga_)/i.test(cellText(cell));

type Looks = (cell: Cell) => boolean;

/**
 * For each meaning, whether a cell can have it. A column without such a cell is not offered for
 * the meaning.
 */
const CAN_BE: Partial<Record<ImportColumn, Looks>> = {
  recipient: (cell) =>
    looksLikeRecipient(cell) || /^[A-Z]{2}\d{2}[A-Z0-9 ]{10,}$|\.eth$/i.test(cellText(cell)),
  amount: (cell) => /\d/.test(cellText(cell)),
};
type Choice = Pick<Layout, "mapping" | "open">;

const looksLikeSymbol: Looks = (cell) => /^[A-Z][A-Za-z0-9.]{1,10}$/.test(cellText(cell));

const mostOf = (cells: readonly Cell[], looks: Looks): boolean =>
  cells.length > 0 && cells.filter(looks).length * 2 > cells.length;

/**
 * Columns whose heading and content fit the meaning. Where several headings fit, empty columns and
 * columns with other content, such as names beside addresses, are left out.
 */
const namedColumns = (
  header: readonly Cell[],
  body: Rows,
  wanted: ImportColumn,
): readonly number[] => {
  const named = header.flatMap((cell, column) =>
    columnOfHeading(cell) === wanted ? [column] : [],
  );
  // The heading "Type" may be about anything, so the column must contain a known type.
  if (wanted === "type")
    return named.filter(
      (each) =>
        !/^\W*type\W*$/i.test(cellText(header[each])) || filledIn(body, each).some(isKnownType),
    );
  if (named.length < 2) return named;
  const filled = named.filter((column) => filledIn(body, column).length > 0);
  const canBe = CAN_BE[wanted];
  const fitting =
    canBe === undefined
      ? filled
      : filled.filter((column) => filledIn(body, column).some(canBe));
  if (fitting.length > 0) return fitting;
  return filled.length > 0 ? filled : named.slice(0, 1);
};

const byNames = (header: readonly Cell[], body: Rows): Choice => {
  const candidates = COLUMNS.map(
    (column) => [column, namedColumns(header, body, column)] as const,
  );
  return {
    mapping: {
      ...NO_MAPPING,
      ...Object.fromEntries(
        candidates.flatMap(([column, [only, second]]) =>
          second === undefined ? [[column, only ?? null]] : [],
        ),
      ),
    },
    open: Object.fromEntries(candidates.filter(([, found]) => found.length > 1)),
  };
};

/**
 * Finds columns by their content for the meanings that no heading names. When two columns fit or a
 * heading is unknown, the person must choose, because an invoice number could otherwise be paid as
 * an amount.
 */
const byContent = (
  body: Rows,
  header: readonly Cell[],
  { mapping, open }: Choice,
  chains: readonly string[],
): Choice => {
  const sample = body.slice(0, SAMPLE_ROWS);
  const found: Record<ImportColumn, number | null> = { ...mapping };
  const choices: Partial<Record<ImportColumn, readonly number[]>> = { ...open };
  const free = new Set(freeColumns(body, { mapping, open }));
  const look = (
    wanted: ImportColumn,
    looks: Looks,
    isSure: (column: number) => boolean,
  ): void => {
    if (found[wanted] !== null || choices[wanted] !== undefined) return;
    const fitting = [...free].filter((each) => mostOf(filledIn(sample, each), looks));
    const [only, second] = fitting;
    if (only === undefined) return;
    if (second === undefined && isSure(only)) found[wanted] = only;
    else choices[wanted] = fitting;
    for (const each of fitting) free.delete(each);
  };
  const hasNoHeading = (column: number): boolean => cellText(header[column]) === "";
  look("recipient", looksLikeRecipient, hasNoHeading);
  look(
    "chain",
    (cell) => looksLikeChain(cellText(cell), chains),
    () => true,
  );
  look("amount", isNumeric, hasNoHeading);
  // Symbols are searched only in files without a header, because names of people can look like
  // token symbols.
  if (header.length === 0) look("token", looksLikeSymbol, () => true);
  return { mapping: found, open: choices };
};

/** Takes the first two free columns of a file without headings as reference and note. */
const withTexts = (body: Rows, { mapping, open }: Choice): Choice => {
  if (mapping.recipient === null || mapping.amount === null) return { mapping, open };
  const [reference = null, note = null] = freeColumns(body, { mapping, open });
  return { mapping: { ...mapping, reference, note }, open };
};

/**
 * Detects whether the first row is a header, and the meaning of each column.
 *
 * @param chains names of the configured chains
 */
export const layoutOf = (rows: Rows, chains: readonly string[] = []): Layout => {
  const [first = []] = rows;
  const hasData = first.some(looksLikeRecipient);
  const names = first.map(columnOfHeading);
  if (!hasData && (names.includes("recipient") || names.includes("amount"))) {
    const body = rows.slice(1);
    return { headed: true, ...byContent(body, first, byNames(first, body), chains) };
  }
  // A first row of words without digits is a header, even when none of its words is known.
  const headed =
    !hasData &&
    rows.length > 1 &&
    first.every((cell) => typeof cell === "string" && !/\d/.test(cell));
  const body = rows.slice(headed ? 1 : 0);
  const content = byContent(
    body,
    headed ? first : [],
    { mapping: NO_MAPPING, open: {} },
    chains,
  );
  return { headed, ...(headed ? content : withTexts(body, content)) };
};

/** Restricts a layout to some meanings. Columns with other meanings are then listed as not read. */
export const limitedTo = (
  { headed, mapping, open }: Layout,
  columns: readonly ImportColumn[],
): Layout => ({
  headed,
  mapping: {
    ...NO_MAPPING,
    ...Object.fromEntries(columns.map((column) => [column, mapping[column]])),
  },
  open: Object.fromEntries(
    columns.flatMap((column) => (open[column] === undefined ? [] : [[column, open[column]]])),
  ),
});

/** Names of asset kinds in the files of Safe's CSV app and of other programs. */
const TYPES: Readonly<Record<string, "native" | "token" | "nft">> = {
  native: "native",
  coin: "native",
  nativecoin: "native",
  nativetoken: "native",
  erc20: "token",
  bep20: "token",
  token: "token",
  fungible: "token",
  nft: "nft",
  erc721: "nft",
  erc1155: "nft",
  collectible: "nft",
};

const typeOf = (text: string): (typeof TYPES)[string] | null => {
  const name = bareText(text);
  return Object.hasOwn(TYPES, name) ? (TYPES[name] ?? null) : null;
};

const isKnownType = (cell: Cell): boolean => typeOf(cellText(cell)) !== null;

/**
 * Notations for the chain's coin in place of a contract address: a word, or the address of
 * ERC-7528.
 */
const COIN = /^(?:native|0xe{40})$/i;

type TokenReading = { readonly token: string } | { readonly refusal: string };

interface TokenCells {
  readonly token: string;
  /** Null when the file has no column of types. */
  readonly type: string | null;
  /**
   * Whether the person confirmed that an empty token is the chain's coin, as in old files of Safe's
   * CSV app.
   */
  readonly emptyIsCoin: boolean;
}

/**
 * Reads the token of a row. An empty cell gets no default, because the row would then be paid in a
 * token that nobody chose.
 */
export const readToken = ({ token, type, emptyIsCoin }: TokenCells): TokenReading => {
  const kind = type === null || type === "" ? null : typeOf(type);
  if (type !== null && type !== "" && kind === null)
    return {
      refusal: `The type "${type.slice(0, 20)}" was not understood. It can be native or erc20.`,
    };
  if (kind === "nft")
    return {
      refusal: `The row sends an NFT ("${type ?? ""}"); a payout pays coins and tokens only.`,
    };
  if (kind === "native")
    return token === "" || COIN.test(token)
      ? { token: "native" }
      : {
          refusal: `The type says native, but the row names the token "${token.slice(0, 42)}".`,
        };
  if (kind === "token" && COIN.test(token))
    return { refusal: `The type says "${type ?? ""}", but the row names the chain's coin.` };
  if (token !== "") return { token: COIN.test(token) ? "native" : token };
  return kind === null && emptyIsCoin
    ? { token: "native" }
    : { refusal: "The cell is empty. Enter the token that this row pays." };
};
