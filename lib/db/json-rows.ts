/**
 * SQL for the rows of a parameter that is a JSON list, for a FROM clause: `jsonRows("$1", "id text, version int")`. PostgreSQL takes
 * `jsonb_to_recordset` for a hundred rows, and scans a whole table rather than look so many up. The limit tells it how many there are.
 */
export const jsonRows = (parameter: string, columns: string): string =>
  `(SELECT * FROM jsonb_to_recordset(${parameter}::jsonb) AS listed (${columns}) LIMIT jsonb_array_length(${parameter}::jsonb))`;
