import { createBatcher } from "@/lib/core/batch";
import { resultWithin } from "@/lib/core/deadline";
import { DomainError } from "@/lib/core/errors";

// Counts the requests of this process, and adds the counts to the store that all instances share.

interface RateIncrement {
  readonly bucket: string;
  readonly windowStart: Date;
  readonly by: number;
}

export interface RateStore {
  /** Adds everything with one statement. @returns the new totals, in any order */
  add(
    increments: readonly RateIncrement[],
  ): Promise<readonly { bucket: string; windowStart: Date; count: number }[]>;
}

export const RATE_WINDOW_MS = 60_000;
const FLUSH_INTERVAL_MS = 100;
/** Maximum number of buckets in one statement. */
const BATCH_MAX = 2_000;
/**
 * Maximum number of callers that are counted separately in one window. Further callers share one
 * bucket, so that memory stays bounded.
 */
const BUCKETS_MAX = 100_000;
const OVERFLOW_BUCKET = "overflow";

interface Window {
  start: number;
  /** The total of all instances, as last read. */
  shared: number;
  /** Number of requests that were sent to the store but are not confirmed yet. */
  inFlight: number;
  /** Number of requests that this process has counted since its last statement. */
  pending: number;
}

/**
 * The windows of every bucket in this process's memory. The rows of old windows are deleted by
 * lib/platform/db/sweep.ts.
 */
const createWindows = () => {
  const windows = new Map<string, Window>();
  let newest = 0;

  const at = (bucket: string, start: number): Window => {
    const known = windows.get(bucket);
    if (known) {
      // Increments of an ended window are dropped, because no decision depends on them.
      if (known.start !== start)
        Object.assign(known, { start, shared: 0, inFlight: 0, pending: 0 });
      return known;
    }
    if (windows.size >= BUCKETS_MAX && bucket !== OVERFLOW_BUCKET)
      return at(OVERFLOW_BUCKET, start);
    const fresh: Window = { start, shared: 0, inFlight: 0, pending: 0 };
    windows.set(bucket, fresh);
    return fresh;
  };

  return {
    at,
    get: (bucket: string): Window | undefined => windows.get(bucket),
    forgetBefore: (start: number): void => {
      if (newest === start) return;
      newest = start;
      for (const [bucket, window] of windows) if (window.start < start) windows.delete(bucket);
    },
  };
};

interface RateCounterOptions {
  readonly onError?: (error: unknown) => void;
  readonly flushIntervalMs?: number;
}

type TotalOf = (increment: RateIncrement) => number | undefined;

const keyOf = ({
  bucket,
  windowStart,
}: Pick<RateIncrement, "bucket" | "windowStart">): string =>
  `${bucket} ${String(windowStart.getTime())}`;

/** Runs `work` at most once per interval, however often it is called. */
const createTimer = (intervalMs: number, work: () => void): (() => void) => {
  let timer: ReturnType<typeof setTimeout> | null = null;
  return () => {
    timer ??= setTimeout(() => {
      timer = null;
      work();
    }, intervalMs).unref();
  };
};

/**
 * Takes the pending counts out of the windows of the dirty buckets, at most as many as one
 * statement may have.
 */
const collect = (
  windows: ReturnType<typeof createWindows>,
  dirty: Set<string>,
): { window: Window; increment: RateIncrement }[] => {
  const batch: { window: Window; increment: RateIncrement }[] = [];
  for (const bucket of dirty) {
    if (batch.length >= BATCH_MAX) break;
    dirty.delete(bucket);
    const window = windows.get(bucket);
    if (!window || window.pending === 0) continue;
    batch.push({
      window,
      increment: { bucket, windowStart: new Date(window.start), by: window.pending },
    });
    window.inFlight += window.pending;
    window.pending = 0;
  }
  return batch;
};

const createRateCounter = (store: RateStore, options: RateCounterOptions) => {
  const windows = createWindows();
  const dirty = new Set<string>();
  const schedule = createTimer(
    options.flushIntervalMs ?? FLUSH_INTERVAL_MS,
    () => void flush(),
  );
  let flushing: Promise<void> | null = null;
  let isAway = false;

  /** The name under which the store counts the window's requests. */
  const nameOf = (bucket: string, window: Window): string =>
    windows.get(bucket) === window ? bucket : OVERFLOW_BUCKET;

  const add = async (increments: readonly RateIncrement[]): Promise<TotalOf> => {
    const totals = new Map((await store.add(increments)).map((row) => [keyOf(row), row.count]));
    isAway = false;
    windows.forgetBefore(
      Math.max(...increments.map(({ windowStart }) => windowStart.getTime())),
    );
    return (increment) => totals.get(keyOf(increment));
  };

  const wait = (bucket: string): void => {
    dirty.add(bucket);
    schedule();
  };

  /**
   * Adds the result of a statement to the counts of the window, unless the window has ended.
   * @param total after the increment; null when the store failed, so that the increment is sent
   * again
   */
  const settle = (
    window: Window,
    { bucket, windowStart, by }: RateIncrement,
    total: number | null,
  ): void => {
    if (window.start !== windowStart.getTime()) return;
    window.inFlight -= by;
    // The highest total is kept, because the answers of two statements may arrive in reverse order,
    // and a total only grows.
    if (total !== null) window.shared = Math.max(window.shared, total);
    else {
      window.pending += by;
      wait(bucket);
    }
  };

  /**
   * Sends increments that are marked as in flight.
   * @returns the total of each, or null when the store failed
   */
  const send = async (
    batch: readonly { readonly window: Window; readonly increment: RateIncrement }[],
  ): Promise<readonly number[] | null> => {
    try {
      const totalOf = await add(batch.map(({ increment }) => increment));
      return batch.map(({ window, increment }) => {
        const total = totalOf(increment) ?? window.shared + increment.by;
        settle(window, increment, total);
        return total;
      });
    } catch (error) {
      isAway = true;
      for (const { window, increment } of batch) settle(window, increment, null);
      options.onError?.(error);
      return null;
    }
  };

  const flush = async (): Promise<void> => {
    while (flushing) await flushing;
    const batch = collect(windows, dirty);
    if (batch.length === 0) return;
    flushing = send(batch).then(() => {
      flushing = null;
      if (dirty.size > 0) schedule();
    });
    await flushing;
  };

  return {
    /**
     * The window of the bucket at this time, with the number of its requests that this process has
     * seen.
     */
    at: (bucket: string, nowMs: number) => {
      const start = nowMs - (nowMs % RATE_WINDOW_MS);
      const window = windows.at(bucket, start);
      const used = window.shared + window.inFlight + window.pending;
      return {
        window,
        used,
        start,
        resetSeconds: Math.ceil((start + RATE_WINDOW_MS - nowMs) / 1000),
      };
    },
    nameOf,
    countLater: (bucket: string, window: Window): void => {
      window.pending += 1;
      if (window.pending === 1) wait(nameOf(bucket, window));
    },
    send,
    flush,
    isAway: (): boolean => isAway,
    callAway: (): void => {
      isAway = true;
    },
  };
};

type RateCounter = ReturnType<typeof createRateCounter>;

export interface RateDecision {
  readonly allowed: boolean;
  readonly limit: number;
  readonly remaining: number;
  readonly resetSeconds: number;
}

/** Number of statements that may run at the same time. */
const LANES = 2;
const ANSWER_WITHIN_MS = 250;

export interface RateLimiter {
  /**
   * Counts one request against `bucket` unless it is over `limit`. Returns a promise when the store
   * has to decide, otherwise the decision.
   */
  admit(bucket: string, limit: number, nowMs: number): RateDecision | Promise<RateDecision>;
  /** Like `admit`, but decides from the counts of this process without waiting. */
  take(bucket: string, limit: number, nowMs: number): RateDecision;
  /** Sends pending counts and waits for the result; for tests and for the end of the process. */
  flush(): Promise<void>;
}

interface RateLimiterOptions extends RateCounterOptions {
  /** Maximum time in milliseconds for which a request waits for the store. Default 250. */
  readonly answerWithinMs?: number;
}

interface Ask {
  readonly bucket: string;
  readonly at: ReturnType<RateCounter["at"]>;
  readonly limit: number;
}

const decide = (
  { limit, at }: Pick<Ask, "limit" | "at">,
  allowed: boolean,
  remaining: number,
): RateDecision => ({
  allowed,
  limit,
  remaining: Math.max(0, remaining),
  resetSeconds: at.resetSeconds,
});

/** Groups the requests of each window, because the store gets one number per window. */
const grouped = (asks: readonly Ask[]): readonly Ask[][] => {
  const groups = new Map<string, Ask[]>();
  for (const ask of asks) {
    const name = `${ask.bucket} ${String(ask.at.start)}`;
    const group = groups.get(name);
    if (group) group.push(ask);
    else groups.set(name, [ask]);
  }
  return [...groups.values()];
};

const incrementOf = (group: readonly Ask[]) => {
  const [first] = group;
  if (first === undefined) throw new Error("A group of requests has at least one.");
  const { bucket, at } = first;
  return {
    window: at.window,
    increment: { bucket, windowStart: new Date(at.start), by: group.length },
  };
};

/**
 * Fixed windows of 60 s, which all instances share through `store`.
 *
 * `admit` is exact: the store gives each request its number in the window, and requests up to the
 * limit pass, whichever instance they reach. Requests that arrive while a statement runs share the
 * next one, so a loaded instance sends few statements. When this process knows that a limit is used
 * up, it refuses without asking the store. Leasing tokens in advance would avoid the wait, but
 * while one instance holds unused tokens, another refuses too early or both pass too many.
 *
 * `take` only counts in memory, for connections, which cannot wait. Its counts are sent every 100
 * ms.
 *
 * While the store fails or is slow, `admit` only counts in memory too: each instance uses its own
 * counts, limits become looser, and the service continues.
 */
export const createRateLimiter = (
  store: RateStore,
  options: RateLimiterOptions = {},
): RateLimiter => {
  const counter = createRateCounter(store, options);
  const ask = async (asks: readonly Ask[]): Promise<readonly (RateDecision | Error)[]> => {
    const groups = grouped(asks);
    const sent = counter.send(groups.map(incrementOf));
    const totals = await resultWithin(sent, options.answerWithinMs ?? ANSWER_WITHIN_MS);
    if (totals === null) counter.callAway();
    const decisions = new Map<Ask, RateDecision>();
    groups.forEach((group, which) => {
      const before = (totals?.[which] ?? 0) - group.length;
      group.forEach((one, index) => {
        const number = before + index + 1;
        // When the store does not answer, each request passes, because it was below its limit by
        // the counts of this process.
        const decision =
          totals === null
            ? decide(one, true, one.limit - one.at.used - 1)
            : decide(one, number <= one.limit, one.limit - number);
        decisions.set(one, decision);
      });
    });
    return asks.map((one) => decisions.get(one) ?? new Error("A request was given no number."));
  };

  const asking = createBatcher<Ask, RateDecision>({
    run: ask,
    batchWeightMax: BATCH_MAX,
    lanes: LANES,
  });

  const take = (bucket: string, limit: number, nowMs: number): RateDecision => {
    const at = counter.at(bucket, nowMs);
    if (at.used >= limit) return decide({ limit, at }, false, 0);
    counter.countLater(bucket, at.window);
    return decide({ limit, at }, true, limit - at.used - 1);
  };

  const admit = (
    bucket: string,
    limit: number,
    nowMs: number,
  ): RateDecision | Promise<RateDecision> => {
    if (counter.isAway()) return take(bucket, limit, nowMs);
    const at = counter.at(bucket, nowMs);
    if (at.used >= limit) return decide({ limit, at }, false, 0);
    at.window.inFlight += 1;
    return asking.submit({ bucket: counter.nameOf(bucket, at.window), at, limit });
  };

  return { take, admit, flush: () => counter.flush() };
};

const WINDOW_SECONDS = RATE_WINDOW_MS / 1000;

/**
 * Adds `RateLimit-Policy` and `RateLimit`, structured fields
 * (draft-ietf-httpapi-ratelimit-headers-10).
 * @param decisions pairs of the policy's name (`ip` or `caller`) and its decision
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
