interface KeyedQueueOptions {
  /** The most callers whose work runs at once for one key, in the order in which they came. Default 1. */
  readonly atOnceMax?: number;
  /** The most callers that may wait or run for one key; further callers are refused. Default: no limit. */
  readonly waitingMax?: number;
  /** The error for a caller that is refused. */
  readonly onFull?: () => Error;
}

export interface KeyedQueue {
  /**
   * Runs `work` after the earlier callers of the same key have begun and fewer than `atOnceMax` of them still run; failures count as ends.
   * Work of other keys runs at the same time.
   * @throws the error of `work`; the error of `onFull` when `waitingMax` callers are there already
   */
  run<T>(key: string, work: () => Promise<T>): Promise<T>;
  /**
   * Runs `work` when it has its turn in the queues of all `keys`. A caller joins the queues in ascending order of their keys, so two callers
   * never wait for each other (no deadlock).
   * @throws the same errors as `run`
   */
  runAll<T>(keys: readonly string[], work: () => Promise<T>): Promise<T>;
  /** The number of keys with waiting or running work; a key without work takes no memory. */
  size(): number;
}

/**
 * Runs work of the same key one after another inside this process (or a few at once), so that callers wait without holding a database connection.
 * Correctness must not depend on this queue, because other processes have queues of their own.
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
      // The next one takes over this one's place.
      const next = line.waiting.shift();
      if (next === undefined) line.running -= 1;
      else next();
      if (line.running === 0) lines.delete(key);
    }
  };

  return {
    run,
    runAll: (keys, work) =>
      [...new Set(keys)].sort().reduceRight<typeof work>((inner, key) => () => run(key, inner), work)(),
    size: () => lines.size,
  };
};
