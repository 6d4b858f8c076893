import { isDistributed } from "./layout";
import type { Sql, SqlReader } from "./sql";

/** One INSERT, UPDATE or DELETE with constant text. Its parameters are `$1` to `$n`; the text has no other `$` before a digit. */
export interface StatementPart {
  readonly text: string;
  readonly values: readonly unknown[];
  /** By which later parts of the same `changeAndJudge` may name its rows. */
  readonly name?: string;
}

/** A part that returns rows (RETURNING, or a SELECT), and the judgement of them. */
export interface JudgedPart extends StatementPart {
  /** Called with the rows when the statement has run. Throws where they show that nothing of the transaction may stay. */
  judge(rows: readonly Readonly<Record<string, unknown>>[]): Promise<void> | void;
  /** How many rows it has to return, which only `changeAllOrNothing` checks by itself. */
  readonly rowsExactly?: number;
}

const isJudged = (part: StatementPart): part is JudgedPart => "judge" in part;

const WITH_ROWS = "coalesce(jsonb_agg(to_jsonb(one)), '[]'::jsonb)";

/** Renumbers the parameters of several parts, so that they can share one list of values. */
const createPlacing = () => {
  const values: unknown[] = [];
  const placed = (part: StatementPart): string => {
    const before = values.length;
    values.push(...part.values);
    return part.text.replace(/\$(\d+)/g, (_, number: string) => `$${String(Number(number) + before)}`);
  };
  return { values, placed };
};

/** The parts before `part` whose rows it may name, as a statement of its own with it. */
const withNamed = (named: readonly StatementPart[], part: StatementPart): StatementPart => {
  const { values, placed } = createPlacing();
  const texts = named.map((one) => `${one.name ?? ""} AS (${placed(one)})`);
  const text = placed(part);
  return { text: texts.length === 0 ? text : `WITH ${texts.join(", ")} ${text}`, values };
};

/** Each part with the named ones before it, whose rows it may name. */
const groupsOf = (parts: readonly StatementPart[]): { named: readonly StatementPart[]; part: StatementPart }[] => {
  const groups: { named: readonly StatementPart[]; part: StatementPart }[] = [];
  let named: StatementPart[] = [];
  for (const [index, part] of parts.entries()) {
    if (part.name !== undefined && index < parts.length - 1) named.push(part);
    else {
      groups.push({ named, part });
      named = [];
    }
  }
  return groups;
};

/**
 * Runs the parts one after another, those with a judgement first: a distributed database has no statement that changes several tables.
 * The judgement of a part is asked before the next part runs.
 */
const changeSeparately = async (sql: SqlReader, parts: readonly StatementPart[]): Promise<void> => {
  const groups = groupsOf(parts);
  const ordered = [...groups.filter(({ part }) => isJudged(part)), ...groups.filter(({ part }) => !isJudged(part))];
  for (const { named, part } of ordered) {
    if (named.some(isJudged)) await runTogether(sql, [...named, part], () => null);
    else {
      const { text, values } = withNamed(named, part);
      const rows = await sql.query<Record<string, unknown>>(text, values);
      if (isJudged(part)) await part.judge(rows);
    }
  }
};

/**
 * Runs the parts as one statement, as `changeTogether` does, and then the judgements in the order of the parts. Parts with a judgement
 * run, and take their locks, in their order; the others run after them.
 * @param sql must be inside a transaction, which the caller rolls back when a judgement throws
 * @example
 * await changeAndJudge(sql, [{ text: "UPDATE quote SET … RETURNING id", values, judge: (rows) => { if (rows.length === 0) throw used; } }]);
 */
export const changeAndJudge = (sql: SqlReader, parts: readonly StatementPart[]): Promise<void> =>
  isDistributed(sql) ? changeSeparately(sql, parts) : runTogether(sql, parts, () => null);

/** A column that divides by zero unless the part returned as many rows as `place` says. PostgreSQL then refuses the whole statement, with all of its changes. */
const exactly = (name: string, place: string): string => `1 / ((SELECT count(*) FROM ${name}) = ${place}::int)::int`;
const DIVISION_BY_ZERO = "22012";

/**
 * As `changeAndJudge`, for one statement that is a transaction of its own: when a part returns another number of rows than `rowsExactly`, the
 * statement fails and nothing is changed. A part without `rowsExactly` may return any number. By the time of the judgements everything is
 * committed, so they may only keep what they get.
 * @param sql outside of any transaction
 * @returns whether everything was changed; always false on a distributed database, which has no such statement
 * @example
 * const isMoved = await changeAllOrNothing(sql, [{ text: "UPDATE leg SET … WHERE version = $1 RETURNING id", values, rowsExactly: 1, judge }]);
 */
export const changeAllOrNothing = async (sql: SqlReader, parts: readonly StatementPart[]): Promise<boolean> => {
  if (isDistributed(sql)) return false;
  try {
    await runTogether(sql, parts, ({ rowsExactly }) => rowsExactly ?? null);
    return true;
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === DIVISION_BY_ZERO) return false;
    throw error;
  }
};

/** @param rowsOf how many rows a part has to return; null where the judgement alone decides */
const runTogether = async (
  sql: SqlReader,
  parts: readonly StatementPart[],
  rowsOf: (part: JudgedPart) => number | null,
): Promise<void> => {
  if (parts.length === 0) return;
  const { values, placed } = createPlacing();
  const judged = parts.filter(isJudged);
  const names = new Map(parts.map((part, index) => [part, part.name ?? `part_${String(index)}`]));
  const texts = parts.map((part) => `${names.get(part) ?? ""} AS (${placed(part)})`);
  const asked = judged.flatMap((part, index) => {
    const [name, rows] = [names.get(part) ?? "", rowsOf(part)];
    const answer = `(SELECT ${WITH_ROWS} FROM ${name} AS one) AS judged_${String(index)}`;
    // Beside its rows, so that a part that is refused ends the statement before the next one takes its locks.
    return rows === null ? [answer] : [answer, exactly(name, `$${String(values.push(rows))}`)];
  });
  const [row = {}] = await sql.query<Record<string, Record<string, unknown>[]>>(
    `WITH ${texts.join(", ")} SELECT ${asked.length === 0 ? "1" : asked.join(", ")}`,
    values,
  );
  for (const [index, part] of judged.entries()) await part.judge(row[`judged_${String(index)}`] ?? []);
};

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
  if (isDistributed(sql)) {
    await changeSeparately(sql, parts);
    return condition === null || (await sql.query(`SELECT 1 WHERE ${condition.text}`, condition.values)).length === 1;
  }
  const { values, placed } = createPlacing();
  const texts = parts.map((part, index) => `part_${String(index)} AS (${placed(part)})`);
  if (texts.length === 0 && condition === null) return true;
  const held = condition === null ? "SELECT 1" : `SELECT 1 WHERE ${placed(condition)}`;
  const together = texts.length === 0 ? held : `WITH ${texts.join(", ")} ${held}`;
  return (await sql.change(together, values)) === 1;
};
