import pg from "pg";
import { afterAll } from "vitest";

export interface StatementCount {
  /** Statements since `reset` by their text, BEGIN and COMMIT included. */
  readonly byText: ReadonlyMap<string, number>;
  total(): number;
  reset(): void;
}

type Query = (this: pg.Client, ...parts: unknown[]) => unknown;

const textOf = (statement: unknown): string => {
  const text = typeof statement === "string" ? statement : (statement as { text?: string } | undefined)?.text;
  return (text ?? "").replace(/\s+/g, " ").trim();
};

/**
 * Counts every statement that this process sends on connections of the pool. Call it before the pool connects, once in a test file.
 */
export const countStatements = (pool: pg.Pool): StatementCount => {
  const byText = new Map<string, number>();
  const counted = new WeakSet<object>();
  pool.on("connect", (client) => counted.add(client));
  const prototype = pg.Client.prototype as unknown as { query: Query };
  const original = prototype.query;
  prototype.query = function (this: pg.Client, ...parts: unknown[]): unknown {
    if (counted.has(this)) {
      const text = textOf(parts[0]);
      byText.set(text, (byText.get(text) ?? 0) + 1);
    }
    return original.apply(this, parts);
  };
  afterAll(() => {
    prototype.query = original;
  });
  return {
    byText,
    total: () => [...byText.values()].reduce((sum, count) => sum + count, 0),
    reset: () => byText.clear(),
  };
};
