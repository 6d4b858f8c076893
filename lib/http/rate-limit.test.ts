import { expect, test } from "vitest";
import {
  createRateLimiter,
  RATE_WINDOW_MS,
  type RateStore,
  setRateLimitHeaders,
} from "./rate-limit";

const memoryStore = (): RateStore & { counts: Map<string, number>; fail: boolean } => {
  const counts = new Map<string, number>();
  const store = {
    counts,
    fail: false,
    add: (increments: Parameters<RateStore["add"]>[0]) => {
      if (store.fail) return Promise.reject(new Error("database away"));
      return Promise.resolve(
        increments.map(({ bucket, windowStart, by }) => {
          const count = (counts.get(bucket) ?? 0) + by;
          counts.set(bucket, count);
          return { bucket, windowStart, count };
        }),
      );
    },
  };
  return store;
};

const START = 1_000 * RATE_WINDOW_MS;

test("the limit admits exactly that many in a window, and starts anew in the next", () => {
  const limiter = createRateLimiter(memoryStore());
  const takes = Array.from({ length: 5 }, () => limiter.take("key:a", 3, START + 1).allowed);
  expect(takes).toEqual([true, true, true, false, false]);
  expect(limiter.take("key:b", 3, START + 1).allowed).toBe(true);
  expect(limiter.take("key:a", 3, START + RATE_WINDOW_MS)).toMatchObject({
    allowed: true,
    remaining: 2,
  });
});

test("two instances share what they have told the store", async () => {
  const store = memoryStore();
  const [one, two] = [createRateLimiter(store), createRateLimiter(store)];
  for (let index = 0; index < 3; index += 1) one.take("key:a", 4, START);
  await one.flush();
  expect(two.take("key:a", 4, START).allowed).toBe(true);
  await two.flush();
  expect(two.take("key:a", 4, START).allowed).toBe(false);
  expect(store.counts.get("key:a")).toBe(4);
});

test("a store that is away loses no count", async () => {
  const store = memoryStore();
  const errors: unknown[] = [];
  const limiter = createRateLimiter(store, { onError: (error) => errors.push(error) });
  store.fail = true;
  limiter.take("key:a", 10, START);
  limiter.take("key:a", 10, START);
  await limiter.flush();
  expect(errors).toHaveLength(1);
  store.fail = false;
  await limiter.flush();
  expect(store.counts.get("key:a")).toBe(2);
});

test("headers are structured fields with quota, window, remaining and reset", () => {
  const limiter = createRateLimiter(memoryStore());
  const decision = limiter.take("ip:a", 10, START + 30_500);
  const headers = {};
  setRateLimitHeaders(headers, [["ip", decision]]);
  expect(headers).toEqual({
    "ratelimit-policy": '"ip";q=10;w=60',
    ratelimit: '"ip";r=9;t=30',
  });
});

test("a store that does not answer holds no request up, and later ones do not wait for it", async () => {
  let add: RateStore["add"] = () => new Promise(() => undefined);
  const limiter = createRateLimiter(
    { add: (increments) => add(increments) },
    { answerWithinMs: 1 },
  );
  expect(await limiter.admit("key:a", 3, START)).toMatchObject({ allowed: true, remaining: 2 });
  // Decided immediately from the counts of this process.
  expect(limiter.admit("key:a", 3, START)).toMatchObject({ allowed: true });
  expect(limiter.admit("key:a", 3, START)).toMatchObject({ allowed: true });
  expect(limiter.admit("key:a", 3, START)).toMatchObject({ allowed: false });
  const store = memoryStore();
  add = store.add;
  await limiter.flush();
  expect(store.counts.get("key:a")).toBe(2);
  expect(limiter.admit("key:b", 3, START)).toBeInstanceOf(Promise);
});

test("a store that fails admits by this process's own counts, and gets them later", async () => {
  const store = memoryStore();
  const limiter = createRateLimiter(store);
  store.fail = true;
  const burst = await Promise.all([1, 2, 3].map(async () => limiter.admit("key:a", 2, START)));
  expect(burst.map(({ allowed }) => allowed)).toEqual([true, true, false]);
  store.fail = false;
  await limiter.flush();
  expect(store.counts.get("key:a")).toBe(2);
});
