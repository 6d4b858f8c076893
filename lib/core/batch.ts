export interface BatcherOptions<Item, Result> {
  /**
   * Processes a batch. Resolves to one result for each item, in the order of the items; an Error
   * rejects only its own item. When `run` rejects, every item of the batch is rejected.
   */
  run(items: readonly Item[]): Promise<readonly (Result | Error)[]>;
  readonly batchWeightMax: number;
  /**
   * The part of `batchWeightMax` that an item uses. Default 1. An item above `batchWeightMax` is
   * processed in a batch of its own.
   */
  weightOf?(item: Item): number;
  /** The maximum number of batches that run at the same time. Default 1. */
  readonly lanes?: number;
  /** The minimum number of milliseconds between the starts of two batches of a lane. Default 0. */
  readonly everyMs?: number;
  /**
   * The maximum number of waiting items. A further item is rejected with the error of `full`.
   * Default: no limit.
   */
  readonly waitingMax?: number;
  full?(): Error;
}

interface Waiting<Item, Result> {
  readonly item: Item;
  resolve(result: Result): void;
  reject(reason: unknown): void;
}

/**
 * Collects items while batches run, and starts the next batch as soon as a lane is free. A single
 * item does not wait for others, and batches grow with the load.
 * @example
 * const balances = createBatcher({ run: (accounts) => readBalances(accounts), batchWeightMax: 100 });
 * const balance = await balances.submit(account);
 */
export const createBatcher = <Item, Result>(options: BatcherOptions<Item, Result>) => {
  const { weightOf = () => 1, lanes = 1, everyMs = 0, waitingMax = Infinity } = options;
  let waiting: Waiting<Item, Result>[] = [];
  let running = 0;
  let whenIdle: (() => void)[] = [];

  const take = (): Waiting<Item, Result>[] => {
    const batch: Waiting<Item, Result>[] = [];
    let weight = 0;
    for (const next of waiting) {
      weight += weightOf(next.item);
      if (batch.length > 0 && weight > options.batchWeightMax) break;
      batch.push(next);
    }
    waiting = waiting.slice(batch.length);
    return batch;
  };

  const deliver = (
    batch: readonly Waiting<Item, Result>[],
    results: readonly (Result | Error)[],
  ): void => {
    batch.forEach(({ resolve, reject }, index) => {
      const result = results[index];
      if (result === undefined || result instanceof Error)
        reject(result ?? new Error("The batch has no result for an item."));
      else resolve(result);
    });
  };

  const free = (): void => {
    running -= 1;
    schedule();
  };

  const perform = async (): Promise<void> => {
    const batch = take();
    const started = performance.now();
    try {
      deliver(batch, await options.run(batch.map(({ item }) => item)));
    } catch (error) {
      for (const { reject } of batch) reject(error);
    }
    const restMs = everyMs - (performance.now() - started);
    if (restMs > 0) setTimeout(free, restMs);
    else free();
  };

  const schedule = (): void => {
    if (waiting.length === 0 && running === 0) {
      for (const resolve of whenIdle) resolve();
      whenIdle = [];
    }
    if (waiting.length === 0 || running >= lanes) return;
    running += 1;
    // Items that are submitted in this turn of the event loop go into the same batch.
    setImmediate(() => void perform());
  };

  return {
    /**
     * Adds an item and resolves to its result.
     * @throws the Error of the item, the error of `run`, or the error of `full`
     */
    submit: (item: Item): Promise<Result> =>
      new Promise((resolve, reject) => {
        if (waiting.length >= waitingMax) {
          reject(options.full?.() ?? new Error("Too many items wait."));
          return;
        }
        waiting.push({ item, resolve, reject });
        schedule();
      }),
    /** Resolves when no item waits and no batch runs. */
    idle: (): Promise<void> =>
      new Promise((resolve) => {
        whenIdle.push(resolve);
        schedule();
      }),
  };
};
