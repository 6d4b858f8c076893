/** Which column of a file has which meaning. */
import { type Cell, cellText } from "./table";

export type Rows = readonly (readonly Cell[])[];

/** The file's column for each meaning; null when the file has none. */
export type MappingOf<Column extends string> = Readonly<Record<Column, number | null>>;

export interface LayoutOf<Column extends string> {
  /** Whether the first row is a header. */
  readonly headed: boolean;
  readonly mapping: MappingOf<Column>;
  /**
   * For each meaning that several columns fit, the indexes of these columns. The person must choose
   * one of them.
   */
  readonly open: Readonly<Partial<Record<Column, readonly number[]>>>;
}

type Choice = Pick<LayoutOf<string>, "mapping" | "open">;

const columnsIn = (rows: Rows): number =>
  rows.reduce((widest, row) => Math.max(widest, row.length), 0);

/** Columns without a meaning that are also not candidates for one. */
export const freeColumns = (rows: Rows, { mapping, open }: Choice): readonly number[] => {
  const assigned = new Set([
    ...Object.values(mapping),
    ...Object.values(open).flatMap((columns) => columns ?? []),
  ]);
  return Array.from({ length: columnsIn(rows) }, (_, column) => column).filter(
    (column) => !assigned.has(column),
  );
};

/** The cells of a column that are not empty. */
export const filledIn = (rows: Rows, column: number): readonly Cell[] =>
  rows.map((row) => row[column] ?? "").filter((cell) => cellText(cell) !== "");

/**
 * Assigns a column to a meaning. The meaning is then no longer open, and the column loses any other
 * meaning.
 */
export const withColumn = <Column extends string>(
  layout: LayoutOf<Column>,
  wanted: NoInfer<Column>,
  column: number | null,
): LayoutOf<Column> => {
  const others = Object.entries<number | null>(layout.mapping).map(([each, at]) => [
    each,
    column !== null && at === column ? null : at,
  ]);
  const stillOpen = Object.entries(layout.open).filter(([each]) => each !== wanted);
  return {
    ...layout,
    open: Object.fromEntries(stillOpen) as LayoutOf<Column>["open"],
    mapping: { ...Object.fromEntries(others), [wanted]: column } as MappingOf<Column>,
  };
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
export const unreadColumns = (rows: Rows, layout: LayoutOf<string>): readonly ColumnLook[] =>
  freeColumns(rows, layout)
    .map((column) => lookOf(rows, layout.headed, column))
    .filter(({ samples }) => samples.length > 0);
