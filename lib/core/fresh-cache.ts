import { LRUCache } from "lru-cache";

interface FreshCacheOptions<V> {
  readonly load: (key: string) => Promise<V>;
  /** Whether an answer is stored; answers that are not stored are read again each time. */
  readonly keep?: (value: V) => boolean;
  /** From this age on a value is still served and refreshed in the background. */
  readonly refreshAfterMs?: number;
  /** From this age on a value is not trusted: the caller waits for a new one. */
  readonly expireAfterMs?: number;
  readonly entriesMax?: number;
  /** A monotonic clock, in milliseconds. */
  readonly monotonicMs?: () => number;
}

export interface FreshCache<V> {
  /** The value itself while it is fresh (nothing to await), else a promise of it. */
  get(key: string): V | Promise<V>;
  /** Forgets the key, and the result of a read of it that is under way. */
  invalidate(key: string): void;
}

interface Entry<V> {
  readonly value: V;
  readonly readAtMs: number;
}

interface Read<V> {
  readonly startedAtMs: number;
  readonly answer: Promise<V>;
}

const REFRESH_AFTER_MS = 500;
const EXPIRE_AFTER_MS = 900;
const ENTRIES_MAX = 10_000;

/**
 * Remembers answers of a shared store for less than a second, so that a change made by another instance is seen within one.
 * The age counts from the moment a read began, and callers share a read only while it is itself fresh: an answer is never
 * older than `expireAfterMs` at the time of the call.
 */
export const createFreshCache = <V>(options: FreshCacheOptions<V>): FreshCache<V> => {
  const { load, keep = () => true, monotonicMs = () => performance.now() } = options;
  const { refreshAfterMs = REFRESH_AFTER_MS, expireAfterMs = EXPIRE_AFTER_MS, entriesMax = ENTRIES_MAX } = options;
  const entries = new LRUCache<string, Entry<V>>({ max: entriesMax });
  const reads = new Map<string, Read<V>>();

  const store = (key: string, entry: Entry<V>): void => {
    if (keep(entry.value)) entries.set(key, entry);
    else entries.delete(key);
  };

  const startRead = (key: string, startedAtMs: number): Promise<V> => {
    const answer = load(key);
    const read: Read<V> = { startedAtMs, answer };
    reads.set(key, read);
    const finish = (): boolean => {
      // A read that was invalidated may have the state before the change; its callers still get it, but it is not stored.
      if (reads.get(key) !== read) return false;
      return reads.delete(key);
    };
    answer.then(
      (value) => {
        if (finish()) store(key, { value, readAtMs: startedAtMs });
      },
      () => finish(),
    );
    return answer;
  };

  const read = (key: string, nowMs: number): Promise<V> => {
    const running = reads.get(key);
    return running && nowMs - running.startedAtMs < expireAfterMs ? running.answer : startRead(key, nowMs);
  };

  return {
    get: (key) => {
      const nowMs = monotonicMs();
      const entry = entries.get(key);
      if (!entry || nowMs - entry.readAtMs >= expireAfterMs) return read(key, nowMs);
      // A failed refresh is not lost: once the entry expires a caller waits for a read and gets its error.
      if (nowMs - entry.readAtMs >= refreshAfterMs) read(key, nowMs).catch(() => undefined);
      return entry.value;
    },
    invalidate: (key) => {
      entries.delete(key);
      reads.delete(key);
    },
  };
};
