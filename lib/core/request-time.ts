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
  /** Whether a transaction of the request was committed. Later transactions are then committed. */
  hasCommitted: boolean;
  /** Whether a call was ended because the time was over. Timers may fire a little early. */
  hasEndedCall: boolean;
  /** Whether the request was answered. Work that it started and that goes on has no limit. */
  isOver: boolean;
}

const RETRY_AFTER_SECONDS = 5;
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
    hasCommitted: false,
    hasEndedCall: false,
    isOver: false,
  };
  try {
    return await storage.run(time, work);
  } catch (error) {
    const isLate = time.hasEndedCall || leftMs(time) <= 0;
    if (!isLate || time.hasCommitted || outageOf(error) !== "chain") throw error;
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
 * Checks the time before a COMMIT. Once a transaction of the request was committed, later ones are
 * committed too, because the request was accepted and its answer has to say so.
 * @throws DomainError `service_unavailable` when the time is over
 */
export const requireTimeToCommit = (): void => {
  const time = current();
  if (time === null || time.hasCommitted || leftMs(time) > 0) return;
  throw lateError("service_unavailable", "This took", time.budgetMs);
};

/** Notes that a transaction of the request was committed. */
export const noteCommit = (): void => {
  const time = current();
  if (time !== null) time.hasCommitted = true;
};
