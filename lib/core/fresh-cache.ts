import { LRUCache } from "lru-cache";

/**
 * Name of the header with a caller's freshness token. The token is the position in the write-ahead
 * log up to which the caller's changes were written.
 */
export const FRESHNESS_HEADER = "causeway-freshness";
/** Name of the cookie with the freshness token, for callers that are browsers. */
export const FRESHNESS_COOKIE = "causeway.freshness";

interface FreshCacheOptions<V, K> {
  readonly load: (key: K) => Promise<V>;
  /**
   * Whether a value is stored. A value that is not stored is read again at the next call. Default:
   * every value is stored.
   */
  readonly keep?: (value: V) => boolean;
  /** From this age, a value is still returned and is refreshed in the background. Default 500. */
  readonly refreshAfterMs?: number;
  /**
   * From this age, a value is no longer returned, and the caller waits for a new one. Default 900.
   */
  readonly expireAfterMs?: number;
  readonly entriesMax?: number;
  /** A monotonic clock, in milliseconds. */
  readonly monotonicMs?: () => number;
}

export interface FreshCache<V, K = string> {
  /**
   * Returns the cached value, or a promise of a new one when there is no value or it has expired.
   * @throws the error of `load`
   */
  get(key: K): V | Promise<V>;
  /**
   * Removes the value of the key. The result of a read of the key that is still running is not
   * stored.
   */
  invalidate(key: K): void;
  /**
   * Stores a value that the caller has just read by other means. The result of a read of the key
   * that is still running is not stored.
   */
  set(key: K, value: V): void;
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
 * Caches values of a shared store, by default for less than a second, so that a change by another
 * instance is seen within a second. The age of a value counts from the start of its read, and
 * callers share a running read only while the read is fresh. So a value is never older than
 * `expireAfterMs` at the time of the call.
 * @example
 * const memberships = createFreshCache({ load: (userId) => listMemberships(userId) });
 * const found = await memberships.get(userId);
 */
export const createFreshCache = <V, K extends string | number = string>(
  options: FreshCacheOptions<V, K>,
): FreshCache<V, K> => {
  const { load, keep = () => true, monotonicMs = () => performance.now() } = options;
  const {
    refreshAfterMs = REFRESH_AFTER_MS,
    expireAfterMs = EXPIRE_AFTER_MS,
    entriesMax = ENTRIES_MAX,
  } = options;
  const entries = new LRUCache<K, Entry<V>>({ max: entriesMax });
  const reads = new Map<K, Read<V>>();

  const store = (key: K, entry: Entry<V>): void => {
    if (keep(entry.value)) entries.set(key, entry);
    else entries.delete(key);
  };

  const startRead = (key: K, startedAtMs: number): Promise<V> => {
    const answer = load(key);
    const read: Read<V> = { startedAtMs, answer };
    reads.set(key, read);
    const finish = (): boolean => {
      // An invalidated read may return the state before the change. Its callers still get that
      // value, but it is not stored.
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

  const read = (key: K, nowMs: number): Promise<V> => {
    const running = reads.get(key);
    return running && nowMs - running.startedAtMs < expireAfterMs
      ? running.answer
      : startRead(key, nowMs);
  };

  return {
    get: (key) => {
      const nowMs = monotonicMs();
      const entry = entries.get(key);
      if (!entry || nowMs - entry.readAtMs >= expireAfterMs) return read(key, nowMs);
      // The error of a failed refresh can be ignored: once the entry expires, a caller waits for a
      // new read and gets its error.
      if (nowMs - entry.readAtMs >= refreshAfterMs) read(key, nowMs).catch(() => undefined);
      return entry.value;
    },
    invalidate: (key) => {
      entries.delete(key);
      reads.delete(key);
    },
    set: (key, value) => {
      reads.delete(key);
      store(key, { value, readAtMs: monotonicMs() });
    },
  };
};
