import { expect, test } from "vitest";
import { paceOf, timeLeftText, withSample, type Sample } from "./progress";

test("the pace is that of the last seconds, and unknown while nothing moves", () => {
  const seen = [
    { atMs: 0, settled: 0 },
    { atMs: 30_000, settled: 10 },
    { atMs: 34_000, settled: 210 },
    { atMs: 40_000, settled: 510 },
  ].reduce<readonly Sample[]>(withSample, []);
  expect(paceOf(seen, 490)).toEqual({ rowsPerSecond: 50, secondsLeft: 10 });
  expect(paceOf([{ atMs: 0, settled: 5 }], 5)).toBeNull();
  expect(
    paceOf(
      [
        { atMs: 0, settled: 5 },
        { atMs: 9_000, settled: 5 },
      ],
      5,
    ),
  ).toBeNull();
});

test("time left is said in the unit that fits", () => {
  expect([3, 61, 7_201].map(timeLeftText)).toEqual([
    "about 3 s left",
    "about 2 min left",
    "about 3 h left",
  ]);
});
