import { expect, test } from "vitest";
import { createLearntLimit } from "./learnt-limit";

test("what worked is remembered for ten minutes, and then the configured size is tried again", () => {
  let nowMs = 0;
  const limit = createLearntLimit({ max: 5_000, monotonicMs: () => nowMs });
  expect(limit.current()).toBe(5_000);
  limit.learn(625);
  limit.learn(1_250);
  expect(limit.current()).toBe(625);
  nowMs = 599_999;
  expect(limit.current()).toBe(625);
  nowMs = 600_000;
  expect(limit.current()).toBe(5_000);
});
