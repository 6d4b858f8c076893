import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { createCoalescer } from "./coalesce";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

test("a key is worked on at once, then at most once in the time, and the last mark is never lost", () => {
  const done: string[] = [];
  const coalescer = createCoalescer((key: string) => done.push(key), { everyMs: 1000 });
  for (let mark = 0; mark < 5; mark += 1) coalescer.mark("a");
  coalescer.mark("b");
  expect(done).toEqual(["a", "b"]);
  vi.advanceTimersByTime(999);
  expect(done).toEqual(["a", "b"]);
  vi.advanceTimersByTime(1);
  expect(done).toEqual(["a", "b", "a"]);
  vi.advanceTimersByTime(5000);
  coalescer.mark("b");
  expect(done).toEqual(["a", "b", "a", "b"]);
});

test("nothing is worked on after it was stopped", () => {
  const done: string[] = [];
  const coalescer = createCoalescer((key: string) => done.push(key), { everyMs: 1000 });
  coalescer.mark("a");
  coalescer.mark("a");
  coalescer.stop();
  vi.advanceTimersByTime(5000);
  expect(done).toEqual(["a"]);
});
