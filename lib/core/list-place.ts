/**
 * A position in a list that is sorted by a time or a name, and then by id. The position stays
 * valid when its record is deleted.
 */
export interface ListPlace {
  readonly id: string;
  /** An ISO 8601 time, or a name. */
  readonly key: string;
}

/** Encodes the position as the text of a cursor. */
export const writePlace = ({ id, key }: ListPlace): string => `${id} ${key}`;

/** Reads a position that `writePlace` wrote; ids contain no space. */
export const readPlace = (text: string): ListPlace => {
  const end = text.indexOf(" ");
  if (end === -1) throw new Error("A cursor stands for no place of this list.");
  return { id: text.slice(0, end), key: text.slice(end + 1) };
};

export interface ListQuery {
  readonly limit: number;
  /** The position of the last record of the previous page. */
  readonly cursor?: string | undefined;
}

export interface ListPage<Record> {
  readonly data: readonly Record[];
  /** The position of the last record; null on the last page. */
  readonly nextCursor: string | null;
}

/** Makes a page from up to `limit + 1` rows. The extra row shows that there is another page. */
export const pageOf = <Row>(
  rows: readonly Row[],
  limit: number,
  placeOf: (row: Row) => string,
): ListPage<Row> => {
  const data = rows.slice(0, limit);
  const last = data.at(-1);
  return { data, nextCursor: rows.length > limit && last !== undefined ? placeOf(last) : null };
};
