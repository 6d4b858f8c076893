import { expect, test } from "vitest";
import { createBlockRhythm } from "./block-rhythm";

test("a block each second, one each five after five minutes of rest, and each second again after a transaction", () => {
  let now = 0;
  const rhythm = createBlockRhythm(() => now);
  expect(rhythm.dueIn()).toBe(0);
  rhythm.made();
  expect(rhythm.dueIn()).toBe(1_000);
  now = 1_400;
  expect(rhythm.dueIn()).toBe(0);
  rhythm.made();
  // The last block was late; the next one is due on time.
  expect(rhythm.dueIn()).toBe(600);
  now = 301_000;
  rhythm.made();
  expect(rhythm.dueIn()).toBe(5_000);
  rhythm.used();
  expect(rhythm.dueIn()).toBe(1_000);
});
