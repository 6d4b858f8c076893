/**
 * SQL for a FROM clause that turns a JSON list parameter into rows: `jsonRows("$1", "id text,
 * version int")`. PostgreSQL estimates a hundred rows for `jsonb_to_recordset`, and then scans a
 * whole table instead of looking that many up. The limit gives it the real number.
 * With `orderedBy` the rows come in the byte order of that column. A statement that locks each row
 * in a LATERAL subquery then locks them in this order and looks each up by key. With a join on a
 * table without statistics, PostgreSQL would expect nearly no rows in a project and scan all of it.
 */
export const jsonRows = (parameter: string, columns: string, orderedBy?: string): string => {
  const order = orderedBy === undefined ? "" : ` ORDER BY listed.${orderedBy} COLLATE "C"`;
  return `(SELECT * FROM jsonb_to_recordset(${parameter}::jsonb) AS listed (${columns})${order} LIMIT jsonb_array_length(${parameter}::jsonb))`;
};
