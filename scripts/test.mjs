// `npm test`: installs what is needed, runs every check and every test, and counts. The last line is `N passed, N failed`.
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { leftOut, leftOutJourneys } from "./long-tests.mjs";
import { filesToRepeat, outcomeLines, vitestCounts, withSecondTry } from "./outcome.mjs";
import { bin, checkNode, ensureInstalled, report, ROOT } from "./project.mjs";
import { CORES, endChildrenOnInterrupt, MINUTE_MS, performAll, secondsSince } from "./scheduler.mjs";
import { slowestLines } from "./slowest.mjs";

const started = performance.now();
const results = mkdtempSync(join(tmpdir(), "causeway-results-"));
let totals = { passed: 0, failed: 0 };

/** Decides which of the longest files, and which pages of the browser tests, this run leaves out. */
const sampleSeed = process.env.SAMPLE_SEED ?? String(Date.now());

const readResult = (name) => {
  try {
    return JSON.parse(readFileSync(join(results, name), "utf8"));
  } catch {
    return null;
  }
};

/** An error outside the tests (a crash, a file that cannot be loaded) counts as one failure. */
const atLeastOneFailure = (counts, code) => (code !== 0 && counts.failed === 0 ? { ...counts, failed: 1 } : counts);

/** Per project: vitest's report of the first run, and the one after second tries. */
const vitestReports = new Map();

const vitestArgs = (project, file) => [
  "run",
  "--project",
  project,
  "--reporter=dot",
  "--reporter=json",
  `--outputFile.json=${join(results, file)}`,
];

const countVitest = (report, code) => atLeastOneFailure(vitestCounts(report), report.numTotalTests === 0 ? 1 : code);

const vitest = (project) => ({
  command: bin("vitest"),
  args: vitestArgs(project, `${project}.json`),
  count: ({ code }) => {
    const report = readResult(`${project}.json`);
    vitestReports.set(project, { first: report, last: report });
    return report ? countVitest(report, code) : { passed: 0, failed: 1 };
  },
});

/**
 * With CI=true the files that failed run once more, alone: a test that depends on the load of the machine then passes, and is
 * named at the end of the run. Without CI a failure is final, so that its developer sees it.
 */
const twice = (project) => ({
  ...vitest(project),
  secondTry: ({ output }) => {
    const { first } = vitestReports.get(project);
    const files = process.env.CI === "true" ? filesToRepeat({ report: first, output, root: ROOT }) : [];
    if (!first || files.length === 0) return null;
    return {
      args: [...vitestArgs(project, `${project}-again.json`), ...files],
      count: ({ code }) => {
        const last = withSecondTry(first, readResult(`${project}-again.json`));
        vitestReports.set(project, { first, last });
        return countVitest(last, code);
      },
    };
  },
});

const playwrightCounts =
  (file) =>
  ({ code }) => {
    const stats = readResult(file)?.stats;
    if (!stats) return { passed: 0, failed: 1 };
    return atLeastOneFailure({ passed: stats.expected + stats.flaky, failed: stats.unexpected }, code);
  };

/** In the order of their start. `after`: tasks that have to be done first. `cores`: how much of the machine a task occupies. */
const tasks = (chromium) => [
  { name: "build", command: process.execPath, args: ["scripts/build.mjs"], timeoutMs: 8 * MINUTE_MS },
  { name: "format", npm: "check:format" },
  { name: "boundaries", npm: "check:boundaries" },
  { name: "unused code", npm: "check:unused" },
  { name: "unit", ...twice("unit") },
  // Reports the errors of the TypeScript compiler as well. Next writes types of the routes while it builds.
  { name: "lint and types", npm: "check:lint", after: ["build"], timeoutMs: 10 * MINUTE_MS },
  {
    name: "integration",
    ...twice("integration"),
    env: { SAMPLE_SEED: sampleSeed },
    after: ["unit"],
    cores: Math.max(1, CORES - 2),
    timeoutMs: 30 * MINUTE_MS,
  },
  {
    name: "browser",
    command: bin("playwright"),
    args: ["test", "--reporter=list,json"],
    env: {
      PLAYWRIGHT_JSON_OUTPUT_NAME: join(results, "browser.json"),
      CHROMIUM_PATH: chromium.path ?? "",
      SAMPLE_SEED: sampleSeed,
    },
    blocked: () => chromium.problem,
    count: playwrightCounts("browser.json"),
    after: ["build", "lint and types"],
    // On two cores they wait for the integration tests: beside them the longest journeys run into their limits.
    cores: 2,
    timeoutMs: 30 * MINUTE_MS,
  },
];

const prepare = async () => {
  checkNode();
  await ensureInstalled(console.log);
  const { findChromium, NO_CHROMIUM } = await import("./chromium.mjs");
  const { generate } = await import("./build.mjs");
  const [path] = await Promise.all([findChromium(console.log), generate()]);
  return path ? { path, problem: null } : { path: null, problem: NO_CHROMIUM };
};

endChildrenOnInterrupt();

try {
  totals = await performAll(tasks(await prepare()));
} catch (error) {
  totals.failed += 1;
  report(error);
} finally {
  const reports = [...vitestReports.values()];
  const playwright = readResult("browser.json");
  const slowest = slowestLines({ vitest: reports.map(({ last }) => last), playwright, root: ROOT });
  const outcome = outcomeLines({ vitest: reports, playwright, root: ROOT });
  for (const lines of [slowest, outcome]) if (lines.length > 0) console.log(`\n${lines.join("\n")}`);
  rmSync(results, { recursive: true, force: true });
}
console.log(`\nLeft to \`npm run test:long\` (SAMPLE_SEED=${sampleSeed}):`);
for (const file of [...leftOut(sampleSeed), ...leftOutJourneys(sampleSeed)]) console.log(`  ${file}`);
console.log("  two of three pages of e2e/pages.spec.ts");
console.log(`\nAll done in ${secondsSince(started)}.`);
console.log(`${totals.passed} passed, ${totals.failed} failed`);
process.exitCode ||= totals.failed > 0 ? 1 : 0;
