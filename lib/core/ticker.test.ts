import { expect, test, vi } from "vitest";
import { manualTicker } from "@/lib/dev/testing/ticker";

test("a thousand subscriptions share one timer, which runs only while there is one", () => {
  const { ticker, timers } = manualTicker();
  const stops = Array.from({ length: 1000 }, () => ticker.every(1000, () => undefined));
  expect(timers()).toBe(1);
  for (const stop of stops.slice(1)) stop();
  expect(timers()).toBe(1);
  stops[0]?.();
  stops[0]?.();
  expect(timers()).toBe(0);
  ticker.every(1000, () => undefined);
  expect(timers()).toBe(1);
});

test("each is called at its own pace, and no more once it stopped", () => {
  const { ticker, pass } = manualTicker();
  const [fast, slow] = [vi.fn(), vi.fn()];
  const stop = ticker.every(200, fast);
  ticker.every(1000, slow);
  pass(900);
  expect([fast.mock.calls.length, slow.mock.calls.length]).toEqual([4, 0]);
  pass(100);
  expect([fast.mock.calls.length, slow.mock.calls.length]).toEqual([5, 1]);
  stop();
  pass(1000);
  expect([fast.mock.calls.length, slow.mock.calls.length]).toEqual([5, 2]);
});

test("after a standstill each is called once, not as often as was missed", () => {
  const { ticker, pass, stall } = manualTicker();
  const work = vi.fn();
  ticker.every(200, work);
  stall(60_000);
  pass(100);
  expect(work).toHaveBeenCalledTimes(1);
});
