import pg from "pg";
import { afterFile } from "./after-file";

type Query = (this: pg.Client, ...parts: unknown[]) => unknown;

const textOf = (statement: unknown): string => {
  const text = typeof statement === "string" ? statement : (statement as { text?: string } | undefined)?.text;
  return (text ?? "").replace(/\s+/g, " ").trim();
};

/** The texts of all statements that this process sends to PostgreSQL from now on, each once, until the end of the file. */
export const recordStatements = (): ReadonlySet<string> => {
  const texts = new Set<string>();
  const prototype = pg.Client.prototype as unknown as { query: Query };
  const original = prototype.query;
  prototype.query = function (this: pg.Client, ...parts: unknown[]): unknown {
    texts.add(textOf(parts[0]));
    return original.apply(this, parts);
  };
  afterFile(() => {
    prototype.query = original;
  });
  return texts;
};
