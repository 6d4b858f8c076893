/** An id without its prefix, as the ledger's tables keep it. */
export const bare = (id: string): string => id.slice(id.indexOf("_") + 1);

/** An array parameter of numbers or ids: what needs no quoting is not quoted. */
export const plainArray = (values: readonly (string | number | bigint)[]): string => `{${values.join(",")}}`;

export const idArray = (ids: readonly string[]): string => plainArray(ids.map(bare));

/** Milliseconds since 1970 → what PostgreSQL reads as a time. */
export const timeArray = (times: readonly number[]): string =>
  plainArray(times.map((time) => new Date(time).toISOString()));
