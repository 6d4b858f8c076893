/** One timer for any number of periodic functions. */
export interface Ticker {
  /**
   * Calls `work` every `everyMs` milliseconds, first after `everyMs`, until the returned function
   * is called. Calls happen only at ticks, so they may be up to one tick late.
   * @returns a function that ends the calls
   */
  every(everyMs: number, work: () => void): () => void;
}

interface Subscription {
  readonly everyMs: number;
  readonly work: () => void;
  dueMs: number;
}

interface TickerOptions {
  readonly tickMs?: number;
  /** A monotonic clock, in milliseconds. */
  readonly monotonicMs?: () => number;
  /** Starts the timer. @returns a function that stops it */
  readonly startTimer?: (tick: () => void, tickMs: number) => () => void;
}

const TICK_MS = 100;

const startInterval = (tick: () => void, tickMs: number): (() => void) => {
  const timer = setInterval(tick, tickMs);
  timer.unref();
  return () => clearInterval(timer);
};

/**
 * Creates a ticker. Its timer runs only while there is a subscription.
 * @example
 * const stop = createTicker().every(1_000, () => void refresh());
 * stop();
 */
export const createTicker = (options: TickerOptions = {}): Ticker => {
  const {
    tickMs = TICK_MS,
    monotonicMs = () => performance.now(),
    startTimer = startInterval,
  } = options;
  const subscriptions = new Set<Subscription>();
  let stopTimer: (() => void) | null = null;

  const tick = (): void => {
    const nowMs = monotonicMs();
    for (const subscription of subscriptions) {
      if (subscription.dueMs > nowMs) continue;
      // Counted from the due time, so that delays do not add up. A process that was frozen does not
      // catch up on missed calls.
      subscription.dueMs = Math.max(subscription.dueMs + subscription.everyMs, nowMs + tickMs);
      subscription.work();
    }
  };

  return {
    every: (everyMs, work) => {
      const subscription = { everyMs, work, dueMs: monotonicMs() + everyMs };
      subscriptions.add(subscription);
      stopTimer ??= startTimer(tick, tickMs);
      return () => {
        subscriptions.delete(subscription);
        if (subscriptions.size > 0 || stopTimer === null) return;
        stopTimer();
        stopTimer = null;
      };
    },
  };
};
