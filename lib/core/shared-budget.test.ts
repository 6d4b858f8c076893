import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { createSharedBudget, type BudgetStore } from "./shared-budget";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const PER_SECOND = 100;

/** A bucket that is never refilled, and a record of the requests for slices. */
const bucketOf = (requests: number) => {
  const bucket = { left: requests };
  const asked: Parameters<BudgetStore["take"]>[0][] = [];
  const store: BudgetStore = {
    take: (input) => {
      asked.push(input);
      const reads = Math.min(input.wanted, Math.floor(bucket.left));
      const sends = Math.min(input.sends, Math.floor(bucket.left + input.debtMax));
      const granted = Math.max(0, reads, sends);
      bucket.left -= granted + input.owed;
      return Promise.resolve({ granted, left: bucket.left });
    },
  };
  return { bucket, asked, store };
};

const budgetOn = (store: BudgetStore) =>
  createSharedBudget({
    chainId: 1,
    perSecond: PER_SECOND,
    store,
    onTimeout: () => new Error("too late"),
  });

test("forty requests take four slices from the store", async () => {
  const { asked, bucket, store } = bucketOf(1_000);
  const budget = budgetOn(store);
  const all = Promise.all(Array.from({ length: 40 }, () => budget.acquire("read")));
  await vi.advanceTimersByTimeAsync(1_000);
  await all;
  expect(asked.map(({ wanted }) => wanted)).toEqual([10, 10, 10, 10]);
  expect(bucket.left).toBe(960);
});

test("a send goes before reads that waited longer, and is not held back by an empty bucket", async () => {
  const { bucket, store } = bucketOf(0);
  const budget = budgetOn(store);
  const order: string[] = [];
  const reads = [1, 2].map((number) =>
    budget.acquire("read").then(() => order.push(`read ${String(number)}`)),
  );
  await vi.advanceTimersByTimeAsync(10);
  expect(order).toEqual([]);
  const send = budget.acquire("send").then(() => order.push("send"));
  // No time has passed, so the send must have ended the pause.
  await vi.advanceTimersByTimeAsync(0);
  await send;
  expect([order, bucket.left]).toEqual([["send"], -1]);
  bucket.left = 10;
  await vi.advanceTimersByTimeAsync(500);
  await Promise.all(reads);
  expect(order).toEqual(["send", "read 1", "read 2"]);
});

test("sends that have used up the next second wait too, before all reads", async () => {
  const { bucket, store } = bucketOf(0);
  const budget = budgetOn(store);
  let [sent, read] = [0, 0];
  const reads = Array.from({ length: 5 }, () => budget.acquire("read").then(() => (read += 1)));
  const sends = Array.from({ length: PER_SECOND + 20 }, () =>
    budget.acquire("send").then(() => (sent += 1)),
  );
  await vi.advanceTimersByTimeAsync(0);
  expect([sent, read, bucket.left]).toEqual([PER_SECOND, 0, -PER_SECOND]);
  bucket.left = 25;
  await vi.advanceTimersByTimeAsync(3_000);
  await Promise.all([...sends, ...reads]);
  expect([sent, read]).toEqual([PER_SECOND + 20, 5]);
});

test("a request without a turn within ten seconds fails, and the next one is not kept waiting by it", async () => {
  const { bucket, store } = bucketOf(0);
  const budget = budgetOn(store);
  const late = budget.acquire("read").catch((error: unknown) => error);
  await vi.advanceTimersByTimeAsync(10_000);
  expect(await late).toEqual(new Error("too late"));
  bucket.left = 1;
  const next = budget.acquire("read");
  await vi.advanceTimersByTimeAsync(500);
  await next;
});

test("what a process did not use of a slice within a quarter of a second is lost", async () => {
  const { asked, store } = bucketOf(1_000);
  const budget = budgetOn(store);
  await budget.acquire("read");
  await budget.acquire("read");
  expect(asked).toHaveLength(1);
  await vi.advanceTimersByTimeAsync(251);
  await budget.acquire("read");
  expect(asked).toHaveLength(2);
});

test("requests that were sent without waiting are taken from the bucket with the next slice, once", async () => {
  const { asked, bucket, store } = bucketOf(100);
  const budget = budgetOn(store);
  budget.owe(7);
  await budget.acquire("read");
  expect([asked[0]?.owed, bucket.left]).toEqual([7, 83]);
  await vi.advanceTimersByTimeAsync(251);
  await budget.acquire("read");
  expect(asked[1]?.owed).toBe(0);
});

test("while the store does not answer, the process keeps to the rate by itself, and owes on", async () => {
  const owed: number[] = [];
  const down = { is: true };
  const store: BudgetStore = {
    take: (input) => {
      owed.push(input.owed);
      return down.is
        ? Promise.reject(new Error("The database is down."))
        : Promise.resolve({ granted: input.wanted, left: 100 });
    },
  };
  const budget = budgetOn(store);
  budget.owe(3);
  let done = 0;
  const all = Array.from({ length: 30 }, () => budget.acquire("read").then(() => (done += 1)));
  await vi.advanceTimersByTimeAsync(0);
  expect(done).toBe(10);
  await vi.advanceTimersByTimeAsync(100);
  expect(done).toBe(20);
  down.is = false;
  await vi.advanceTimersByTimeAsync(100);
  await Promise.all(all);
  expect(owed).toEqual([3, 3, 3]);
});

test("each wait is told with its time and whether the request was sent", async () => {
  const { bucket, store } = bucketOf(1);
  const told: [number, string][] = [];
  const onWaited = (seconds: number, outcome: string): void =>
    void told.push([seconds, outcome]);
  const onTimeout = (): Error => new Error("too late");
  const budget = createSharedBudget({
    chainId: 1,
    perSecond: PER_SECOND,
    store,
    onTimeout,
    onWaited,
    waitMaxMs: 1_000,
  });
  await budget.acquire("read");
  const second = budget.acquire("read").catch((error: unknown) => error);
  await vi.advanceTimersByTimeAsync(1_001);
  expect(await second).toEqual(new Error("too late"));
  bucket.left = 10;
  const third = budget.acquire("read");
  await vi.advanceTimersByTimeAsync(500);
  await third;
  expect(told.map(([, outcome]) => outcome)).toEqual(["sent", "timeout", "sent"]);
  expect(told[1]?.[0]).toBeGreaterThanOrEqual(1);
});
