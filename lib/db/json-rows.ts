/**
 * SQL for the rows of a parameter that is a JSON list, for a FROM clause: `jsonRows("$1", "id text, version int")`. PostgreSQL takes
 * `jsonb_to_recordset` for a hundred rows, and scans a whole table rather than look so many up. The limit tells it how many there are.
 *
 * With `orderedBy` the rows come in the order of that column's bytes. A statement that locks the row of each in a LATERAL subquery locks
 * them in this order, and looks each up by its key: of a table without statistics PostgreSQL expects next to nothing in a project, and
 * joins by scanning all of it.
 */
export const jsonRows = (parameter: string, columns: string, orderedBy?: string): string => {
  const order = orderedBy === undefined ? "" : ` ORDER BY listed.${orderedBy} COLLATE "C"`;
  return `(SELECT * FROM jsonb_to_recordset(${parameter}::jsonb) AS listed (${columns})${order} LIMIT jsonb_array_length(${parameter}::jsonb))`;
};
