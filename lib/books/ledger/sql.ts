/** An id without its prefix, as the ledger's tables store it. */
export const bare = (id: string): string => id.slice(id.indexOf("_") + 1);

/** An array parameter of values that need no quoting, such as numbers and ids. */
export const plainArray = (values: readonly (string | number | bigint)[]): string =>
  `{${values.join(",")}}`;

export const idArray = (ids: readonly string[]): string => plainArray(ids.map(bare));

/** An array parameter of times, from milliseconds since 1970. */
export const timeArray = (times: readonly number[]): string =>
  plainArray(times.map((time) => new Date(time).toISOString()));
