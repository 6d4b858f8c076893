interface Deadline {
  readonly timeoutMs: number;
  /** Message of the error when the time is over. */
  readonly message: string;
}

/**
 * Resolves to the result of `work`, or rejects after `timeoutMs` milliseconds. After the deadline `work` continues and its outcome is
 * ignored, so also pass a signal to work that can be cancelled. The timer is always cleared, so it does not keep the process alive.
 * @throws Error with `message` after the deadline, or the error of `work`
 * @example
 * const head = await withDeadline(client.getBlockNumber(), { timeoutMs: 3000, message: "The chain did not answer in time." });
 */
export const withDeadline = async <T>(work: Promise<T>, { timeoutMs, message }: Deadline): Promise<T> => {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(message)), timeoutMs);
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
};
