import { isDomainError } from "@/lib/core/errors";

/** Classes of PostgreSQL's errors that are about the statements themselves: data, constraints, deadlocks, and locks not available. */
const REFUSALS = /^(?:22|23|40|55|P0)/;

/** How many groups of a batch run at the same time: each takes a connection of a pool that others need too. */
const GROUPS_AT_ONCE = 4;

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

/**
 * Runs the items of each group, such as those of one project, as a batch of their own, a few groups at the same time. Where a group fails as a whole,
 * its items have that error, and the other groups have their results.
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
    return items.map((_, place) => results.get(place) ?? new Error("The batch has no result for an item."));
  };
