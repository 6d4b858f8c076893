/**
 * A `json` column whose members may be read as text. `json` keeps escapes of U+0000 and of half a surrogate pair, and `->>` then fails for
 * every member of the value. They are replaced by U+FFFD here.
 * @param column a column of the type `json`
 */
export const readableJson = (column: string): string =>
  `regexp_replace(${column}::text, '\\\\u(0000|[dD][89a-fA-F]..)', '\\\\ufffd', 'g')::json`;
