import { DomainError } from "@/lib/core/errors";

/** Requests of one route that this process runs at once, however slow they are. */
export const ALWAYS_ADMITTED = 16;
const WINDOW_MS = 5_000;
/** Measured requests below which nothing is refused. */
const MEASURED_MIN = 8;
/** Part of the allowed duration from which a request counts as slow. */
const SLOW_PART = 0.7;
const RETRY_AFTER_SECONDS = 5;

/** The requests that ended within one period of `WINDOW_MS`. */
interface Measured {
  readonly fromMs: number;
  readonly count: number;
  readonly fastestMs: number;
}

export interface LoadGate {
  /**
   * Runs a request. While even the fastest of the recent requests was slow, only
   * `ALWAYS_ADMITTED` requests run at once, and the others are refused immediately. So a queue
   * never becomes so long that all of its requests end too late.
   * @throws the error of `work`; DomainError `service_unavailable` when the request is refused
   */
  run<T>(work: () => Promise<T>): Promise<T>;
}

/**
 * Limits the requests of one route by their measured duration.
 * @param allowedMs the time that a request may take
 */
export const createLoadGate = (
  allowedMs: number,
  monotonicMs: () => number = () => performance.now(),
): LoadGate => {
  const slowMs = allowedMs * SLOW_PART;
  const empty = (fromMs: number): Measured => ({ fromMs, count: 0, fastestMs: Infinity });
  let running = 0;
  let current = empty(monotonicMs());
  let previous = current;

  const turnWindow = (now: number): void => {
    const age = now - current.fromMs;
    if (age < WINDOW_MS) return;
    previous = age < 2 * WINDOW_MS ? current : empty(now);
    current = empty(now);
  };

  const isSlow = (): boolean => {
    turnWindow(monotonicMs());
    return (
      current.count + previous.count >= MEASURED_MIN &&
      Math.min(current.fastestMs, previous.fastestMs) > slowMs
    );
  };

  const measure = (beganMs: number, hasFailed: boolean): void => {
    const now = monotonicMs();
    const ms = now - beganMs;
    // An error that comes quickly, such as a wrong field, says nothing about the load.
    if (hasFailed && ms < slowMs) return;
    turnWindow(now);
    current = {
      ...current,
      count: current.count + 1,
      fastestMs: Math.min(current.fastestMs, ms),
    };
  };

  return {
    run: async (work) => {
      if (running >= ALWAYS_ADMITTED && isSlow())
        throw new DomainError(
          "service_unavailable",
          "The service has more of these requests than it can answer in time. This one was not begun and nothing was accepted; try again shortly.",
          { retryAfterSeconds: RETRY_AFTER_SECONDS },
        );
      const beganMs = monotonicMs();
      running += 1;
      let hasFailed = true;
      try {
        const result = await work();
        hasFailed = false;
        return result;
      } finally {
        running -= 1;
        measure(beganMs, hasFailed);
      }
    },
  };
};
