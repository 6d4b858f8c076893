import { expect, test } from "vitest";
import { restartPauseMs } from "./pages-life";

const bounds = { firstMs: 250, maxMs: 30_000 };

test("pauses double up to a bound", () => {
  const pauses = [0, 1, 2, 6, 7, 8, 5_000].map((failures) =>
    restartPauseMs(failures, bounds, 0.5),
  );
  expect(pauses).toEqual([250, 500, 1_000, 16_000, 30_000, 30_000, 30_000]);
});

test("pauses are spread by a fifth either way", () => {
  expect(restartPauseMs(1, bounds, 0)).toBeCloseTo(400);
  expect(restartPauseMs(1, bounds, 1)).toBeCloseTo(600);
});
