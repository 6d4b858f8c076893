/** Computes how long a job that waits for a chain pauses before its next turn. */

/** A failed job is retried after the time since its last progress, divided by this number. */
const BACKOFF_PART = 4;
const BACKOFF_MS_MIN = 200;
const BACKOFF_MS_MAX = 15_000;
/**
 * The pause between polls grows by one poll interval for each hundred poll intervals that the job
 * has waited.
 */
const SLOWER_AFTER_POLLS = 100;
const SLOWEST_FACTOR = 20;

/**
 * Milliseconds until the next poll of a job that waits; at most 20 times `intervalMs`.
 * @param intervalMs the poll interval of a job that makes progress
 * @param idleMs milliseconds since the job last made progress
 */
export const pollMsAfter = (intervalMs: number, idleMs: number): number =>
  intervalMs *
  Math.min(SLOWEST_FACTOR, 1 + Math.floor(idleMs / (intervalMs * SLOWER_AFTER_POLLS)));

/**
 * Milliseconds until a failed job is tried again, from 200 ms to 15 s.
 * @param failures consecutive failures
 * @param idleMs milliseconds since the job last made progress
 */
export const backoffMsAfter = (failures: number, idleMs: number): number =>
  Math.min(
    BACKOFF_MS_MAX,
    Math.max(BACKOFF_MS_MIN * 2 ** failures, Math.ceil(idleMs / BACKOFF_PART)),
  );

const JOB_BACKOFF_MS_MIN = 2_000;
const JOB_BACKOFF_MS_MAX = 300_000;
/**
 * The random share of the pause, so that jobs that failed at the same time are not repeated at the
 * same time.
 */
const JITTER = 0.25;

/**
 * Milliseconds until a failed job runs again: 2 s after the first failure, and twice as long after
 * each further one, up to 5 minutes. A random part of up to a quarter is subtracted.
 * @param failures consecutive failures, from 1
 * @param random from 0 (inclusive) to 1 (exclusive)
 */
export const jobBackoffMs = (failures: number, random: number): number => {
  // The exponent is bounded, because 2 to the power of many failures is Infinity.
  const pause = Math.min(
    JOB_BACKOFF_MS_MAX,
    JOB_BACKOFF_MS_MIN * 2 ** Math.min(failures - 1, 10),
  );
  return Math.round(pause * (1 - JITTER * random));
};

/** Resolves after `ms` milliseconds, or as soon as `signal` aborts. Never rejects. */
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
