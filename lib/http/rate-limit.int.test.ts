import { expect, test, vi } from "vitest";
import { createRateWindowStore } from "@/lib/platform/db/rate-window";
import { testDatabase } from "@/lib/dev/testing/database";
import { createRateLimiter, RATE_WINDOW_MS } from "./rate-limit";

const { database } = await testDatabase();
const store = createRateWindowStore(database);
const START = 30_000_000 * RATE_WINDOW_MS;

test("of a burst on two instances at once exactly the limit passes, by few statements", async () => {
  const add = vi.fn(store.add);
  const instances = [createRateLimiter({ add }), createRateLimiter({ add })];
  const burst = (bucket: string, limit: number, size: number) =>
    Promise.all(
      Array.from({ length: size }, async (_, index) =>
        instances[index % 2]?.admit(bucket, limit, START),
      ),
    );
  for (const [bucket, limit, size] of [
    ["burst:a", 200, 1_000],
    ["burst:b", 1, 50],
    ["burst:c", 500, 500],
  ] as const) {
    const passed = (await burst(bucket, limit, size)).filter((decision) => decision?.allowed);
    expect(passed).toHaveLength(limit);
    // Each request that passed has a distinct number in the window.
    expect(new Set(passed.map((decision) => decision?.remaining)).size).toBe(limit);
    expect((await burst(bucket, limit, 20)).filter((decision) => decision?.allowed)).toEqual(
      [],
    );
  }
  expect(add.mock.calls.length).toBeLessThan(40);
});

test("requests that come one after another on two instances pass up to the limit", async () => {
  const instances = [createRateLimiter(store), createRateLimiter(store)];
  const allowed: boolean[] = [];
  for (let index = 0; index < 12; index += 1) {
    const decision = await instances[index % 2]?.admit("turns", 10, START);
    allowed.push(decision?.allowed === true);
  }
  expect(allowed).toEqual([...Array<boolean>(10).fill(true), false, false]);
});

test("counts go out by themselves, many requests in one statement", async () => {
  const add = vi.fn(store.add);
  const limiter = createRateLimiter({ ...store, add });
  for (let index = 0; index < 1_000; index += 1)
    limiter.take(`caller:${String(index % 50)}`, 100, START);
  await vi.waitFor(async () => {
    const { rows } = await database.pool.query<{ total: string }>(
      "SELECT sum(count) AS total FROM rate_window WHERE bucket LIKE 'caller:%' AND bucket <> 'caller:a'",
    );
    expect(rows[0]?.total).toBe("1000");
  }, 20_000);
  expect(add).toHaveBeenCalledTimes(1);
});

test("batches of two instances over the same callers never deadlock", async () => {
  const buckets = Array.from({ length: 200 }, (_, index) => `many:${String(index)}`);
  const increment = (names: string[]) =>
    names.map((bucket) => ({ bucket, windowStart: new Date(START), by: 1 }));
  await Promise.all(
    Array.from({ length: 20 }, (_, index) =>
      store.add(increment(index % 2 === 0 ? buckets : buckets.toReversed())),
    ),
  );
  const { rows } = await database.pool.query<{ least: number; most: number }>(
    "SELECT min(count) AS least, max(count) AS most FROM rate_window WHERE bucket LIKE 'many:%'",
  );
  expect(rows[0]).toEqual({ least: 20, most: 20 });
});
