import type { Sql } from "./sql";

/** One INSERT, UPDATE or DELETE with constant text. Its parameters are `$1` to `$n`; the text has no other `$` before a digit. */
export interface StatementPart {
  readonly text: string;
  readonly values: readonly unknown[];
}

/**
 * Runs the parts as one statement. They see the same state of the database, and foreign keys are checked when all of them have run, so
 * a row and the rows that refer to it may be stored together. None of them may need what another one of them writes.
 * @param condition in SQL; the caller rolls back where it does not hold, because the parts have run all the same
 * @returns whether the condition held in the state that the parts saw
 */
export const changeTogether = async (
  sql: Sql,
  parts: readonly StatementPart[],
  condition: StatementPart | null = null,
): Promise<boolean> => {
  const values: unknown[] = [];
  const placed = (part: StatementPart): string => {
    const before = values.length;
    values.push(...part.values);
    return part.text.replace(/\$(\d+)/g, (_, number: string) => `$${String(Number(number) + before)}`);
  };
  const texts = parts.map((part, index) => `part_${String(index)} AS (${placed(part)})`);
  if (texts.length === 0 && condition === null) return true;
  const held = condition === null ? "SELECT 1" : `SELECT 1 WHERE ${placed(condition)}`;
  const together = texts.length === 0 ? held : `WITH ${texts.join(", ")} ${held}`;
  return (await sql.change(together, values)) === 1;
};
