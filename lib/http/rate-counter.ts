/** Counts the requests of this process, and sends the counts to the store that all instances share. */

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

export const RATE_WINDOW_MS = 60_000;
const FLUSH_INTERVAL_MS = 100;
/** Buckets of one statement. */
export const BATCH_MAX = 2_000;
/** Beyond this many callers in one window the rest share one bucket, so that memory stays bounded. */
const BUCKETS_MAX = 100_000;
const OVERFLOW_BUCKET = "overflow";

export interface Window {
  start: number;
  /** Total of all instances, as last read. */
  shared: number;
  /** On the way to the store, not yet confirmed. */
  inFlight: number;
  /** Counted here since. */
  pending: number;
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

export interface RateCounterOptions {
  readonly onError?: (error: unknown) => void;
  readonly flushIntervalMs?: number;
}

type TotalOf = (increment: RateIncrement) => number | undefined;

const keyOf = ({ bucket, windowStart }: Pick<RateIncrement, "bucket" | "windowStart">): string =>
  `${bucket} ${String(windowStart.getTime())}`;

/** Runs `work` once within the interval, however often it is asked to. */
const createTimer = (intervalMs: number, work: () => void): (() => void) => {
  let timer: ReturnType<typeof setTimeout> | null = null;
  return () => {
    timer ??= setTimeout(() => {
      timer = null;
      work();
    }, intervalMs).unref();
  };
};

/** Takes what is counted here out of the windows of the dirty buckets, at most one statement of it. */
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
    batch.push({ window, increment: { bucket, windowStart: new Date(window.start), by: window.pending } });
    window.inFlight += window.pending;
    window.pending = 0;
  }
  return batch;
};

export const createRateCounter = (store: RateStore, options: RateCounterOptions) => {
  const windows = createWindows();
  const dirty = new Set<string>();
  const schedule = createTimer(options.flushIntervalMs ?? FLUSH_INTERVAL_MS, () => void flush());
  let flushing: Promise<void> | null = null;
  let isAway = false;

  /** The name under which the store counts the window's requests. */
  const nameOf = (bucket: string, window: Window): string =>
    windows.get(bucket) === window ? bucket : OVERFLOW_BUCKET;

  const add = async (increments: readonly RateIncrement[]): Promise<TotalOf> => {
    const totals = new Map((await store.add(increments)).map((row) => [keyOf(row), row.count]));
    isAway = false;
    windows.forgetBefore(Math.max(...increments.map(({ windowStart }) => windowStart.getTime())));
    return (increment) => totals.get(keyOf(increment));
  };

  const wait = (bucket: string): void => {
    dirty.add(bucket);
    schedule();
  };

  /** @param total after the increment; null when the store failed, so that it is sent again */
  const settle = (window: Window, { bucket, windowStart, by }: RateIncrement, total: number | null): void => {
    if (window.start !== windowStart.getTime()) return;
    window.inFlight -= by;
    // Two statements may answer in the other order; a total only grows.
    if (total !== null) window.shared = Math.max(window.shared, total);
    else {
      window.pending += by;
      wait(bucket);
    }
  };

  /** Sends increments that are in flight. @returns the total after each, or null when the store failed */
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
    /** The window of the bucket at this time, and the requests in it that this process knows of. */
    at: (bucket: string, nowMs: number) => {
      const start = nowMs - (nowMs % RATE_WINDOW_MS);
      const window = windows.at(bucket, start);
      const used = window.shared + window.inFlight + window.pending;
      return { window, used, start, resetSeconds: Math.ceil((start + RATE_WINDOW_MS - nowMs) / 1000) };
    },
    nameOf,
    /** Counts one request, which goes out with the next flush. */
    countLater: (bucket: string, window: Window): void => {
      window.pending += 1;
      if (window.pending === 1) wait(nameOf(bucket, window));
    },
    send,
    flush,
    /** Whether the store failed, or was late, at its last statement. */
    isAway: (): boolean => isAway,
    /** Until the store answers again. */
    callAway: (): void => {
      isAway = true;
    },
  };
};

export type RateCounter = ReturnType<typeof createRateCounter>;
