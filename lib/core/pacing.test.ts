import { expect, test } from "vitest";
import { jobBackoffMs } from "./pacing";

test("a failed job pauses 2 s, then twice as long each time, up to 5 minutes", () => {
  const pauses = [1, 2, 3, 4, 5, 6, 7, 8, 9, 50].map(
    (failures) => jobBackoffMs(failures, 0) / 1000,
  );
  expect(pauses).toEqual([2, 4, 8, 16, 32, 64, 128, 256, 300, 300]);
});

test("the pause is up to a quarter shorter by chance", () => {
  expect(jobBackoffMs(1, 0.5)).toBe(1750);
  expect(jobBackoffMs(50, 0.999_999)).toBeGreaterThanOrEqual(225_000);
});
