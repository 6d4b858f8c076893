import { DomainError } from "@/lib/core/errors";

/** A number of requests to add to a bucket's window. */
export interface RateIncrement {
  readonly bucket: string;
  readonly windowStart: Date;
  readonly by: number;
}

/** The counts that all instances share. */
export interface RateStore {
  /** Adds everything in one statement. @returns the totals after it, in any order */
  add(increments: readonly RateIncrement[]): Promise<readonly { bucket: string; windowStart: Date; count: number }[]>;
}

export interface RateDecision {
  readonly allowed: boolean;
  readonly limit: number;
  readonly remaining: number;
  readonly resetSeconds: number;
}

export const RATE_WINDOW_MS = 60_000;
const FLUSH_INTERVAL_MS = 100;
const FLUSH_BATCH_MAX = 2_000;
/** Beyond this many callers in one window the rest share one bucket, so that memory stays bounded. */
const BUCKETS_MAX = 100_000;
const OVERFLOW_BUCKET = "overflow";

interface Window {
  start: number;
  /** Total of all instances, as last read. */
  shared: number;
  /** Sent to the store, not yet confirmed. */
  inFlight: number;
  /** Counted here since. */
  pending: number;
}

export interface RateLimiter {
  /** Counts one request against `bucket` unless it is over `limit`. Awaits nothing. */
  take(bucket: string, limit: number, nowMs: number): RateDecision;
  /** Sends what is pending and waits for it; for tests and for the end of the process. */
  flush(): Promise<void>;
}

/** The windows of every bucket in this process's memory; the rows of old windows are deleted by lib/db/sweep.ts. */
const createWindows = () => {
  const windows = new Map<string, Window>();
  let newest = 0;

  const at = (bucket: string, start: number): Window => {
    const known = windows.get(bucket);
    if (known) {
      // Increments of a window that has ended are dropped: no decision depends on them any more.
      if (known.start !== start) Object.assign(known, { start, shared: 0, inFlight: 0, pending: 0 });
      return known;
    }
    if (windows.size >= BUCKETS_MAX && bucket !== OVERFLOW_BUCKET) return at(OVERFLOW_BUCKET, start);
    const fresh: Window = { start, shared: 0, inFlight: 0, pending: 0 };
    windows.set(bucket, fresh);
    return fresh;
  };

  return {
    /** The window of the bucket that began at `start`. */
    at,
    get: (bucket: string): Window | undefined => windows.get(bucket),
    /** Forgets windows that began before `start`. */
    forgetBefore: (start: number): void => {
      if (newest === start) return;
      newest = start;
      for (const [bucket, window] of windows) if (window.start < start) windows.delete(bucket);
    },
  };
};

/**
 * Fixed windows of 60 s, shared by all instances through `store`.
 *
 * The hot path only counts in memory. Every 100 ms the increments go out in one batched upsert, which reads the shared totals
 * back. So an instance learns of the others' requests at most one flush interval (plus the query) late, and the
 * requests admitted above the limit are bounded by those that reach the other instances within that interval. While the store fails,
 * each instance uses its own counts: limits become looser, and the service continues.
 */
export const createRateLimiter = (
  store: RateStore,
  options: { onError?: (error: unknown) => void; flushIntervalMs?: number } = {},
): RateLimiter => {
  const windows = createWindows();
  const dirty = new Set<string>();
  let timer: ReturnType<typeof setTimeout> | null = null;
  let flushing: Promise<void> | null = null;

  const collect = (): { window: Window; increment: RateIncrement }[] => {
    const batch: { window: Window; increment: RateIncrement }[] = [];
    for (const bucket of dirty) {
      if (batch.length >= FLUSH_BATCH_MAX) break;
      dirty.delete(bucket);
      const window = windows.get(bucket);
      if (!window || window.pending === 0) continue;
      batch.push({ window, increment: { bucket, windowStart: new Date(window.start), by: window.pending } });
      window.inFlight = window.pending;
      window.pending = 0;
    }
    return batch;
  };

  const send = async (): Promise<void> => {
    const batch = collect();
    if (batch.length === 0) return;
    try {
      const totals = new Map<string, number>();
      for (const row of await store.add(batch.map(({ increment }) => increment)))
        totals.set(`${row.bucket} ${String(row.windowStart.getTime())}`, row.count);
      for (const { window, increment } of batch) {
        if (window.start !== increment.windowStart.getTime()) continue;
        window.shared = totals.get(`${increment.bucket} ${String(window.start)}`) ?? window.shared + increment.by;
        window.inFlight = 0;
      }
      windows.forgetBefore(Math.max(...batch.map(({ increment }) => increment.windowStart.getTime())));
    } catch (error) {
      for (const { window, increment } of batch) {
        if (window.start !== increment.windowStart.getTime()) continue;
        window.pending += window.inFlight;
        window.inFlight = 0;
        dirty.add(increment.bucket);
      }
      options.onError?.(error);
    }
  };

  const flush = async (): Promise<void> => {
    // One at a time: the totals that come back must not overtake each other.
    while (flushing) await flushing;
    flushing = send().finally(() => {
      flushing = null;
      if (dirty.size > 0) schedule();
    });
    await flushing;
  };

  const schedule = (): void => {
    if (timer) return;
    timer = setTimeout(() => {
      timer = null;
      void flush();
    }, options.flushIntervalMs ?? FLUSH_INTERVAL_MS);
    timer.unref();
  };

  const take = (bucket: string, limit: number, nowMs: number): RateDecision => {
    const start = nowMs - (nowMs % RATE_WINDOW_MS);
    const window = windows.at(bucket, start);
    const used = window.shared + window.inFlight + window.pending;
    const resetSeconds = Math.ceil((start + RATE_WINDOW_MS - nowMs) / 1000);
    if (used >= limit) return { allowed: false, limit, remaining: 0, resetSeconds };
    window.pending += 1;
    if (window.pending === 1) {
      dirty.add(windows.get(bucket) === window ? bucket : OVERFLOW_BUCKET);
      schedule();
    }
    return { allowed: true, limit, remaining: limit - used - 1, resetSeconds };
  };

  return { take, flush };
};

const WINDOW_SECONDS = RATE_WINDOW_MS / 1000;

/**
 * Adds `RateLimit-Policy` and `RateLimit`, structured fields (draft-ietf-httpapi-ratelimit-headers-10).
 * @param decisions by name of the policy: `ip`, `caller`
 */
export const setRateLimitHeaders = (
  headers: Record<string, string>,
  decisions: readonly (readonly [string, RateDecision])[],
): void => {
  let policy = "";
  let state = "";
  for (const [name, decision] of decisions) {
    const separator = policy === "" ? "" : ", ";
    policy += `${separator}"${name}";q=${String(decision.limit)};w=${String(WINDOW_SECONDS)}`;
    state += `${separator}"${name}";r=${String(decision.remaining)};t=${String(decision.resetSeconds)}`;
  }
  headers["ratelimit-policy"] = policy;
  headers.ratelimit = state;
};

export const rateLimited = (decision: RateDecision): DomainError =>
  new DomainError(
    "rate_limited",
    `More than ${String(decision.limit)} requests within ${String(WINDOW_SECONDS)} seconds. Wait ${String(decision.resetSeconds)} seconds.`,
    { retryAfterSeconds: decision.resetSeconds },
  );
