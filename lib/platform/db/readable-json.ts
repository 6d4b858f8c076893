/**
 * SQL that makes a `json` column readable with `->>`. The type `json` keeps escapes of U+0000 and
 * of lone surrogates, and `->>` then fails for every member of the value. Here U+FFFD replaces
 * them.
 * @param column a column of the type `json`
 */
export const readableJson = (column: string): string =>
  `regexp_replace(${column}::text, '\\\\u(0000|[dD][89a-fA-F]..)', '\\\\ufffd', 'g')::json`;
