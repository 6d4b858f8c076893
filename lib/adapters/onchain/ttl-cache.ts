import { abortable } from "@/lib/core/abortable";
import type { Clock } from "@/lib/core/clock";
import { createFreshCache } from "@/lib/core/fresh-cache";

interface TtlCacheOptions<K, V> {
  readonly clock: Clock;
  readonly ttlMs: number;
  /** Runs once for all concurrent callers; no single caller's signal aborts it. */
  readonly load: (key: K) => Promise<V>;
}

export interface TtlCache<K, V> {
  get(key: K, signal: AbortSignal): Promise<V>;
  /** Stores a value that the caller obtained by other means than `load`. */
  set(key: K, value: V): void;
}

/** A cache for readers that can be aborted: one value per key for `ttlMs`, not refreshed before that; failures are not kept. */
export const createTtlCache = <K extends string | number, V>({
  clock,
  ttlMs,
  load,
}: TtlCacheOptions<K, V>): TtlCache<K, V> => {
  const cache = createFreshCache<V, K>({
    load,
    refreshAfterMs: ttlMs,
    expireAfterMs: ttlMs,
    monotonicMs: () => clock.now().getTime(),
  });
  return { get: (key, signal) => abortable(Promise.resolve(cache.get(key)), signal), set: cache.set };
};
