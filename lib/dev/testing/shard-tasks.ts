/** Counts, from the plan of a statement, how many shards of a Citus cluster it uses. */
import pg from "pg";
import type { RecordedStatement } from "./recorded-statements";

const literal = (value: unknown): string => {
  if (value === null || value === undefined) return "NULL";
  if (value instanceof Date) return pg.escapeLiteral(value.toISOString());
  if (value instanceof Uint8Array)
    return pg.escapeLiteral(`\\x${Buffer.from(value).toString("hex")}`);
  if (Array.isArray(value))
    return pg.escapeLiteral(`{${value.map((one) => JSON.stringify(one)).join(",")}}`);
  if (typeof value === "bigint") return value.toString();
  return pg.escapeLiteral(typeof value === "string" ? value : JSON.stringify(value));
};

/**
 * Returns how many shards Citus uses for each part of a statement that it runs separately. Empty
 * for an INSERT of rows from a parameter, because Citus copies such rows to their shards. Puts the
 * values into the text, because Citus cannot explain an INSERT of a SELECT with parameters.
 */
export const tasksOf = async (
  client: Pick<pg.Pool, "query">,
  { text, values }: RecordedStatement,
): Promise<readonly number[]> => {
  const written = text.replace(/\$(\d+)/g, (_, number: string) =>
    literal(values[Number(number) - 1]),
  );
  const explained = written.replace(/^DECLARE .*? CURSOR FOR /, "");
  const { rows } = await client.query<{ "QUERY PLAN": string }>(
    `EXPLAIN (COSTS OFF) ${explained}`,
  );
  return rows.flatMap((line) => {
    const [, count] = /^\s*Task Count: (\d+)$/.exec(line["QUERY PLAN"]) ?? [];
    return count === undefined ? [] : [Number(count)];
  });
};

/** Whether the statement reads or changes one of the tables. */
export const touches = (
  tables: readonly string[],
): ((statement: RecordedStatement) => boolean) => {
  const pattern = new RegExp(
    `\\b(?:FROM|JOIN|UPDATE|INTO|USING)\\s+"?(?:${tables.join("|")})"?(?![\\w"])`,
    "i",
  );
  return ({ text }) => pattern.test(text);
};

/** An INSERT of rows from a parameter, which Citus copies to the shard of their project. */
const OF_A_PARAMETER = /^INSERT INTO .* FROM unnest\(\s*\$/;

export interface StatementTasks {
  readonly text: string;
  readonly tasks: readonly number[];
}

/** The statements that do not use exactly one shard. */
export const notOnOneShard = async (
  client: Pick<pg.Pool, "query">,
  statements: readonly RecordedStatement[],
): Promise<StatementTasks[]> => {
  const found: StatementTasks[] = [];
  for (const each of statements) {
    const tasks = await tasksOf(client, each);
    const isOne =
      tasks.length === 0 ? OF_A_PARAMETER.test(each.text) : tasks.every((count) => count === 1);
    if (!isOne) found.push({ text: each.text, tasks });
  }
  return found;
};
