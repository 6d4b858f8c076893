import { expect, test, vi } from "vitest";
import { createRateWindowStore } from "@/lib/db/rate-window";
import { testDatabase } from "@/lib/testing/database";
import { createRateLimiter, RATE_WINDOW_MS } from "./rate-limit";

const { database } = await testDatabase();
const store = createRateWindowStore(database);
const START = 30_000_000 * RATE_WINDOW_MS;

test("two instances together admit the limit, plus at most what came within one flush", async () => {
  const instances = [createRateLimiter(store), createRateLimiter(store)];
  let admitted = 0;
  for (let round = 0; round < 10; round += 1) {
    for (const instance of instances)
      for (let index = 0; index < 30; index += 1) admitted += Number(instance.take("caller:a", 200, START).allowed);
    await Promise.all(instances.map((instance) => instance.flush()));
    // Each reads its own total back; the other's latest comes with the next flush.
  }
  expect(admitted).toBeGreaterThanOrEqual(200);
  expect(admitted).toBeLessThanOrEqual(230);
  const { rows } = await database.pool.query<{ count: number }>(
    "SELECT count FROM rate_window WHERE bucket = 'caller:a'",
  );
  expect(rows[0]?.count).toBe(admitted);
});

test("counts go out by themselves, many requests in one statement", async () => {
  const add = vi.fn(store.add);
  const limiter = createRateLimiter({ ...store, add });
  for (let index = 0; index < 1_000; index += 1) limiter.take(`caller:${String(index % 50)}`, 100, START);
  await vi.waitFor(async () => {
    const { rows } = await database.pool.query<{ total: string }>(
      "SELECT sum(count) AS total FROM rate_window WHERE bucket LIKE 'caller:%' AND bucket <> 'caller:a'",
    );
    expect(rows[0]?.total).toBe("1000");
  });
  expect(add).toHaveBeenCalledTimes(1);
});

test("batches of two instances over the same callers never deadlock", async () => {
  const buckets = Array.from({ length: 200 }, (_, index) => `many:${String(index)}`);
  const increment = (names: string[]) => names.map((bucket) => ({ bucket, windowStart: new Date(START), by: 1 }));
  await Promise.all(
    Array.from({ length: 20 }, (_, index) => store.add(increment(index % 2 === 0 ? buckets : buckets.toReversed()))),
  );
  const { rows } = await database.pool.query<{ least: number; most: number }>(
    "SELECT min(count) AS least, max(count) AS most FROM rate_window WHERE bucket LIKE 'many:%'",
  );
  expect(rows[0]).toEqual({ least: 20, most: 20 });
});
