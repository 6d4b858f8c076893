// `npm test`: installs what is missing, runs every check and every test, and counts the results.
// The last line is `N passed, N failed`.
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { installOneOf } from "./debian.mjs";
import {
  bin,
  checkNode,
  endChildren,
  ensureInstalled,
  npm,
  report,
  ROOT,
  run,
} from "./project.mjs";

const MINUTE_MS = 60_000;
/**
 * Time limit for one part of `npm test`, so that a part that hangs is ended. Each test has its
 * own, shorter limit.
 */
const PART_MS = 60 * MINUTE_MS;
/** Time that the children get to stop their servers after Ctrl-C. */
const GRACE_MS = 5_000;
const SLOWEST_FILES = 10;
const SUMMARY = join(ROOT, "scripts/vitest-summary.mjs");
/** The result of a run that ended before it wrote its summary. */
const NO_RESULT = { passed: 0, failed: 0, skipped: 0, failures: [], files: [] };

const results = mkdtempSync(join(tmpdir(), "causeway-results-"));
const totals = { passed: 0, failed: 0 };
const lines = [];
const failures = [];
const files = [];

const secondsSince = (beginMs) => `${((performance.now() - beginMs) / 1000).toFixed(0)} s`;

const readResult = (name) => {
  try {
    return JSON.parse(readFileSync(join(results, name), "utf8"));
  } catch {
    return null;
  }
};

/**
 * Runs one part of `npm test`, adds its counts to the totals, and prints its line. A part that
 * exits with an error although no test failed (a crash, an error outside the tests) counts as one
 * failure.
 */
const perform = async (name, work) => {
  const begun = performance.now();
  const { code, passed, failed, skipped = 0 } = await work();
  const counted = code === 0 ? failed : Math.max(failed, 1);
  if (counted > failed) failures.push(`${name}: see its output above`);
  totals.passed += passed;
  totals.failed += counted;
  const sign = counted === 0 ? "✓" : "✕";
  const left = skipped === 0 ? "" : `, ${skipped} skipped`;
  const line = `${sign} ${name.padEnd(16)} ${passed} passed, ${counted} failed${left} (${secondsSince(begun)})`;
  lines.push(line);
  console.log(line);
};

/** Runs a command as a check, which counts as one test. Shows its output only when it fails. */
const check = (name, command) =>
  perform(name, async () => {
    const { code, output } = await command({ quiet: true, timeoutMs: PART_MS });
    if (code !== 0) console.log(`${output.trimEnd()}\n── end of ${name} ──\n`);
    return { code, passed: code === 0 ? 1 : 0, failed: 0 };
  });

/** Runs an npm script of package.json as a check. */
const checkScript = (name, script) =>
  check(name, (options) => npm(["run", "--silent", script], options));

const vitest = (project) =>
  perform(project, async () => {
    const file = `${project}.json`;
    const reporters = ["--reporter=dot", `--reporter=${SUMMARY}`];
    const args = [
      "run",
      "--project",
      project,
      ...reporters,
      `--outputFile=${join(results, file)}`,
    ];
    // Switches colours off: with colours, each dot of the progress takes fifteen characters in a
    // log.
    const { code } = await run(bin("vitest"), args, {
      env: { NO_COLOR: "1" },
      timeoutMs: PART_MS,
    });
    const { passed, failed, skipped, ...result } = readResult(file) ?? NO_RESULT;
    files.push(...result.files);
    failures.push(...result.failures);
    return { code, passed, failed, skipped };
  });

/** Returns the specs of a suite in Playwright's report, including those of nested suites. */
const specsOf = (suite) => [...(suite.specs ?? []), ...(suite.suites ?? []).flatMap(specsOf)];

const browser = ({ path, problem }) =>
  perform("browser", async () => {
    if (problem !== null) {
      console.log(problem);
      return { code: 1, passed: 0, failed: 0 };
    }
    const env = {
      CHROMIUM_PATH: path,
      PLAYWRIGHT_JSON_OUTPUT_NAME: join(results, "browser.json"),
    };
    const { code } = await run(bin("playwright"), ["test", "--reporter=list,json"], {
      env,
      timeoutMs: PART_MS,
    });
    const result = readResult("browser.json");
    for (const suite of result?.suites ?? []) {
      const specs = specsOf(suite);
      const durations = specs.flatMap(({ tests }) =>
        tests.flatMap((test) => test.results.map((one) => one.duration)),
      );
      files.push({
        title: `e2e/${suite.file}`,
        ms: durations.reduce((sum, ms) => sum + ms, 0),
      });
      for (const { ok, title } of specs) if (!ok) failures.push(`e2e/${suite.file}: ${title}`);
    }
    const { expected: passed = 0, unexpected: failed = 1, skipped = 0 } = result?.stats ?? {};
    return { code, passed, failed, skipped };
  });

const prepare = async () => {
  checkNode();
  await ensureInstalled(console.log);
  const { findChromium, NO_CHROMIUM } = await import("./chromium.mjs");
  const path = await findChromium(console.log);
  // Installs pgbouncer when it is missing. When it cannot be installed, its tests are skipped and
  // say so.
  const { code } = await run("pgbouncer", ["--version"], { quiet: true });
  if (code !== 0) await installOneOf(["pgbouncer"], console.log);
  return { path, problem: path === null ? NO_CHROMIUM : null };
};

const runAll = async () => {
  const chromium = await prepare();
  // The build comes first, because it generates Prisma's client and the types of the routes, which
  // the other checks need.
  await check("build", (options) => run(process.execPath, ["scripts/build.mjs"], options));
  await Promise.all([
    checkScript("format", "check:format"),
    checkScript("boundaries", "check:boundaries"),
    checkScript("unused code", "check:unused"),
    checkScript("lint and types", "check:lint"),
  ]);
  await vitest("unit");
  await vitest("integration");
  await browser(chromium);
};

const interrupted = () => {
  endChildren("SIGINT");
  setTimeout(() => {
    endChildren("SIGKILL");
    process.exit(130);
  }, GRACE_MS).unref();
  process.exitCode = 130;
};
process.on("SIGINT", interrupted);
process.on("SIGTERM", interrupted);

const started = performance.now();
try {
  await runAll();
} catch (error) {
  totals.failed += 1;
  report(error);
} finally {
  rmSync(results, { recursive: true, force: true });
}

const slowest = files.sort((a, b) => b.ms - a.ms).slice(0, SLOWEST_FILES);
console.log("\nThe slowest files:");
for (const { title, ms } of slowest)
  console.log(`${(ms / 1000).toFixed(0).padStart(5)} s  ${title}`);
if (failures.length > 0)
  console.log(`\nFailed:\n${failures.map((failure) => `  ${failure}`).join("\n")}`);
console.log(`\n${lines.join("\n")}\nAll done in ${secondsSince(started)}.`);
console.log(`${totals.passed} passed, ${totals.failed} failed`);
process.exitCode ||= totals.failed > 0 ? 1 : 0;
