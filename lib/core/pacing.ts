/** How often work that waits for a chain is looked at again. */

/** What has not gone on for a while, and fails now, is tried again after this part of that while. */
const BACKOFF_PART = 4;
const BACKOFF_MS_MIN = 200;
const BACKOFF_MS_MAX = 15_000;
/** What waits for long is asked about less and less often: by one more poll's time with each hundred of them. */
const SLOWER_AFTER_POLLS = 100;
const SLOWEST_FACTOR = 20;

/** @param idleMs how long ago it last went on */
export const pollMsAfter = (intervalMs: number, idleMs: number): number =>
  intervalMs * Math.min(SLOWEST_FACTOR, 1 + Math.floor(idleMs / (intervalMs * SLOWER_AFTER_POLLS)));

/** @param failures how often in a row it could not be carried on */
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
