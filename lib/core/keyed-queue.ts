interface KeyedQueueOptions {
  /**
   * The maximum number of callers whose work runs at the same time for one key, in order of
   * arrival. Default 1.
   */
  readonly atOnceMax?: number;
  /**
   * The maximum number of callers that may wait or run for one key; further callers are refused.
   * Default: no limit.
   */
  readonly waitingMax?: number;
  /** Creates the error for a refused caller. */
  readonly onFull?: () => Error;
}

export interface KeyedQueue {
  /**
   * Runs `work` after the earlier callers of the same key have started and fewer than `atOnceMax`
   * of them are running; a failed call counts as ended. Work of other keys runs at the same time.
   * @throws the error of `work`; the error of `onFull` when `waitingMax` callers wait or run
   * already
   */
  run<T>(key: string, work: () => Promise<T>): Promise<T>;
  /**
   * Runs `work` when it has its turn in the queues of all `keys`. A caller joins the queues in
   * ascending order of their keys, so two callers never wait for each other (no deadlock).
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
      // The next caller takes over the slot of this one.
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
