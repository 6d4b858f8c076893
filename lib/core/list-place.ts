/**
 * A position in a list that is sorted by a time or a name, then by id. It stays valid when the
 * record itself is deleted.
 */
export interface ListPlace {
  readonly id: string;
  /** An ISO 8601 time, or a name. */
  readonly key: string;
}

/** The position as the text inside a cursor. */
export const writePlace = ({ id, key }: ListPlace): string => `${id} ${key}`;

/** Reads a position that `writePlace` wrote; ids contain no space. */
export const readPlace = (text: string): ListPlace => {
  const end = text.indexOf(" ");
  if (end === -1) throw new Error("A cursor stands for no place of this list.");
  return { id: text.slice(0, end), key: text.slice(end + 1) };
};

/** The request for a page of a list. */
export interface ListQuery {
  readonly limit: number;
  /** The position at which the previous page ended. */
  readonly cursor?: string | undefined;
}

/** One page of a list, as a service returns it. */
export interface ListPage<Record> {
  readonly data: readonly Record[];
  /** The position of the last record; null on the last page. */
  readonly nextCursor: string | null;
}

/** The page made from up to `limit + 1` rows. One extra row shows that there is another page. */
export const pageOf = <Row>(
  rows: readonly Row[],
  limit: number,
  placeOf: (row: Row) => string,
): ListPage<Row> => {
  const data = rows.slice(0, limit);
  const last = data.at(-1);
  return { data, nextCursor: rows.length > limit && last !== undefined ? placeOf(last) : null };
};
