import { isDomainError } from "@/lib/core/errors";

/** Classes of PostgreSQL's errors that are about the statements themselves: data, constraints, deadlocks, and locks not available. */
const REFUSALS = /^(?:22|23|40|55|P0)/;

/** One item of a batch cannot be processed, whatever the others are. Thrown before anything is committed. */
export class RefusedItemError extends Error {}

/** Whether an error is about what was asked, and nothing was committed. A lost connection or a time-out is a plain error of the driver without a code. */
export const isRefusal = (error: unknown): boolean => {
  if (isDomainError(error) || error instanceof RefusedItemError) return true;
  return error instanceof Error && "code" in error && typeof error.code === "string" && REFUSALS.test(error.code);
};

/**
 * Runs a batch in one transaction. When one of its items makes that fail, each item runs alone, so that it fails for its own reason and
 * not for another's. When the database does not answer, the whole batch fails.
 */
export const oneByOneAfterRefusal =
  <Item, Result>(run: (items: readonly Item[]) => Promise<readonly Result[]>) =>
  async (items: readonly Item[]): Promise<readonly (Result | Error)[]> => {
    try {
      return await run(items);
    } catch (error) {
      if (items.length === 1 || !isRefusal(error)) throw error;
    }
    const results: (Result | Error)[] = [];
    for (const [index, item] of items.entries()) {
      try {
        const [result] = await run([item]);
        results.push(result ?? new Error("The batch has no result for an item."));
      } catch (error) {
        const failure = error instanceof Error ? error : new Error(String(error));
        results.push(failure);
        // Without an answer from the database the rest would wait for their time-outs one after another.
        if (!isRefusal(failure)) return [...results, ...items.slice(index + 1).map(() => failure)];
      }
    }
    return results;
  };
