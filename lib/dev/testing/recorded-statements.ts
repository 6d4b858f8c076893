import pg from "pg";
import { afterFile } from "./after-file";

type Query = (this: pg.Client, ...parts: unknown[]) => unknown;

/** A statement as sent to PostgreSQL. */
export interface RecordedStatement {
  readonly text: string;
  readonly values: readonly unknown[];
}

const readStatement = ([first, second]: readonly unknown[]): RecordedStatement => {
  const { text, values } =
    typeof first === "string"
      ? { text: first, values: second }
      : ((first ?? {}) as Partial<RecordedStatement>);
  return {
    text: (text ?? "").replace(/\s+/g, " ").trim(),
    values: Array.isArray(values) ? values : [],
  };
};

/**
 * Records all statements that this process sends to PostgreSQL until the end of the test file. For
 * each text, the map contains the statement as it was last sent.
 */
export const recordStatements = (): ReadonlyMap<string, RecordedStatement> => {
  const statements = new Map<string, RecordedStatement>();
  const prototype = pg.Client.prototype as unknown as { query: Query };
  const original = prototype.query;
  prototype.query = function (this: pg.Client, ...parts: unknown[]): unknown {
    const statement = readStatement(parts);
    statements.set(statement.text, statement);
    return original.apply(this, parts);
  };
  afterFile(() => {
    prototype.query = original;
  });
  return statements;
};
