interface Deadline {
  readonly timeoutMs: number;
  /** Message of the error when the time is over. */
  readonly message: string;
  /** Makes that error. Default: a plain Error. */
  readonly errorOf?: (message: string) => Error;
}

const plainError = (message: string): Error => new Error(message);

/**
 * Resolves to the result of `work`, or rejects after `timeoutMs` milliseconds. After the deadline `work` continues and its outcome is
 * ignored, so also pass a signal to work that can be cancelled. The timer is always cleared, so it does not keep the process alive.
 * @throws the error of `errorOf` after the deadline, or the error of `work`
 * @example
 * const head = await withDeadline(client.getBlockNumber(), { timeoutMs: 3000, message: "The chain did not answer in time." });
 */
export const withDeadline = async <T>(
  work: Promise<T>,
  { timeoutMs, message, errorOf = plainError }: Deadline,
): Promise<T> => {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(errorOf(message)), timeoutMs);
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
};
