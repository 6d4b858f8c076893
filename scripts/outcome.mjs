// Reads the JSON reports of vitest and Playwright: what failed, and what passed only at its second try.
import { relative } from "node:path";

/** A second try of more files than this would hide a broken build or a machine that has no room. */
const FILES_MAX = 10;
const MESSAGE_CHARS_MAX = 1_500;
// oxlint-disable-next-line no-control-regex -- Messages carry the colours of the terminal.
const COLOURS = /\u001b\[[0-9;]*m/g;

const entriesOf = (report) => report?.testResults ?? [];
/** A file that throws while it is loaded has no tests to name. */
const isUnloadable = (entry) => entry.status === "failed" && entry.assertionResults.length === 0;

/** Files that had an error outside their tests: vitest names them in its output and nowhere in its report. */
const filesOfUnhandledErrors = (output) =>
  [...output.replace(COLOURS, "").matchAll(/This error originated in "([^"]+)" test file/g)].map(([, file]) => file);

/** @returns the files that are worth a second try, relative to `root`; none when there are too many of them */
export const filesToRepeat = ({ report, output, root }) => {
  const failed = entriesOf(report)
    .filter(({ status }) => status === "failed")
    .map(({ name }) => relative(root, name));
  const files = [...new Set([...failed, ...filesOfUnhandledErrors(output)])];
  return files.length <= FILES_MAX ? files : [];
};

/** The report of the first run, in which the files that ran once more have their second results. */
export const withSecondTry = (first, second) => {
  const repeated = new Map(entriesOf(second).map((entry) => [entry.name, entry]));
  return { ...first, testResults: entriesOf(first).map((entry) => repeated.get(entry.name) ?? entry) };
};

export const vitestCounts = (report) => {
  const statuses = entriesOf(report).flatMap(({ assertionResults }) => assertionResults.map(({ status }) => status));
  return {
    passed: statuses.filter((status) => status === "passed").length,
    failed: statuses.filter((status) => status === "failed").length + entriesOf(report).filter(isUnloadable).length,
  };
};

/** One entry per failed test or unloadable file of a report of vitest. */
const vitestFailures = (report, root) =>
  entriesOf(report).flatMap((entry) => {
    const file = relative(root, entry.name);
    if (isUnloadable(entry)) return [{ title: file, message: entry.message ?? "" }];
    return entry.assertionResults
      .filter(({ status }) => status === "failed")
      .map(({ fullName, failureMessages }) => ({ title: `${file}: ${fullName}`, message: failureMessages.join("\n") }));
  });

/** One entry per test of Playwright's report with this status: "unexpected" (failed) or "flaky" (passed at its second try). */
const playwrightTests = (report, wanted) => {
  const walk = (suite, titles) => [
    ...(suite.specs ?? []).flatMap((spec) =>
      spec.tests
        .filter(({ status }) => status === wanted)
        .map((one) => ({
          title: `e2e/${spec.file}: ${[...titles, spec.title].join(" ")}`,
          message: one.results.map(({ error }) => error?.message ?? "").join("\n"),
        })),
    ),
    ...(suite.suites ?? []).flatMap((inner) => walk(inner, [...titles, inner.title])),
  ];
  return (report?.suites ?? []).flatMap((suite) => walk(suite, []));
};

const described = ({ title, message }) =>
  `  ${title}\n${message.replace(COLOURS, "").trim().slice(0, MESSAGE_CHARS_MAX).replaceAll(/^/gm, "    ")}`;

/** Lines for the end of a run. `first` and `last`: reports of vitest before and after second tries. */
export const outcomeLines = ({ vitest, playwright, root }) => {
  const failures = [
    ...vitest.flatMap(({ last }) => vitestFailures(last, root)),
    ...playwrightTests(playwright, "unexpected"),
  ];
  const failedTitles = new Set(failures.map(({ title }) => title));
  const second = [
    ...vitest.flatMap(({ first }) => vitestFailures(first, root)).filter(({ title }) => !failedTitles.has(title)),
    ...playwrightTests(playwright, "flaky"),
  ];
  return [
    ...(second.length > 0 ? ["Passed only at the second try:", ...second.map(described)] : []),
    ...(failures.length > 0 ? ["Failed:", ...failures.map(described)] : []),
  ];
};
