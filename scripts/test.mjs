// `npm test`: installs what is needed, runs every check and every test, and counts. The last line is `N passed, N failed`.
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { availableParallelism, tmpdir } from "node:os";
import { join } from "node:path";
import { bin, checkNode, endChildren, ensureInstalled, report, ROOT, run } from "./project.mjs";

const CORES = Math.max(2, availableParallelism());
const MINUTE_MS = 60_000;
const started = performance.now();
const results = mkdtempSync(join(tmpdir(), "causeway-results-"));
const totals = { passed: 0, failed: 0 };

const seconds = (since) => `${((performance.now() - since) / 1000).toFixed(0)} s`;

const readResult = (name) => {
  try {
    return JSON.parse(readFileSync(join(results, name), "utf8"));
  } catch {
    return null;
  }
};

/** A check counts as one. */
const once = ({ code }) => (code === 0 ? { passed: 1, failed: 0 } : { passed: 0, failed: 1 });

/** What went wrong outside the tests (a crash, a file that cannot be loaded) counts as one failure. */
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

/** In order of their start. `after` names what has to be done first; `cores` how much of the machine a task takes. */
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

const scripts = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8")).scripts;

const commandOf = (task) => {
  if (!task.npm) return task;
  // The scripts of package.json are plain commands; running them without npm saves a second each.
  const [command, ...args] = scripts[task.npm].split(" ");
  return { command: bin(command), args };
};

const perform = async (task) => {
  const begin = performance.now();
  const problem = task.blocked?.();
  const { command, args } = commandOf(task);
  const result = problem
    ? { code: 1, output: problem }
    : await run(command, args, { quiet: true, env: task.env, timeoutMs: task.timeoutMs ?? 5 * MINUTE_MS });
  const counts = problem ? once(result) : (task.count ?? once)(result);
  totals.passed += counts.passed;
  totals.failed += counts.failed;
  const numbers = task.count ? `${counts.passed} passed, ${counts.failed} failed` : counts.failed ? "failed" : "passed";
  console.log(`${counts.failed ? "✕" : "✓"} ${task.name.padEnd(12)} ${numbers} (${seconds(begin)})`);
  if (counts.failed) console.log(`${result.output.trimEnd()}\n── end of ${task.name} ──\n`);
};

/** Starts each task as soon as what it waits for is done and the machine has room. A failure stops nothing. */
const performAll = async (all) => {
  const waiting = [...all];
  const done = new Set();
  const inFlight = new Map();
  let load = 0;
  while (waiting.length > 0 || inFlight.size > 0) {
    for (const task of [...waiting]) {
      const cores = task.cores ?? 1;
      const ready = (task.after ?? []).every((name) => done.has(name));
      if (!ready || load + cores > CORES) continue;
      waiting.splice(waiting.indexOf(task), 1);
      load += cores;
      inFlight.set(
        task.name,
        perform(task).then(() => {
          load -= cores;
          done.add(task.name);
          inFlight.delete(task.name);
        }),
      );
    }
    await Promise.race(inFlight.values());
  }
};

const prepare = async () => {
  checkNode();
  await ensureInstalled(console.log);
  const { findChromium, NO_CHROMIUM } = await import("./chromium.mjs");
  const { generate } = await import("./build.mjs");
  const [path] = await Promise.all([findChromium(console.log), generate()]);
  return path ? { path, problem: null } : { path: null, problem: NO_CHROMIUM };
};

const interrupted = () => {
  endChildren("SIGINT");
  // Tests stop their servers when they are interrupted; give them the time.
  setTimeout(() => {
    endChildren("SIGKILL");
    process.exit(130);
  }, 5_000).unref();
  process.exitCode = 130;
};
process.on("SIGINT", interrupted);
process.on("SIGTERM", interrupted);

try {
  await performAll(tasks(await prepare()));
} catch (error) {
  totals.failed += 1;
  report(error);
} finally {
  rmSync(results, { recursive: true, force: true });
}
console.log(`\nAll done in ${seconds(started)}.`);
console.log(`${totals.passed} passed, ${totals.failed} failed`);
process.exitCode ||= totals.failed > 0 ? 1 : 0;
