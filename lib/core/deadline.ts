interface Deadline {
  readonly timeoutMs: number;
  readonly message: string;
  /** Creates the error after the deadline. Default: a plain Error. */
  readonly errorOf?: (message: string) => Error;
}

const LATE = Symbol("late");

/**
 * Resolves to the result of `work`, or to `LATE` after `timeoutMs` milliseconds. The timer is
 * always cleared, so it does not keep the process alive.
 */
const race = async <T>(work: Promise<T>, timeoutMs: number): Promise<T | typeof LATE> => {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<typeof LATE>((resolve) => {
    timer = setTimeout(() => resolve(LATE), timeoutMs);
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
};

const plainError = (message: string): Error => new Error(message);

/**
 * Resolves to the result of `work`, or rejects after `timeoutMs` milliseconds. After the deadline
 * `work` continues and its outcome is ignored, so also pass a signal to work that can be cancelled.
 * @throws the error of `errorOf` after the deadline, or the error of `work`
 * @example
 * const head = await withDeadline(client.getBlockNumber(), { timeoutMs: 3000, message: "The chain did not answer in time." });
 */
export const withDeadline = async <T>(
  work: Promise<T>,
  { timeoutMs, message, errorOf = plainError }: Deadline,
): Promise<T> => {
  const result = await race(work, timeoutMs);
  if (result === LATE) throw errorOf(message);
  return result;
};

/**
 * Resolves to the result of `work`, or to null after `timeoutMs` milliseconds. `work` continues
 * after the deadline, and its outcome is ignored.
 * @throws the error of `work`
 * @example
 * const totals = await resultWithin(store.count(bucket), 20); // null: the store was slow
 */
export const resultWithin = async <T>(
  work: Promise<T>,
  timeoutMs: number,
): Promise<T | null> => {
  const result = await race(work, timeoutMs);
  return result === LATE ? null : result;
};
