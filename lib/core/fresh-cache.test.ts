import { describe, expect, test } from "vitest";
import { createFreshCache } from "./fresh-cache";

const setUp = (options: { entriesMax?: number } = {}) => {
  let nowMs = 0;
  let stored = "old";
  let gate: Promise<void> = Promise.resolve();
  const reads: string[] = [];
  const cache = createFreshCache<string>({
    load: async (key) => {
      reads.push(key);
      const seen = stored;
      await gate;
      return seen;
    },
    monotonicMs: () => nowMs,
    ...options,
  });
  return {
    cache,
    reads,
    advance: (ms: number) => (nowMs += ms),
    change: (value: string) => (stored = value),
    hold: (): (() => void) => {
      let open: () => void = () => undefined;
      gate = new Promise((resolve) => (open = resolve));
      return open;
    },
  };
};

describe("fresh cache", () => {
  test("a fresh value is answered at once, without a read and without a promise", async () => {
    const { cache, reads, advance } = setUp();
    await cache.get("a");
    advance(499);
    expect(cache.get("a")).toBe("old");
    expect(reads).toHaveLength(1);
  });

  test("a value older than the limit is never answered, however often it is asked for", async () => {
    const { cache, advance, change } = setUp();
    await cache.get("a");
    change("new");
    advance(900);
    expect(await cache.get("a")).toBe("new");
  });

  test("an ageing value is answered and read again once behind the callers' backs", async () => {
    const { cache, reads, advance, change } = setUp();
    await cache.get("a");
    change("new");
    advance(600);
    for (let i = 0; i < 50; i++) expect(cache.get("a")).toBe("old");
    expect(reads).toHaveLength(2);
    await Promise.resolve().then(() => undefined);
    await new Promise((resolve) => setImmediate(resolve));
    expect(cache.get("a")).toBe("new");
  });

  test("callers share one read, but not one that began too long ago", async () => {
    const { cache, reads, advance, change, hold } = setUp();
    const open = hold();
    const first = Promise.all([cache.get("a"), cache.get("a"), cache.get("a")]);
    expect(reads).toHaveLength(1);
    change("new");
    advance(901);
    const late = cache.get("a");
    expect(reads).toHaveLength(2);
    open();
    expect(await first).toEqual(["old", "old", "old"]);
    expect(await late).toBe("new");
    expect(await cache.get("a")).toBe("new");
  });

  test("a read that was under way when the key was forgotten leaves nothing behind", async () => {
    const { cache, change, hold } = setUp();
    const open = hold();
    const first = cache.get("a");
    cache.invalidate("a");
    change("new");
    open();
    expect(await first).toBe("old");
    expect(await cache.get("a")).toBe("new");
  });

  test("memory is bounded: the entry that was longest not in use goes first", async () => {
    const { cache, reads } = setUp({ entriesMax: 2 });
    await cache.get("a");
    await cache.get("b");
    await cache.get("c");
    expect(cache.get("c")).toBe("old");
    await cache.get("a");
    expect(reads).toEqual(["a", "b", "c", "a"]);
  });
});
