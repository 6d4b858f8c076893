export interface BatcherOptions<Item, Result> {
  /** Does a batch as one. One result for each item, in order; an item that fails fails alone. */
  run(items: readonly Item[]): Promise<readonly PromiseSettledResult<Result>[]>;
  /** How much of a batch an item takes; at least 1. */
  weightOf(item: Item): number;
  readonly batchWeightMax: number;
  /** Batches under way at once. */
  readonly lanes: number;
  /** Items that may wait. */
  readonly waitingMax: number;
  /** What an item is told that finds the queue full. */
  full(): Error;
}

interface Waiting<Item, Result> {
  readonly item: Item;
  resolve(result: Result): void;
  reject(reason: unknown): void;
}

/**
 * Gathers items while batches are under way, and starts the next batch as soon as a lane is free: a single item waits for nobody,
 * and the busier it gets the larger the batches.
 */
export const createBatcher = <Item, Result>(options: BatcherOptions<Item, Result>) => {
  let waiting: Waiting<Item, Result>[] = [];
  let running = 0;
  let whenIdle: (() => void)[] = [];

  const take = (): Waiting<Item, Result>[] => {
    const batch: Waiting<Item, Result>[] = [];
    let weight = 0;
    for (const next of waiting) {
      weight += options.weightOf(next.item);
      if (batch.length > 0 && weight > options.batchWeightMax) break;
      batch.push(next);
    }
    waiting = waiting.slice(batch.length);
    return batch;
  };

  const deliver = (batch: readonly Waiting<Item, Result>[], results: readonly PromiseSettledResult<Result>[]): void => {
    batch.forEach(({ resolve, reject }, index) => {
      const result = results[index];
      if (result?.status === "fulfilled") resolve(result.value);
      else reject(result?.reason ?? new Error("The batch gave no answer."));
    });
  };

  const perform = async (): Promise<void> => {
    const batch = take();
    try {
      deliver(batch, await options.run(batch.map(({ item }) => item)));
    } catch (error) {
      for (const { reject } of batch) reject(error);
    } finally {
      running -= 1;
      schedule();
    }
  };

  const schedule = (): void => {
    if (waiting.length === 0 && running === 0) {
      for (const resolve of whenIdle) resolve();
      whenIdle = [];
    }
    if (waiting.length === 0 || running >= options.lanes) return;
    running += 1;
    // Whatever is submitted in this turn of the event loop goes along.
    setImmediate(() => void perform());
  };

  return {
    submit: (item: Item): Promise<Result> =>
      new Promise((resolve, reject) => {
        if (waiting.length >= options.waitingMax) {
          reject(options.full());
          return;
        }
        waiting.push({ item, resolve, reject });
        schedule();
      }),
    /** Resolves once nothing waits and nothing is under way. */
    idle: (): Promise<void> =>
      new Promise((resolve) => {
        whenIdle.push(resolve);
        schedule();
      }),
  };
};
