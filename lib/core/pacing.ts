/** How often work that waits for a chain is looked at again. */

/** Work that fails is tried again after this share of the time since it last made progress. */
const BACKOFF_PART = 4;
const BACKOFF_MS_MIN = 200;
const BACKOFF_MS_MAX = 15_000;
/** The pause grows by one poll interval for each hundred poll intervals that the work has waited. */
const SLOWER_AFTER_POLLS = 100;
const SLOWEST_FACTOR = 20;

/** @param idleMs milliseconds since the work last made progress */
export const pollMsAfter = (intervalMs: number, idleMs: number): number =>
  intervalMs * Math.min(SLOWEST_FACTOR, 1 + Math.floor(idleMs / (intervalMs * SLOWER_AFTER_POLLS)));

/** @param failures failures in a row */
export const backoffMsAfter = (failures: number, idleMs: number): number =>
  Math.min(BACKOFF_MS_MAX, Math.max(BACKOFF_MS_MIN * 2 ** failures, Math.ceil(idleMs / BACKOFF_PART)));

/** Resolves after `ms`, or as soon as `signal` aborts. */
export const sleepUntilAborted = (ms: number, signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    if (signal.aborted) {
      resolve();
      return;
    }
    const timer = setTimeout(finish, ms);
    function finish(): void {
      clearTimeout(timer);
      signal.removeEventListener("abort", finish);
      resolve();
    }
    signal.addEventListener("abort", finish);
  });
