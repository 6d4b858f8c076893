/** One of those that are worked on together: what was asked, and how to answer it. */
interface Waiting<T, R> {
  readonly item: T;
  resolve(value: R): void;
  reject(error: unknown): void;
}

interface BatchOptions {
  /** How many go into one piece of work at most; the others wait for the next. */
  readonly itemsMax: number;
  /** How long after the start of one piece of work the next begins at the earliest. Default 0: as soon as the one before has ended. */
  readonly everyMs?: number;
}

const wait = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/**
 * Answers many askers with one piece of work at a time. The first starts it at once; whoever asks meanwhile waits, and all of them are
 * worked on together as soon as the work before has ended. `work` answers in the order of its items; what it throws goes to each of them.
 */
export const createBatcher = <T, R>(
  work: (items: readonly T[]) => Promise<readonly (R | Error)[]>,
  { itemsMax, everyMs = 0 }: BatchOptions,
): ((item: T) => Promise<R>) => {
  let waiting: Waiting<T, R>[] = [];
  let isWorking = false;

  const answer = async (batch: readonly Waiting<T, R>[]): Promise<void> => {
    try {
      const answers = await work(batch.map(({ item }) => item));
      batch.forEach(({ resolve, reject }, index) => {
        const one = answers[index];
        if (one === undefined || one instanceof Error) reject(one ?? new Error("No answer was given."));
        else resolve(one);
      });
    } catch (error) {
      for (const { reject } of batch) reject(error);
    }
  };

  const turn = async (): Promise<void> => {
    isWorking = true;
    // What is asked in the same breath belongs together.
    await wait(0);
    while (waiting.length > 0) {
      const started = performance.now();
      const batch = waiting.slice(0, itemsMax);
      waiting = waiting.slice(itemsMax);
      await answer(batch);
      const restMs = everyMs - (performance.now() - started);
      if (restMs > 0) await wait(restMs);
    }
    isWorking = false;
  };

  return (item) =>
    new Promise((resolve, reject) => {
      waiting.push({ item, resolve, reject });
      if (!isWorking) void turn();
    });
};
