// `npm test`: installs what is needed, runs every check and every test, and counts. The last line is `N passed, N failed`.
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { bin, checkNode, ensureInstalled, report, ROOT } from "./project.mjs";
import { CORES, endChildrenOnInterrupt, MINUTE_MS, performAll, secondsSince } from "./scheduler.mjs";
import { slowestLines } from "./slowest.mjs";

const started = performance.now();
const results = mkdtempSync(join(tmpdir(), "causeway-results-"));
let totals = { passed: 0, failed: 0 };

const readResult = (name) => {
  try {
    return JSON.parse(readFileSync(join(results, name), "utf8"));
  } catch {
    return null;
  }
};

/** An error outside the tests (a crash, a file that cannot be loaded) counts as one failure. */
const atLeastOneFailure = (counts, code) => (code !== 0 && counts.failed === 0 ? { ...counts, failed: 1 } : counts);

const vitestCounts =
  (file) =>
  ({ code }) => {
    const json = readResult(file);
    if (!json) return { passed: 0, failed: 1 };
    const unloadable = json.testResults.filter((one) => one.status === "failed" && one.assertionResults.length === 0);
    return atLeastOneFailure(
      { passed: json.numPassedTests, failed: json.numFailedTests + unloadable.length },
      json.numTotalTests === 0 ? 1 : code,
    );
  };

const playwrightCounts =
  (file) =>
  ({ code }) => {
    const stats = readResult(file)?.stats;
    if (!stats) return { passed: 0, failed: 1 };
    return atLeastOneFailure({ passed: stats.expected, failed: stats.unexpected + stats.flaky }, code);
  };

const vitest = (project) => ({
  command: bin("vitest"),
  args: [
    "run",
    "--project",
    project,
    "--reporter=dot",
    "--reporter=json",
    `--outputFile.json=${join(results, `${project}.json`)}`,
  ],
  count: vitestCounts(`${project}.json`),
});

/** In the order of their start. `after`: tasks that have to be done first. `cores`: how much of the machine a task occupies. */
const tasks = (chromium) => [
  { name: "build", command: process.execPath, args: ["scripts/build.mjs"], timeoutMs: 8 * MINUTE_MS },
  { name: "format", command: bin("prettier"), args: ["--check", ".", "--log-level", "warn"] },
  { name: "boundaries", npm: "check:boundaries" },
  { name: "unused code", npm: "check:unused" },
  { name: "unit", ...vitest("unit") },
  { name: "lint", npm: "check:lint" },
  // Next writes types of the routes while it builds.
  { name: "types", npm: "check:types", after: ["build"] },
  {
    name: "integration",
    ...vitest("integration"),
    after: ["unit"],
    cores: Math.max(1, CORES - 2),
    timeoutMs: 20 * MINUTE_MS,
  },
  {
    name: "browser",
    command: bin("playwright"),
    args: ["test", "--reporter=list,json"],
    env: { PLAYWRIGHT_JSON_OUTPUT_NAME: join(results, "browser.json"), CHROMIUM_PATH: chromium.path ?? "" },
    blocked: () => chromium.problem,
    count: playwrightCounts("browser.json"),
    after: ["build", "types", "lint"],
    cores: 2,
    timeoutMs: 14 * MINUTE_MS,
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
  const vitestReports = ["unit.json", "integration.json"].map(readResult);
  const lines = slowestLines({ vitest: vitestReports, playwright: readResult("browser.json"), root: ROOT });
  if (lines.length > 0) console.log(`\n${lines.join("\n")}`);
  rmSync(results, { recursive: true, force: true });
}
console.log(`\nAll done in ${secondsSince(started)}.`);
console.log(`${totals.passed} passed, ${totals.failed} failed`);
process.exitCode ||= totals.failed > 0 ? 1 : 0;
