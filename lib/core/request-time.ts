import { AsyncLocalStorage } from "node:async_hooks";
import { withDeadline } from "@/lib/core/deadline";
import { DomainError, type ErrorCode } from "@/lib/core/errors";
import { outageOf } from "@/lib/core/outage";

/**
 * The time that a request to the API may take. Its calls to chains share the time, and a
 * transaction that is late is rolled back before COMMIT, so that the answer 503 means that nothing
 * was accepted. Work outside of a request, such as a worker's, has no such limit.
 */
interface RequestTime {
  readonly budgetMs: number;
  readonly endsAtMs: number;
  /**
   * Whether a transaction of the request was committed, or may be by now. Later transactions are
   * then committed too.
   */
  mayHaveCommitted: boolean;
  /** Whether a call was ended because the time was over. Timers may fire a little early. */
  hasEndedCall: boolean;
  /** Whether the request was answered. Work that goes on afterwards has no limit. */
  isOver: boolean;
  /** Whether the answer said that nothing was accepted because the time was over. */
  isRefused: boolean;
}

const RETRY_AFTER_SECONDS = 5;
/**
 * Time after the end of a refused request for which its transactions are rolled back. Steps that
 * ran beside the one that failed take less.
 */
const REFUSED_MS = 60_000;
const MS_PER_SECOND = 1000;

// The server's bundle and Next's bundle each have a copy of this module. The registered symbol
// makes them share the storage.
const STORAGE = Symbol.for("causeway.requestTime");
const shared = globalThis as { [STORAGE]?: AsyncLocalStorage<RequestTime> };
const storage = (shared[STORAGE] ??= new AsyncLocalStorage<RequestTime>());

const current = (): RequestTime | null => {
  const time = storage.getStore();
  return time === undefined || time.isOver ? null : time;
};

const leftMs = ({ endsAtMs }: RequestTime): number => endsAtMs - performance.now();

const lateError = (code: ErrorCode, subject: string, budgetMs: number): DomainError =>
  new DomainError(
    code,
    `${subject} longer than the ${String(budgetMs / MS_PER_SECOND)} seconds that a request may take (REQUEST_SECONDS_MAX). Nothing was accepted; try again shortly.`,
    { retryAfterSeconds: RETRY_AFTER_SECONDS },
  );

/**
 * Runs a request that may take `budgetMs` milliseconds.
 * @throws the error of `work`; DomainError `chain_unavailable` when a chain needed the whole time
 * @example const answer = await withinRequestTime(10_000, () => handler(context));
 */
export const withinRequestTime = async <T>(
  budgetMs: number,
  work: () => Promise<T>,
): Promise<T> => {
  const time: RequestTime = {
    budgetMs,
    endsAtMs: performance.now() + budgetMs,
    mayHaveCommitted: false,
    hasEndedCall: false,
    isOver: false,
    isRefused: false,
  };
  try {
    return await storage.run(time, work);
  } catch (error) {
    const isLate = time.hasEndedCall || leftMs(time) <= 0;
    time.isRefused = isLate && !time.mayHaveCommitted;
    if (!time.isRefused || outageOf(error) !== "chain") throw error;
    throw lateError("chain_unavailable", "A chain needs", budgetMs);
  } finally {
    time.isOver = true;
  }
};

/**
 * Waits for a call at most until the end of the request's time. The call itself goes on.
 * @param late creates the error when the time is over
 * @throws the error of `call` or of `late`
 */
export const withinTimeLeft = <T>(call: () => Promise<T>, late: () => Error): Promise<T> => {
  const time = current();
  if (time === null) return call();
  const errorOf = (): Error => {
    time.hasEndedCall = true;
    return late();
  };
  const timeoutMs = leftMs(time);
  if (timeoutMs <= 0) return Promise.reject(errorOf());
  return withDeadline(call(), { timeoutMs, message: "", errorOf });
};

/**
 * Checks the time before something is committed. Once a request may have committed something, the
 * rest is committed too, because the request was accepted and its answer has to say so. A request
 * that was refused commits nothing any more, also by steps that still run.
 * @throws DomainError `service_unavailable` when the time is over
 */
export const requireTimeToCommit = (): void => {
  const time = storage.getStore();
  if (time === undefined || time.mayHaveCommitted) return;
  if (time.isOver ? time.isRefused && leftMs(time) > -REFUSED_MS : leftMs(time) <= 0)
    throw lateError("service_unavailable", "This took", time.budgetMs);
  if (!time.isOver) time.mayHaveCommitted = true;
};

/**
 * Runs work that several requests share, such as a batch, without the limit of the request that
 * happens to start it.
 */
export const outsideRequestTime = <T>(work: () => T): T => storage.exit(work);
