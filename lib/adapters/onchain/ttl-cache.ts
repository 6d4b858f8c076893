import type { Clock } from "@/lib/core/clock";
import { abortable } from "./chain-access";

interface Entry<V> {
  readonly value: Promise<V>;
  readonly loadedAt: number;
}

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

/** One value per key for `ttlMs`; failures are not kept. The keys are chains, so their number is bounded. */
export const createTtlCache = <K, V>({ clock, ttlMs, load }: TtlCacheOptions<K, V>): TtlCache<K, V> => {
  const entries = new Map<K, Entry<V>>();
  const now = (): number => clock.now().getTime();

  const begin = (key: K): Entry<V> => {
    const entry = { value: load(key), loadedAt: now() };
    entries.set(key, entry);
    entry.value.catch(() => {
      if (entries.get(key) === entry) entries.delete(key);
    });
    return entry;
  };

  return {
    get: (key, signal) => {
      const known = entries.get(key);
      const entry = known !== undefined && now() - known.loadedAt < ttlMs ? known : begin(key);
      return abortable(entry.value, signal);
    },
    set: (key, value) => void entries.set(key, { value: Promise.resolve(value), loadedAt: now() }),
  };
};
