interface Waiting {
  readonly callbacks: Set<() => void>;
  readonly fire: () => void;
}

/**
 * For each signal, the callers that wait for it. They share one listener, because a quote waits
 * for dozens of answers with one signal.
 */
const waiting = new WeakMap<AbortSignal, Waiting>();

const listen = (signal: AbortSignal): Waiting => {
  const callbacks = new Set<() => void>();
  const fire = (): void => {
    for (const callback of callbacks) callback();
  };
  signal.addEventListener("abort", fire, { once: true });
  const made = { callbacks, fire };
  waiting.set(signal, made);
  return made;
};

const onceAborted = (signal: AbortSignal, callback: () => void): (() => void) => {
  const { callbacks, fire } = waiting.get(signal) ?? listen(signal);
  callbacks.add(callback);
  return () => {
    callbacks.delete(callback);
    if (callbacks.size > 0) return;
    signal.removeEventListener("abort", fire);
    waiting.delete(signal);
  };
};

/**
 * Resolves as `promise` does, or rejects with the signal's reason as soon as the signal aborts. The
 * work behind `promise` continues, but its outcome is ignored.
 * @throws the signal's reason, or the error of `promise`
 * @example
 * const gasPrice = await abortable(client.getGasPrice(), signal);
 */
export const abortable = async <T>(promise: Promise<T>, signal: AbortSignal): Promise<T> => {
  // Nobody awaits the work any more, so its rejection must not count as unhandled.
  if (signal.aborted) promise.catch(() => undefined);
  signal.throwIfAborted();
  let leave = (): void => undefined;
  const aborted = new Promise<never>((_, reject) => {
    leave = onceAborted(signal, () => {
      reject(
        signal.reason instanceof Error
          ? signal.reason
          : new Error("Aborted.", { cause: signal.reason }),
      );
    });
  });
  try {
    return await Promise.race([promise, aborted]);
  } finally {
    leave();
  }
};
