import { afterEach, describe, expect, test, vi } from "vitest";
import { createBatcher, type BatcherOptions } from "./batch";

const BATCH_WEIGHT_MAX = 8;

/** A batcher whose batches end when the test releases them. */
const heldBatcher = (own: Partial<BatcherOptions<number, number>> = {}) => {
  const batches: { items: readonly number[]; end: () => void }[] = [];
  const batcher = createBatcher<number, number>({
    batchWeightMax: BATCH_WEIGHT_MAX,
    lanes: 1,
    waitingMax: 100,
    weightOf: () => 1,
    full: () => new Error("full"),
    run: (items) =>
      new Promise((resolve) => {
        const end = (): void =>
          resolve(
            items.map((value) => (value < 0 ? new Error(`no ${String(value)}`) : value * 10)),
          );
        batches.push({ items, end });
      }),
    ...own,
  });
  return { batcher, batches };
};

afterEach(() => void vi.useRealTimers());

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

const itemsOf = (batches: readonly { items: readonly number[] }[]): (readonly number[])[] =>
  batches.map(({ items }) => items);

describe("the batcher", () => {
  test("sends what comes in one turn at once, and gathers while that is under way", async () => {
    const { batcher, batches } = heldBatcher();
    const first = [1, 2].map((item) => batcher.submit(item));
    await turn();
    const later = [3, 4, 5].map((item) => batcher.submit(item));
    await turn();
    expect(itemsOf(batches)).toEqual([[1, 2]]);
    batches[0]?.end();
    expect(await Promise.all(first)).toEqual([10, 20]);
    await turn();
    expect(itemsOf(batches)).toEqual([
      [1, 2],
      [3, 4, 5],
    ]);
    batches[1]?.end();
    expect(await Promise.all(later)).toEqual([30, 40, 50]);
    await batcher.idle();
  });

  test("keeps to the weight of a batch and to the order, and takes one that is heavier by itself", async () => {
    const { batcher, batches } = heldBatcher({ weightOf: (item) => item });
    const all = [3, 4, 2, 50, 1].map((item) => batcher.submit(item));
    for (let count = 1; count <= 4; count += 1) {
      await turn();
      await turn();
      batches[count - 1]?.end();
      await turn();
    }
    expect(await Promise.all(all)).toEqual([30, 40, 20, 500, 10]);
    expect(itemsOf(batches)).toEqual([[3, 4], [2], [50], [1]]);
  });

  test("tells whom it has no room for, and loses nobody else", async () => {
    const { batcher, batches } = heldBatcher({ waitingMax: 2 });
    const waiting = [1, 2].map((item) => batcher.submit(item));
    await expect(batcher.submit(3)).rejects.toThrow("full");
    await turn();
    batches[0]?.end();
    expect(await Promise.all(waiting)).toEqual([10, 20]);
  });

  test("goes on after a batch that failed as a whole", async () => {
    let fail = true;
    const { batcher } = heldBatcher({
      run: (items) => {
        if (!fail) return Promise.resolve([...items]);
        fail = false;
        return Promise.reject(new Error("no"));
      },
    });
    await expect(batcher.submit(1)).rejects.toThrow("no");
    expect(await batcher.submit(2)).toBe(2);
  });

  test("rejects the one item that has an error", async () => {
    const { batcher, batches } = heldBatcher();
    const both = Promise.allSettled([-1, 1].map((item) => batcher.submit(item)));
    await turn();
    batches[0]?.end();
    expect((await both).map(({ status }) => status)).toEqual(["rejected", "fulfilled"]);
  });

  test("starts batches no more often than it may", async () => {
    vi.useFakeTimers();
    const starts: number[] = [];
    const batcher = createBatcher<number, number>({
      run: (items) => {
        starts.push(performance.now());
        return Promise.resolve([...items]);
      },
      batchWeightMax: 1,
      everyMs: 40,
    });
    const answers = Promise.all([1, 2, 3].map((item) => batcher.submit(item)));
    await vi.advanceTimersByTimeAsync(1000);
    expect(await answers).toEqual([1, 2, 3]);
    const gaps = starts.slice(1).map((start, index) => start - (starts[index] ?? 0));
    expect(gaps).toHaveLength(2);
    // The fake clock adds a millisecond for the event loop's turn before each batch.
    for (const gap of gaps) expect([40, 41]).toContain(gap);
  });
});
