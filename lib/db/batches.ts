import { isDomainError } from "@/lib/core/errors";

/** Classes of PostgreSQL's errors that are about the statements themselves: data, constraints, deadlocks, and locks not available. */
const REFUSALS = /^(?:22|23|40|55|P0)/;

const isRefusal = (error: unknown): boolean => {
  if (isDomainError(error)) return true;
  if (!(error instanceof Error)) return false;
  const code = "code" in error ? error.code : undefined;
  // An error without a code is our own, thrown before anything was committed.
  return code === undefined ? error.constructor === Error : typeof code === "string" && REFUSALS.test(code);
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
    for (const item of items) {
      const [result] = await run([item]).catch((error: unknown) => [
        error instanceof Error ? error : new Error(String(error)),
      ]);
      results.push(result ?? new Error("The batch has no result for an item."));
    }
    return results;
  };
