interface Deadline {
  readonly timeoutMs: number;
  /** Message of the error when the time is over. */
  readonly message: string;
}

/**
 * The result of `work`, or an error after `timeoutMs` milliseconds. The work itself goes on and its outcome is dropped: give it a
 * signal as well where it can be cancelled. The timer is cleared in any case, so nothing keeps the process alive.
 * @throws Error with `message`, or the error of `work`
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
