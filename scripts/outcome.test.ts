import { expect, test } from "vitest";
import { filesToRepeat, outcomeLines, vitestCounts, withSecondTry, type VitestEntry } from "./outcome.mjs";

const ROOT = "/project";

const entry = (file: string, statuses: readonly string[]): VitestEntry => ({
  name: `${ROOT}/${file}`,
  status: statuses.includes("failed") || statuses.length === 0 ? "failed" : "passed",
  message: statuses.length === 0 ? "Cannot find module" : "",
  assertionResults: statuses.map((status, index) => ({
    fullName: `test ${String(index + 1)}`,
    status,
    failureMessages: status === "failed" ? [`\u001b[31mexpected ${String(index)}\u001b[39m`] : [],
  })),
});

const first = {
  testResults: [entry("a.test.ts", ["passed", "failed"]), entry("b.test.ts", ["passed"]), entry("c.test.ts", [])],
};

test("files with a failed test, files that cannot be loaded and files with an unhandled error are repeated", () => {
  const output = 'Errors\nThis error originated in "\u001b[1mb.test.ts\u001b[22m" test file. It does not mean';
  const files = filesToRepeat({ report: first, output, root: ROOT });
  expect(files).toEqual(["a.test.ts", "c.test.ts", "b.test.ts"]);
});

test("nothing is repeated when more than ten files failed", () => {
  const testResults = Array.from({ length: 11 }, (_, index) => entry(`${String(index)}.test.ts`, ["failed"]));
  expect(filesToRepeat({ report: { testResults }, output: "", root: ROOT })).toEqual([]);
});

test("counts are those of the second try where a file had one", () => {
  const second = { testResults: [entry("a.test.ts", ["passed", "passed"])] };
  expect(vitestCounts(first)).toEqual({ passed: 2, failed: 2 });
  expect(vitestCounts(withSecondTry(first, second))).toEqual({ passed: 3, failed: 1 });
  expect(vitestCounts(withSecondTry(first, null))).toEqual({ passed: 2, failed: 2 });
});

test("the last lines name what passed only at its second try, and what failed with its message", () => {
  const last = withSecondTry(first, { testResults: [entry("a.test.ts", ["passed", "passed"])] });
  expect(outcomeLines({ vitest: [{ first, last }], playwright: null, root: ROOT })).toEqual([
    "Passed only at the second try:",
    "  a.test.ts: test 2\n    expected 1",
    "Failed:",
    "  c.test.ts\n    Cannot find module",
  ]);
});

test("browser tests are named by file and title", () => {
  const spec = (title: string, status: string) => ({
    title,
    file: "swap.spec.ts",
    tests: [{ status, results: [{ error: { message: "no button" } }, {}] }],
  });
  const playwright = { suites: [{ title: "swap", specs: [spec("one", "flaky"), spec("two", "unexpected")] }] };
  expect(outcomeLines({ vitest: [], playwright, root: ROOT })).toEqual([
    "Passed only at the second try:",
    "  e2e/swap.spec.ts: one\n    no button",
    "Failed:",
    "  e2e/swap.spec.ts: two\n    no button",
  ]);
});
