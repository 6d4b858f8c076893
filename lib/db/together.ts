import type { Sql } from "./sql";

/** One INSERT, UPDATE or DELETE with constant text. Its parameters are `$1` to `$n`; the text has no other `$` before a digit. */
export interface StatementPart {
  readonly text: string;
  readonly values: readonly unknown[];
}

/**
 * Runs the parts as one statement. They see the same state of the database, and foreign keys are checked when all of them have run, so
 * a row and the rows that refer to it may be stored together. None of them may need what another one of them writes.
 */
export const changeTogether = async (sql: Sql, parts: readonly StatementPart[]): Promise<void> => {
  const values: unknown[] = [];
  const texts = parts.map((part, index) => {
    const before = values.length;
    values.push(...part.values);
    const text = part.text.replace(/\$(\d+)/g, (_, number: string) => `$${String(Number(number) + before)}`);
    return `part_${String(index)} AS (${text})`;
  });
  if (texts.length > 0) await sql.change(`WITH ${texts.join(", ")} SELECT 1`, values);
};
