import { afterEach, describe, expect, test, vi } from "vitest";
import { createBatcher } from "./batch";

/** Work whose end the test decides. */
const heldWork = () => {
  const batches: number[][] = [];
  const ends: (() => void)[] = [];
  const work = async (items: readonly number[]): Promise<(string | Error)[]> => {
    batches.push([...items]);
    await new Promise<void>((resolve) => ends.push(resolve));
    return items.map((item) => (item < 0 ? new Error(`no ${String(item)}`) : `answer ${String(item)}`));
  };
  return { batches, ends, work };
};

const until = async (condition: () => boolean): Promise<void> => {
  const deadline = performance.now() + 2000;
  while (!condition()) {
    if (performance.now() > deadline) throw new Error("It did not come to that.");
    await new Promise((resolve) => setTimeout(resolve, 1));
  }
};

afterEach(() => void vi.useRealTimers());

describe("batching", () => {
  test("the first starts at once, and what is asked meanwhile goes together afterwards", async () => {
    const { batches, ends, work } = heldWork();
    const ask = createBatcher(work, { itemsMax: 10 });
    const first = ask(1);
    await until(() => batches.length === 1);
    const others = [2, 3, 4].map(ask);
    ends[0]?.();
    expect(await first).toBe("answer 1");
    await until(() => batches.length === 2);
    ends[1]?.();
    expect(await Promise.all(others)).toEqual(["answer 2", "answer 3", "answer 4"]);
    expect(batches).toEqual([[1], [2, 3, 4]]);
  });

  test("what is asked in the same breath goes together, and never more than the most", async () => {
    const { batches, ends, work } = heldWork();
    const ask = createBatcher(work, { itemsMax: 2 });
    const all = Promise.all([1, 2, 3].map(ask));
    await until(() => ends.length === 1);
    ends[0]?.();
    await until(() => ends.length === 2);
    ends[1]?.();
    await all;
    expect(batches).toEqual([[1, 2], [3]]);
  });

  test("an error of one is its own, and work that fails fails for those it was for alone", async () => {
    const { ends, work } = heldWork();
    const ask = createBatcher(work, { itemsMax: 10 });
    const both = Promise.allSettled([ask(-1), ask(1)]);
    await until(() => ends.length === 1);
    ends[0]?.();
    expect((await both).map(({ status }) => status)).toEqual(["rejected", "fulfilled"]);

    let turns = 0;
    const failing = createBatcher<number, number>(
      (items) => ((turns += 1) === 1 ? Promise.reject(new Error("broken")) : Promise.resolve([...items])),
      { itemsMax: 10 },
    );
    await expect(failing(1)).rejects.toThrow("broken");
    expect(await failing(2)).toBe(2);
  });

  test("begins no sooner than it may", async () => {
    vi.useFakeTimers();
    const starts: number[] = [];
    const ask = createBatcher<number, number>(
      (items) => {
        starts.push(performance.now());
        return Promise.resolve([...items]);
      },
      { itemsMax: 1, everyMs: 40 },
    );
    const answers = Promise.all([1, 2, 3].map(ask));
    await vi.advanceTimersByTimeAsync(1000);
    expect(await answers).toEqual([1, 2, 3]);
    const gaps = starts.slice(1).map((start, index) => start - (starts[index] ?? 0));
    expect(gaps).toEqual([40, 40]);
  });
});
