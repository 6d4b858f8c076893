import { readAmountCell } from "./amount-format";
import { columnOfHeading, COLUMNS, type ImportColumn } from "./column-names";
import { type Cell, cellText } from "./table";

type Rows = readonly (readonly Cell[])[];

/** The file's column for each meaning; null when the file has none. */
export type Mapping = Readonly<Record<ImportColumn, number | null>>;

export interface Layout {
  /** Whether the first row is a header. */
  readonly headed: boolean;
  readonly mapping: Mapping;
  /**
   * Meanings for which several columns fit. The person must choose, because a wrong column would
   * lead to wrong payments.
   */
  readonly open: Readonly<Partial<Record<ImportColumn, readonly number[]>>>;
}

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
 * Whether a cell looks like a number, even when the number cannot be parsed. `Invoice 7` does not.
 */
const isNumeric = (cell: Cell): boolean =>
  typeof cell === "object" ||
  /^[\d.,'’\s]*\d[\d.,'’\s]*$/.test(cell) ||
  (/^(?:US)?[\p{Sc}\d.,]/u.test(cell) && isAmount(cell));

const looksLikeRecipient = (cell: Cell): boolean =>
  /^(?:[a-z0-9:-]+:)?(0x[0-9a-f]{20,}|ga_)/i.test(cellText(cell));

type Looks = (cell: Cell) => boolean;

/** Whether a cell can have this meaning. A column without such a cell is not offered for it. */
const CAN_BE: Partial<Record<ImportColumn, Looks>> = {
  recipient: (cell) =>
    looksLikeRecipient(cell) || /^[A-Z]{2}\d{2}[A-Z0-9 ]{10,}$|\.eth$/i.test(cellText(cell)),
  amount: (cell) => /\d/.test(cellText(cell)),
};
type Choice = Pick<Layout, "mapping" | "open">;

const looksLikeSymbol: Looks = (cell) => /^[A-Z][A-Za-z0-9.]{1,10}$/.test(cellText(cell));

const columnsIn = (rows: Rows): number =>
  rows.reduce((widest, row) => Math.max(widest, row.length), 0);

const freeColumns = (rows: Rows, { mapping, open }: Choice): readonly number[] => {
  const assigned = new Set([...Object.values(mapping), ...Object.values(open).flat()]);
  return Array.from({ length: columnsIn(rows) }, (_, column) => column).filter(
    (column) => !assigned.has(column),
  );
};

const filledIn = (rows: Rows, column: number): readonly Cell[] =>
  rows.map((row) => row[column] ?? "").filter((cell) => cellText(cell) !== "");

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
  // Only without a header, because names of people can look like token symbols.
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

/**
 * Assigns a column to a meaning. The meaning is then no longer open, and the column loses any other
 * meaning.
 */
export const withColumn = (
  layout: Layout,
  wanted: ImportColumn,
  column: number | null,
): Layout => {
  const { [wanted]: _, ...open } = layout.open;
  const others = Object.fromEntries(
    COLUMNS.map((each) => [
      each,
      column !== null && layout.mapping[each] === column ? null : layout.mapping[each],
    ]),
  );
  return { ...layout, open, mapping: { ...NO_MAPPING, ...others, [wanted]: column } };
};

export const columnLetter = (column: number): string =>
  column < 26
    ? String.fromCharCode(65 + column)
    : columnLetter(Math.floor(column / 26) - 1) + columnLetter(column % 26);

/** Names from the header, or `Column B`. */
export const columnNames = (rows: Rows, headed: boolean): readonly string[] =>
  Array.from({ length: columnsIn(rows) }, (_, column) => {
    const name = headed ? cellText(rows[0]?.[column]) : "";
    return name === "" ? `Column ${columnLetter(column)}` : name;
  });

const SAMPLES_SHOWN = 3;

/** Data by which a person recognises a column. */
export interface ColumnLook {
  readonly column: number;
  readonly letter: string;
  /** Empty when the column has no heading. */
  readonly heading: string;
  /** The first distinct texts of the column. */
  readonly samples: readonly string[];
}

export const lookOf = (rows: Rows, headed: boolean, column: number): ColumnLook => {
  const samples = new Set<string>();
  for (const cell of filledIn(rows.slice(headed ? 1 : 0), column)) {
    samples.add(cellText(cell));
    if (samples.size === SAMPLES_SHOWN) break;
  }
  return {
    column,
    letter: columnLetter(column),
    heading: headed ? cellText(rows[0]?.[column]) : "",
    samples: [...samples],
  };
};

/** Columns with content that the layout does not read. */
export const unreadColumns = (rows: Rows, layout: Layout): readonly ColumnLook[] =>
  freeColumns(rows, layout)
    .map((column) => lookOf(rows, layout.headed, column))
    .filter(({ samples }) => samples.length > 0);

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
  const name = bare(text);
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

/**
 * Names and short names (EIP-3770) of chains in files of other programs, with the chain's id; null
 * for chains that are not EVM chains.
 */
const CHAIN_IDS: Readonly<Record<string, number | null>> = {
  ethereum: 1,
  ethereummainnet: 1,
  mainnet: 1,
  eth: 1,
  sepolia: 11_155_111,
  sep: 11_155_111,
  optimism: 10,
  op: 10,
  opmainnet: 10,
  oeth: 10,
  bsc: 56,
  bnb: 56,
  bnbchain: 56,
  bnbsmartchain: 56,
  binancesmartchain: 56,
  gnosis: 100,
  gnosischain: 100,
  gno: 100,
  xdai: 100,
  polygon: 137,
  polygonpos: 137,
  matic: 137,
  pol: 137,
  base: 8_453,
  arbitrum: 42_161,
  arbitrumone: 42_161,
  arb: 42_161,
  arb1: 42_161,
  avalanche: 43_114,
  avalanchecchain: 43_114,
  avax: 43_114,
  celo: 42_220,
  linea: 59_144,
  scroll: 534_352,
  scr: 534_352,
  zksync: 324,
  zksyncera: 324,
  mantle: 5_000,
  unichain: 130,
  erc20: 1,
  bep20: 56,
  bitcoin: null,
  btc: null,
  solana: null,
  sol: null,
  spl: null,
  tron: null,
  trx: null,
  trc20: null,
  ton: null,
  stellar: null,
  ripple: null,
  xrp: null,
};
/** Symbols and token standards. They name a chain only in a column with a heading for chains. */
const ONLY_UNDER_HEADING = new Set(
  "eth bnb matic pol arb op avax celo sol trx btc xrp ton gno erc20 bep20 trc20 spl base xdai scr mantle".split(
    " ",
  ),
);

interface ChainName {
  readonly id: number;
  readonly name: string;
}

const bare = (text: string): string => text.toLowerCase().replace(/[^a-z0-9]/g, "");

const idOf = (text: string): number | null => {
  const [, digits] = /^(?:eip155:)?(\d{1,15})$/i.exec(text.trim()) ?? [];
  if (digits !== undefined) return Number(digits);
  const name = bare(text);
  return Object.hasOwn(CHAIN_IDS, name) ? (CHAIN_IDS[name] ?? null) : null;
};

/** Whether a cell names the chain by its name, id, CAIP-2 id or short name. */
export const namesChain = (text: string, chain: ChainName): boolean =>
  bare(text) === bare(chain.name) || idOf(text) === chain.id;

/**
 * Whether a text is certainly the name of a chain.
 * @param chains names of the configured chains
 */
const looksLikeChain = (text: string, chains: readonly string[]): boolean => {
  const name = bare(text);
  if (name === "") return false;
  if (/^eip155:\d+$/i.test(text.trim()) || chains.some((chain) => bare(chain) === name))
    return true;
  return Object.hasOwn(CHAIN_IDS, name) && !ONLY_UNDER_HEADING.has(name);
};
