import { isDomainError } from "@/lib/core/errors";

/**
 * Classes of PostgreSQL errors that the statements themselves cause: data, constraints, deadlocks,
 * and locks not available.
 */
const REFUSALS = /^(?:22|23|40|55|P0)/;

/** How many groups of a batch run at the same time. Each needs a connection of a shared pool. */
const GROUPS_AT_ONCE = 4;

/** Thrown when one item cannot be processed in any batch. Nothing has been committed then. */
export class RefusedItemError extends Error {}

/**
 * Whether the statements caused the error, so that nothing was committed. A lost connection or a
 * time-out is a plain driver error without a code.
 */
export const isRefusal = (error: unknown): boolean => {
  if (isDomainError(error) || error instanceof RefusedItemError) return true;
  return (
    error instanceof Error &&
    "code" in error &&
    typeof error.code === "string" &&
    REFUSALS.test(error.code)
  );
};

/**
 * Runs a batch in one transaction. When one item makes it fail, each item runs separately, so that
 * each fails only for its own reason. When the database does not answer, the whole batch fails.
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
        // The database does not answer, so the remaining items would only wait for their time-outs.
        if (!isRefusal(failure))
          return [...results, ...items.slice(index + 1).map(() => failure)];
      }
    }
    return results;
  };

/**
 * Runs the items of each group (such as a project) as a separate batch, a few groups at the same
 * time. When a group fails as a whole, its items get that error, and the other groups keep their
 * results.
 */
export const eachByItself =
  <Item, Result>(
    groupOf: (item: Item) => string,
    run: (items: readonly Item[]) => Promise<readonly (Result | Error)[]>,
  ) =>
  async (items: readonly Item[]): Promise<readonly (Result | Error)[]> => {
    const groups = new Map<string, (readonly [number, Item])[]>();
    for (const [place, item] of items.entries()) {
      const group = groups.get(groupOf(item)) ?? [];
      group.push([place, item]);
      groups.set(groupOf(item), group);
    }
    const results = new Map<number, Result | Error>();
    const runOne = async (entries: readonly (readonly [number, Item])[]): Promise<void> => {
      const own = await run(entries.map(([, item]) => item)).catch((error: unknown) => {
        const failure = error instanceof Error ? error : new Error(String(error));
        return entries.map(() => failure);
      });
      for (const [index, [place]] of entries.entries())
        results.set(place, own[index] ?? new Error("The batch has no result for an item."));
    };
    const left = groups.values();
    const lane = async (): Promise<void> => {
      for (const entries of left) await runOne(entries);
    };
    await Promise.all(Array.from({ length: GROUPS_AT_ONCE }, lane));
    return items.map(
      (_, place) => results.get(place) ?? new Error("The batch has no result for an item."),
    );
  };
