// Reads the JSON reports of vitest and Playwright and names the tests and files that took longest.
import { relative } from "node:path";

/** One entry per test of a report of vitest: milliseconds. */
const vitestTimes = (report, root) =>
  (report?.testResults ?? []).flatMap(({ name, assertionResults }) =>
    assertionResults.map(({ fullName, duration }) => ({
      file: relative(root, name),
      test: fullName,
      ms: duration ?? 0,
    })),
  );

/** Files of vitest from their first hook to their last: setting a stack up is part of what a file costs. */
const vitestFiles = (report, root) =>
  (report?.testResults ?? []).map(({ name, startTime, endTime }) => ({
    file: relative(root, name),
    ms: Math.max(0, endTime - startTime),
  }));

const playwrightTimes = (report) => {
  const walk = (suite, titles) => [
    ...(suite.specs ?? []).flatMap((spec) =>
      spec.tests.map((one) => ({
        file: `e2e/${spec.file}`,
        test: [...titles, spec.title].join(" "),
        ms: one.results.reduce((sum, { duration }) => sum + duration, 0),
      })),
    ),
    ...(suite.suites ?? []).flatMap((inner) => walk(inner, [...titles, inner.title])),
  ];
  return (report?.suites ?? []).flatMap((suite) => walk(suite, []));
};

const sumByFile = (times) => {
  const sums = new Map();
  for (const { file, ms } of times) sums.set(file, (sums.get(file) ?? 0) + ms);
  return [...sums].map(([file, ms]) => ({ file, ms }));
};

const slowest = (entries, count) => [...entries].sort((a, b) => b.ms - a.ms).slice(0, count);

const line = ({ ms }, text) => `${(ms / 1000).toFixed(1).padStart(7)} s  ${text}`;

export const slowestLines = ({ vitest, playwright, root, count = 10 }) => {
  const browser = playwrightTimes(playwright);
  const tests = [...vitest.flatMap((report) => vitestTimes(report, root)), ...browser];
  const files = [...vitest.flatMap((report) => vitestFiles(report, root)), ...sumByFile(browser)];
  if (tests.length === 0) return [];
  return [
    "The slowest files:",
    ...slowest(files, count).map((one) => line(one, one.file)),
    "The slowest tests:",
    ...slowest(tests, count).map((one) => line(one, `${one.file}: ${one.test}`)),
  ];
};
