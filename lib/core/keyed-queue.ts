interface KeyedQueueOptions {
  /** The maximum number of calls that run at the same time for one key. Default 1. */
  readonly atOnceMax?: number;
  /**
   * The maximum number of calls that wait or run for one key. Further calls are rejected. Default:
   * no limit.
   */
  readonly waitingMax?: number;
  readonly onFull?: () => Error;
}

export interface KeyedQueue {
  /**
   * Runs `work` when earlier calls with the same key have started and fewer than `atOnceMax` of
   * them are running. Calls with other keys do not wait.
   * @throws the error of `work`; the error of `onFull` when `waitingMax` calls wait or run already
   */
  run<T>(key: string, work: () => Promise<T>): Promise<T>;
  /**
   * Runs `work` when it has its turn in the queues of all `keys`. A call joins the queues in
   * ascending order of the keys, so that two calls never wait for each other (no deadlock).
   * @throws the same errors as `run`
   */
  runAll<T>(keys: readonly string[], work: () => Promise<T>): Promise<T>;
  /** The number of keys with waiting or running work; a key without work takes no memory. */
  size(): number;
}

/**
 * Runs work of the same key one after another (or a few at a time) inside this process, so that
 * callers wait without holding a database connection. Correctness must not depend on this queue,
 * because other processes have separate queues.
 * @example
 * const queue = createKeyedQueue();
 * await queue.run(`${chainId}:${address}`, () => reserveNonce(chainId, address));
 */
export const createKeyedQueue = ({
  atOnceMax = 1,
  waitingMax = Infinity,
  onFull,
}: KeyedQueueOptions = {}): KeyedQueue => {
  const lines = new Map<string, { running: number; readonly waiting: (() => void)[] }>();

  const run = async <T>(key: string, work: () => Promise<T>): Promise<T> => {
    const line = lines.get(key) ?? { running: 0, waiting: [] };
    if (line.running + line.waiting.length >= waitingMax)
      throw onFull?.() ?? new Error(`Too many callers wait for ${key}.`);
    lines.set(key, line);
    if (line.running < atOnceMax) line.running += 1;
    else await new Promise<void>((start) => line.waiting.push(start));
    try {
      return await work();
    } finally {
      // The next call takes the slot of this one, so `running` stays the same.
      const next = line.waiting.shift();
      if (next === undefined) line.running -= 1;
      else next();
      if (line.running === 0) lines.delete(key);
    }
  };

  return {
    run,
    runAll: (keys, work) =>
      [...new Set(keys)]
        .sort()
        .reduceRight<typeof work>((inner, key) => () => run(key, inner), work)(),
    size: () => lines.size,
  };
};
