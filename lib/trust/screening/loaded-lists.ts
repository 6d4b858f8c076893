import type { SqlReader } from "@/lib/platform/db/sql";
import { type ListHead, readListAddresses, readListHeads } from "./repository";

export interface LoadedList extends ListHead {
  /** The listed addresses in lower case. */
  readonly addresses: ReadonlySet<string>;
}

/**
 * Minimum time between two comparisons of the loaded versions with the database. An import takes
 * effect after at most this time.
 */
const FRESH_MS = 2000;

/**
 * Caches the newest version of every list in memory. Versions are compared with the database at
 * most every two seconds, and only on use; the entries are read when a version has changed.
 * @param nowMs milliseconds of a clock that never goes back
 */
export const createLoadedLists = (
  sql: SqlReader,
  nowMs: () => number = () => performance.now(),
) => {
  let loaded: readonly LoadedList[] = [];
  let checkedMs = -Infinity;
  let reading: Promise<void> | null = null;

  const read = async (): Promise<void> => {
    const startedMs = nowMs();
    const heads = await readListHeads(sql);
    loaded = await Promise.all(
      heads.map(async (head) => {
        const known = loaded.find(
          ({ name, version }) => name === head.name && version === head.version,
        );
        return known ?? { ...head, addresses: await readListAddresses(sql, head) };
      }),
    );
    checkedMs = startedMs;
  };

  return {
    /**
     * The newest versions of all lists. Compares them with the database when the last comparison is
     * older than two seconds.
     * @throws the database's error
     */
    current: async (): Promise<readonly LoadedList[]> => {
      if (nowMs() - checkedMs < FRESH_MS) return loaded;
      reading ??= read().finally(() => {
        reading = null;
      });
      await reading;
      return loaded;
    },
  };
};
