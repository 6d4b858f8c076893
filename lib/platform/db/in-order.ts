import type { PipelinedSql, Sql } from "./sql";

type Step = () => Promise<unknown>;
type Results<Steps extends readonly Step[]> = {
  -readonly [Place in keyof Steps]: Awaited<ReturnType<Steps[Place]>>;
};

const isPipelined = (sql: Sql): sql is PipelinedSql => "together" in sql;

/**
 * Runs steps of a transaction one after another. On a connection with a pipeline, all are sent
 * immediately, without waiting for each other's answers, and the server runs them in order. So no
 * step may need the result of another one, and each must send its statements before its first wait.
 * A step that finds that the transaction must not commit throws; later steps may have run by then,
 * and the caller rolls back.
 * @returns the results of the steps, in order
 * @throws the error of the first step that failed
 * @example
 * const [version, heldBase] = await inOrder(sql, [() => lockGuard(sql, key), () => heldSince(sql,
 * key)]);
 */
export const inOrder = async <const Steps extends readonly Step[]>(
  sql: Sql,
  steps: Steps,
): Promise<Results<Steps>> => {
  if (!isPipelined(sql)) {
    const results: unknown[] = [];
    for (const step of steps) results.push(await step());
    return results as Results<Steps>;
  }
  const sent = sql.together(() => steps.map(async (step) => step()));
  const results = await Promise.allSettled(sent);
  return results.map((result) => {
    if (result.status === "rejected") throw result.reason;
    return result.value;
  }) as Results<Steps>;
};
