/**
 * Spares a payout of many rows the search for each of its keys: this process keeps a filter of each project's keys, and before each use reads the
 * keys that were added since. Only keys that the filter may contain are searched.
 */
import { LRUCache } from "lru-cache";
import { isDistributed } from "@/lib/db/layout";
import type { Sql } from "@/lib/db/sql";
import { countOf, createKeyFilter, prefixesOf, type KeyFilter } from "./key-filter";
import { readAddedKeys, readKeys, type Seen } from "./key-filter-repository";

/** Fewer keys are searched about as fast as the filter is brought up to date. */
const KEYS_MIN = 100;
/** Projects with more keys of 30 days have no filter. */
const KEYS_MAX = 2_000_000;
const CAPACITY_MIN = 100_000;
/** When more keys than this were added since a filter was last read, it is built anew in the background: a payout would wait while they are read. */
const ADDED_MAX = 100_000;
const ALL_BYTES_MAX = 64 * 1024 * 1024;
/** Added keys stay listed for two hours (`payout_key_list` in lib/db/sweep.ts), so a filter that was used within the hour has missed none. */
const UNUSED_MS_MAX = 60 * 60 * 1000;
/** How long a project stays without a filter after it had too many keys, or its keys could not be read. */
const WITHOUT_MS = 10 * 60 * 1000;
const PROJECTS_WITHOUT_MAX = 1000;
/** Of how many payouts a filter remembers that it has their keys, so that these are not read again from the list. */
const READ_MAX = 64;

/** The filter contains every key that `seen` sees, and all keys of the payouts in `read`. */
interface Known {
  readonly filter: KeyFilter;
  readonly read: Set<string>;
  seen: Seen;
  /** When `seen` was read, by the monotonic clock of the process. */
  readMs: number;
}

/**
 * The positions of those of the payout's keys that a payout committed by now may have, or that may stand at an earlier position. The keys are added to the
 * filter.
 */
export type Candidates = (keys: readonly string[]) => readonly number[];

export interface KeyFilters {
  /**
   * Reads which keys were added since, for a payout of `count` keys.
   * @param sql in a READ COMMITTED transaction that has locked the keys
   * @returns null: every key has to be searched
   */
  read(
    sql: Sql,
    payout: { readonly id: string; readonly projectId: string },
    count: number,
  ): Promise<Candidates | null>;
  /** Resolves when no filter is being built. */
  settled(): Promise<void>;
}

const build = async (sql: Sql, projectId: string): Promise<Known | null> => {
  const readMs = performance.now();
  const found = await readKeys(sql, projectId, KEYS_MAX + 1);
  if (found === null) return null;
  const count = found.parts.reduce((sum, part) => sum + countOf(part), 0);
  if (count > KEYS_MAX) return null;
  const filter = createKeyFilter(Math.max(CAPACITY_MIN, 2 * count));
  for (const part of found.parts) filter.add(part);
  return { filter, read: new Set(), seen: found.seen, readMs };
};

const noteRead = (read: Set<string>, payoutId: string): void => {
  read.add(payoutId);
  for (const oldest of read) {
    if (read.size <= READ_MAX) return;
    read.delete(oldest);
  }
};

/**
 * Adds the keys that were committed since.
 * @returns false when the filter may lack keys, or has too many
 */
const bringUpToDate = async (sql: Sql, projectId: string, known: Known, unusedMsMax: number): Promise<boolean> => {
  const { filter, read, seen: since } = known;
  // By the clock of this process before anything is read, and by that of the database, which sweeps the list.
  const nowMs = performance.now();
  if (nowMs - known.readMs > unusedMsMax) return false;
  const { seen, added } = await readAddedKeys(sql, projectId, { since, read, max: ADDED_MAX });
  const unusedMs = (seen.at - since.at) * 1000;
  if (added === null || seen.server !== since.server || unusedMs < 0 || unusedMs > unusedMsMax) return false;
  for (const { payoutId, prefixes } of added) {
    filter.add(prefixes);
    noteRead(read, payoutId);
  }
  // Another request may have set a newer one meanwhile. With this one too the filter contains what it sees.
  known.seen = seen;
  known.readMs = nowMs;
  return filter.count <= filter.capacity;
};

/** Whether the statement was not run, because one before it in its transaction had failed (25P02). */
const isOfFailedTransaction = (error: unknown): boolean =>
  error instanceof Error && "code" in error && error.code === "25P02";

export interface KeyFiltersDeps {
  /** Outside of any transaction, on the primary server. */
  readonly sql: Sql;
  /** Called when a filter could not be built; every key is searched then. */
  readonly onFault: (error: unknown) => void;
  /** Milliseconds after which a filter that was not used is built anew. Default one hour; added keys stay listed for two. */
  readonly unusedMsMax?: number;
}

export const createKeyFilters = (deps: KeyFiltersDeps): KeyFilters => {
  const { sql, onFault, unusedMsMax = UNUSED_MS_MAX } = deps;
  const filters = new LRUCache<string, Known>({
    maxSize: ALL_BYTES_MAX,
    sizeCalculation: ({ filter }) => filter.bytes,
  });
  const without = new LRUCache<string, true>({ max: PROJECTS_WITHOUT_MAX, ttl: WITHOUT_MS });
  const building = new Map<string, Promise<void>>();

  const begin = (projectId: string): void => {
    if (building.has(projectId) || without.has(projectId)) return;
    const work = build(sql, projectId)
      .catch((error: unknown) => {
        onFault(error);
        return null;
      })
      .then((known) => {
        if (known === null) without.set(projectId, true);
        else filters.set(projectId, known);
      })
      .finally(() => building.delete(projectId));
    building.set(projectId, work);
  };

  /** Whether the filter contains every key that is committed by now. A filter that does not is given up, and so is one for which reading them failed. */
  const isUpToDate = async (transaction: Sql, projectId: string, known: Known): Promise<boolean> => {
    const giveUp = (): void => {
      if (filters.peek(projectId) === known) filters.delete(projectId);
    };
    try {
      const isComplete = await bringUpToDate(transaction, projectId, known, unusedMsMax);
      if (!isComplete) giveUp();
      return isComplete;
    } catch (error) {
      // A statement before it may have failed, which says nothing about the filter.
      if (!isOfFailedTransaction(error)) giveUp();
      throw error;
    }
  };

  return {
    read: async (transaction, { id, projectId }, count) => {
      if (count < KEYS_MIN || isDistributed(transaction)) return null;
      const known = filters.get(projectId);
      if (known === undefined) {
        begin(projectId);
        return null;
      }
      if (!(await isUpToDate(transaction, projectId, known))) {
        begin(projectId);
        return null;
      }
      return (keys) => {
        // The keys are added before the commit. Later reads may leave this transaction out as seen, and nothing else would add its keys. If it is
        // rolled back, these keys are searched once more in vain.
        noteRead(known.read, id);
        return known.filter.add(prefixesOf(keys));
      };
    },
    settled: async () => {
      await Promise.all(building.values());
    },
  };
};
