import { expect, test } from "vitest";
import { oneByOneAfterRefusal, RefusedItemError } from "./batches";

const batchOf = (fail: (item: number) => Error | null) => {
  const runs: (readonly number[])[] = [];
  const run = oneByOneAfterRefusal((items: readonly number[]) => {
    runs.push(items);
    const error = items.map(fail).find((each) => each !== null);
    return error === undefined ? Promise.resolve(items.map((item) => item * 10)) : Promise.reject(error);
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
