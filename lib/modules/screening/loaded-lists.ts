import type { SqlReader } from "@/lib/db/sql";
import { readListAddresses, readListHeads, type ListHead } from "./list-repository";

/** The newest version of one list, in memory. */
export interface LoadedList extends ListHead {
  /** Lower case. */
  readonly addresses: ReadonlySet<string>;
}

/** For this long an import may stay unnoticed. */
const FRESH_MS = 2000;

/**
 * Keeps the newest version of every list in memory. Its versions are compared with the database every two seconds at most, and only while
 * somebody asks; the entries are read when a version has changed.
 * @param nowMs milliseconds of a clock that never goes back
 */
export const createLoadedLists = (sql: SqlReader, nowMs: () => number = () => performance.now()) => {
  let loaded: readonly LoadedList[] = [];
  let checkedMs = -Infinity;
  let reading: Promise<void> | null = null;

  const read = async (): Promise<void> => {
    const startedMs = nowMs();
    const heads = await readListHeads(sql);
    loaded = await Promise.all(
      heads.map(async (head) => {
        const known = loaded.find(({ name, version }) => name === head.name && version === head.version);
        return known ?? { ...head, addresses: await readListAddresses(sql, head) };
      }),
    );
    checkedMs = startedMs;
  };

  return {
    /** @throws the database's error */
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
