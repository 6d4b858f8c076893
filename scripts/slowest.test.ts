import { expect, test } from "vitest";
import { slowestLines } from "./slowest.mjs";

const root = "/repo";
const vitest = {
  testResults: [
    {
      name: "/repo/lib/a.test.ts",
      startTime: 1000,
      endTime: 9000,
      assertionResults: [
        { fullName: "fast", duration: 5 },
        { fullName: "slow", duration: 1500 },
        { fullName: "skipped", duration: null },
      ],
    },
    { name: "/repo/lib/b.test.ts", startTime: 0, endTime: 100, assertionResults: [{ fullName: "b", duration: 90 }] },
  ],
};
const spec = (title: string, ...durations: number[]) => ({
  title,
  file: "swap.spec.ts",
  tests: [{ results: durations.map((duration) => ({ duration })) }],
});
const playwright = {
  suites: [
    {
      title: "swap.spec.ts",
      specs: [spec("swaps", 4000)],
      suites: [{ title: "on a phone", specs: [spec("swaps", 1000, 2000)] }],
    },
  ],
};

test("the slowest tests and files of all reports are named, the slowest first", () => {
  expect(slowestLines({ vitest: [vitest, null], playwright, root, count: 2 })).toEqual([
    "The slowest files:",
    "    8.0 s  lib/a.test.ts",
    "    7.0 s  e2e/swap.spec.ts",
    "The slowest tests:",
    "    4.0 s  e2e/swap.spec.ts: swaps",
    "    3.0 s  e2e/swap.spec.ts: on a phone swaps",
  ]);
});

test("without a report there is nothing to name", () => {
  expect(slowestLines({ vitest: [null], playwright: null, root })).toEqual([]);
});
