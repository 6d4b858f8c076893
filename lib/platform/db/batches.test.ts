import { expect, test } from "vitest";
import { eachByItself, oneByOneAfterRefusal, RefusedItemError } from "./batches";

const batchOf = (fail: (item: number) => Error | null) => {
  const runs: (readonly number[])[] = [];
  const run = oneByOneAfterRefusal((items: readonly number[]) => {
    runs.push(items);
    const error = items.map(fail).find((each) => each !== null);
    return error === undefined
      ? Promise.resolve(items.map((item) => item * 10))
      : Promise.reject(error);
  });
  return { run, runs };
};

test("an item that is refused fails alone", async () => {
  const { run } = batchOf((item) => (item === 2 ? new RefusedItemError("No two.") : null));
  expect(await run([1, 2, 3])).toEqual([10, new RefusedItemError("No two."), 30]);
});

test("items that another transaction made fail with a deadlock succeed one by one", async () => {
  const deadlock = Object.assign(new Error("deadlock detected"), { code: "40P01" });
  let isFirst = true;
  const { run } = batchOf(() => {
    const error = isFirst ? deadlock : null;
    isFirst = false;
    return error;
  });
  expect(await run([1, 2])).toEqual([10, 20]);
});

test("a batch whose connection was lost fails as a whole, without asking the database once for each item", async () => {
  const { run, runs } = batchOf(() => new Error("Connection terminated unexpectedly"));
  await expect(run([1, 2, 3])).rejects.toThrow("Connection terminated");
  expect(runs).toHaveLength(1);
});

test("when the database is lost between single items the rest is not tried", async () => {
  const { run, runs } = batchOf((item) => {
    if (item === 1) return new RefusedItemError("No one.");
    return item === 2 ? new Error("Query read timeout") : null;
  });
  const results = await run([1, 2, 3]);
  expect(results.map((each) => (each instanceof Error ? each.message : each))).toEqual([
    "No one.",
    "Query read timeout",
    "Query read timeout",
  ]);
  expect(runs).toHaveLength(3);
});

test("groups run by themselves, at most four at a time, and a group that fails leaves the others their results", async () => {
  let running = 0;
  let most = 0;
  const batches: string[] = [];
  const run = eachByItself(
    (item: string) => item.slice(0, 1),
    async (items) => {
      batches.push(items.join(" "));
      running += 1;
      most = Math.max(most, running);
      await new Promise(setImmediate);
      running -= 1;
      if (items.includes("b1")) throw new Error("The node of b is lost.");
      return items.map((item) => item.toUpperCase());
    },
  );
  const lost = new Error("The node of b is lost.");
  expect(await run(["a1", "b1", "a2", "c1", "d1", "b2", "e1", "f1"])).toEqual([
    ...["A1", lost, "A2", "C1", "D1", lost, "E1", "F1"],
  ]);
  expect(batches).toEqual(["a1 a2", "b1 b2", "c1", "d1", "e1", "f1"]);
  expect(most).toBe(4);
});
