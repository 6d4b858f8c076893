/**
 * Keeps limits on measured time and fixed waits out of the tests. Limits fail on a busy machine,
 * and waits waste time on an idle one.
 */
import { readdirSync, readFileSync } from "node:fs";
import ts from "typescript";
import { expect, test } from "vitest";

/** Tests that pause on purpose, each with its reason. */
const PAUSES: Readonly<Record<string, string>> = {
  "e2e/support/stack.ts": "Deadlines of a process that starts or stops.",
  "lib/adapters/onchain/price.int.test.ts":
    "A stand-in that answers later than the chains; later still changes nothing.",
  "lib/adapters/onchain/price.test.ts":
    "A stand-in that answers later than another one; later still changes nothing.",
  "lib/books/ledger/service.int.test.ts":
    "Work that is longer than the request's time; longer still changes nothing.",
  "lib/core/request-time.int.test.ts":
    "Work that is longer than the request's time; longer still changes nothing.",
  "lib/dev/faults/chains.int.test.ts":
    "Load: customers try again at this pace. Kills: at a random moment.",
  "lib/dev/faults/crash.int.test.ts":
    "The walk's pace: looks whether operations are open, beside the kills.",
  "lib/dev/faults/database.int.test.ts":
    "Load: clients call at this pace. Crashes: at a random moment, for a random time.",
  "lib/dev/faults/wallet-payouts-crash.int.test.ts":
    "The walk's pace: looks whether payouts are open, beside the kills.",
  "lib/http/typed-client.int.test.ts": "The documented program polls at this pace.",
  "lib/news/events/turn-timer.test.ts": "A turn that takes a while, by fake timers.",
  "lib/books/holds/service.int.test.ts": "Random order of concurrent steps.",
  "lib/money/operations/watching.int.test.ts": "A reader that is slower than the events.",
  "lib/money/payouts/duplicates.int.test.ts": "Random order of concurrent payouts.",
  "lib/money/payouts/wallets/batches/driver.int.test.ts":
    "Drives a payout at the pace that the driver names, as its job does.",
};

/**
 * Test files that may compare clock times, each with the reason why a slow machine does not make it
 * fail.
 */
const MOMENTS: Readonly<Record<string, string>> = {
  "app/api/wallets/link/link.int.test.ts":
    "Between the moment before the call and the moment after it.",
  "lib/platform/db/retention.int.test.ts":
    "A run is due an hour later; the test has a deadline of two minutes.",
};

/** The test parses about eighty files, which takes a second on a free core. */
const PARSING_MS = 60_000;
const THIS = "scripts/test-time.test.ts";
const CLOCK = /\b(?:performance\.now|Date\.now|process\.hrtime(?:\.bigint)?)\(\)/;
const PAUSE = new Set(["sleep", "setTimeout", "delay"]);
const COMPARISON = /^to(?:Be(?:Less|Greater)Than(?:OrEqual)?|BeCloseTo)$/;

const filesBelow = (folder: string, pattern: RegExp): string[] =>
  readdirSync(folder, { recursive: true, encoding: "utf8" })
    .filter((name) => pattern.test(name))
    .map((name) => `${folder}/${name}`);

const files = [
  ...["app", "components", "lib", "scripts"].flatMap((folder) =>
    filesBelow(folder, /\.test\.tsx?$/),
  ),
  ...filesBelow("e2e", /\.ts$/),
].sort();

const parse = (file: string, text: string): ts.SourceFile =>
  ts.createSourceFile(
    file,
    text,
    ts.ScriptTarget.Latest,
    true,
    file.endsWith("x") ? ts.ScriptKind.TSX : ts.ScriptKind.TS,
  );

const each = (node: ts.Node, visit: (node: ts.Node) => void): void => {
  visit(node);
  node.forEachChild((child) => each(child, visit));
};

const countPauses = (source: ts.SourceFile): number => {
  let count = 0;
  each(source, (node) => {
    if (
      ts.isCallExpression(node) &&
      ts.isIdentifier(node.expression) &&
      PAUSE.has(node.expression.text)
    )
      count += 1;
  });
  return count;
};

/**
 * Returns the names of variables whose value is computed from the clock, also by way of other such
 * variables.
 */
const clockNames = (source: ts.SourceFile): ReadonlySet<string> => {
  const names = new Set<string>();
  for (let size = -1; size !== names.size;) {
    size = names.size;
    each(source, (node) => {
      if (
        !ts.isVariableDeclaration(node) ||
        !ts.isIdentifier(node.name) ||
        node.initializer === undefined
      )
        return;
      // A function that reads the clock has no time as its value, and a fixed date is not a
      // duration.
      if (
        ts.isArrowFunction(node.initializer) ||
        /^new Date\(/.test(node.initializer.getText())
      )
        return;
      if (isOfClock(node.initializer, names)) names.add(node.name.text);
    });
  }
  return names;
};

const isOfClock = (node: ts.Node, names: ReadonlySet<string>): boolean => {
  if (CLOCK.test(node.getText())) return true;
  let found = false;
  each(node, (inner) => {
    if (
      ts.isIdentifier(inner) &&
      names.has(inner.text) &&
      !ts.isPropertyAccessExpression(inner.parent)
    )
      found = true;
  });
  return found;
};

/** Counts the calls of `expect` that compare values computed from the clock. */
const countMoments = (source: ts.SourceFile): number => {
  const names = clockNames(source);
  let count = 0;
  each(source, (node) => {
    if (!ts.isCallExpression(node) || !ts.isPropertyAccessExpression(node.expression)) return;
    if (COMPARISON.test(node.expression.name.text) && isOfClock(node, names)) count += 1;
  });
  return count;
};

const texts = new Map(files.map((file) => [file, readFileSync(file, "utf8")]));

/**
 * Returns the files whose syntax tree fulfils `holds`. Parses only files whose text matches `may`.
 */
const filesWith = (may: RegExp, holds: (source: ts.SourceFile) => boolean): string[] =>
  [...texts].flatMap(([file, text]) =>
    may.test(text) && holds(parse(file, text)) ? [file] : [],
  );

test(
  "a test pauses only for one of the reasons above, and every reason is needed",
  { timeout: PARSING_MS },
  () => {
    expect(files.length).toBeGreaterThan(300);
    expect(
      filesWith(/\b(?:sleep|setTimeout|delay)\(/, (source) => countPauses(source) > 0),
    ).toEqual(Object.keys(PAUSES).sort());
  },
);

test("no browser test waits for a fixed time", () => {
  expect(
    [...texts].flatMap(([file, text]) => (text.includes("page.waitForTimeout(") ? [file] : [])),
  ).toEqual([THIS]);
});

test(
  "no test bounds a time that it has measured, and every exception is needed",
  { timeout: PARSING_MS },
  () => {
    expect(filesWith(CLOCK, (source) => countMoments(source) > 0)).toEqual(
      Object.keys(MOMENTS).sort(),
    );
  },
);

test.each([
  [
    "a bound",
    "const begun = performance.now(); work(); expect(performance.now() - begun).toBeLessThan(39);",
    1,
  ],
  [
    "a bound by a name",
    "const at = Date.now(); const tookMs = Date.now() - at; expect(tookMs).toBeGreaterThan(5);",
    1,
  ],
  [
    "a bound on the other side",
    "const s = (Date.now() - at) / 1000; expect(sent).toBeLessThanOrEqual(10 * s);",
    1,
  ],
  [
    "a measurement that is printed",
    "const at = Date.now(); console.log(Date.now() - at); expect(sent).toBeLessThan(3);",
    0,
  ],
])("%s is found or left", (_, code, count) => {
  expect(countMoments(parse("example.test.ts", code))).toBe(count);
});

test.each([
  ["a sleep", "await sleep(20);", 1],
  ["a promise of a timer", "await new Promise((resolve) => setTimeout(resolve, 5));", 1],
  ["a time limit of a test", "test.setTimeout(60_000);", 0],
  ["a sleep of PostgreSQL", 'await query("SELECT pg_sleep(1)");', 0],
])("%s is found or left", (_, code, count) => {
  expect(countPauses(parse("example.test.ts", code))).toBe(count);
});
