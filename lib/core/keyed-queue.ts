interface KeyedQueueOptions {
  /** More callers than this for one key are refused. Default: no limit. */
  readonly waitingMax?: number;
  /** The error for a caller that is refused. */
  readonly onFull?: () => Error;
}

export interface KeyedQueue {
  /**
   * Runs `work` after all earlier work of the same key has ended, whatever its outcome. Work of other keys runs at the same time.
   * @throws the error of `work`, or that of `onFull`
   */
  run<T>(key: string, work: () => Promise<T>): Promise<T>;
  /**
   * Runs `work` when it is first in the queues of all keys. Queues are joined in the order of their keys, so two callers never wait
   * for each other.
   */
  runAll<T>(keys: readonly string[], work: () => Promise<T>): Promise<T>;
  /** How many keys have work now; a key without work takes no memory. */
  size(): number;
}

/**
 * Serialises work per key inside this process, so that callers wait here and not with a database connection each. Correctness must
 * not depend on it: other processes have queues of their own.
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
