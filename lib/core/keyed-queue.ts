interface KeyedQueueOptions {
  /** The most callers that may wait or run for one key; further callers are refused. Default: no limit. */
  readonly waitingMax?: number;
  /** The error for a caller that is refused. */
  readonly onFull?: () => Error;
}

export interface KeyedQueue {
  /**
   * Runs `work` after all earlier work of the same key has ended, whatever its outcome. Work of other keys runs at the same time.
   * @throws the error of `work`; the error of `onFull` when `waitingMax` callers are there already
   */
  run<T>(key: string, work: () => Promise<T>): Promise<T>;
  /**
   * Runs `work` when it is first in the queues of all `keys`. A caller joins the queues in ascending order of their keys, so two callers
   * never wait for each other (no deadlock).
   * @throws the same errors as `run`
   */
  runAll<T>(keys: readonly string[], work: () => Promise<T>): Promise<T>;
  /** The number of keys with waiting or running work; a key without work takes no memory. */
  size(): number;
}

/**
 * Runs work of the same key one after another inside this process, so that callers wait without holding a database connection.
 * Correctness must not depend on this queue, because other processes have queues of their own.
 * @example
 * const queue = createKeyedQueue();
 * await queue.run(`${chainId}:${address}`, () => reserveNonce(chainId, address));
 */
export const createKeyedQueue = ({ waitingMax = Infinity, onFull }: KeyedQueueOptions = {}): KeyedQueue => {
  const lines = new Map<string, { tail: Promise<unknown>; waiting: number }>();

  const run = async <T>(key: string, work: () => Promise<T>): Promise<T> => {
    const line = lines.get(key) ?? { tail: Promise.resolve(), waiting: 0 };
    if (line.waiting >= waitingMax) throw onFull?.() ?? new Error(`Too many callers wait for ${key}.`);
    const turn = line.tail.then(work);
    line.tail = turn.catch(() => undefined);
    line.waiting += 1;
    lines.set(key, line);
    try {
      return await turn;
    } finally {
      line.waiting -= 1;
      if (line.waiting === 0) lines.delete(key);
    }
  };

  return {
    run,
    runAll: (keys, work) =>
      [...new Set(keys)].sort().reduceRight<typeof work>((inner, key) => () => run(key, inner), work)(),
    size: () => lines.size,
  };
};
