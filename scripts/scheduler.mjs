// Runs the parts of `npm test` and `npm run check` side by side. Node's own modules alone.
import { readFileSync } from "node:fs";
import { availableParallelism } from "node:os";
import { join } from "node:path";
import { bin, endChildren, ROOT, run } from "./project.mjs";

export const CORES = Math.max(2, availableParallelism());
export const MINUTE_MS = 60_000;
const DEFAULT_TIMEOUT_MS = 5 * MINUTE_MS;
const GRACE_MS = 5_000;

const scripts = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8")).scripts;

export const secondsSince = (beginMs) => `${((performance.now() - beginMs) / 1000).toFixed(0)} s`;

/** The scripts of package.json are plain commands; running them without npm saves a second each. */
const commandOf = (task) => {
  if (!task.npm) return { command: task.command, args: task.args };
  const [command, ...args] = scripts[task.npm].split(" ");
  return { command: command === "node" ? process.execPath : bin(command), args: [...args, ...(task.args ?? [])] };
};

/** A check counts as one. */
const countOnce = ({ code }) => (code === 0 ? { passed: 1, failed: 0 } : { passed: 0, failed: 1 });

/** Runs a command of a task. A task that is blocked fails with the reason. */
const attempt = async ({ command, args }, task) => {
  const problem = task.blocked?.();
  const result = problem
    ? { code: 1, output: problem }
    : await run(command, args, { quiet: true, env: task.env, timeoutMs: task.timeoutMs ?? DEFAULT_TIMEOUT_MS });
  return { ...result, counts: problem ? countOnce(result) : (task.count ?? countOnce)(result) };
};

/** Runs one task, a second time where it says so, prints its line, and its output when it failed. */
const perform = async (task) => {
  const begin = performance.now();
  const { command, args } = commandOf(task);
  let { counts, output } = await attempt({ command, args }, task);
  const second = counts.failed ? task.secondTry?.({ output }) : null;
  if (second) {
    console.log(`${output.trimEnd()}\n── end of ${task.name}, first try ──\n`);
    ({ counts, output } = await attempt({ command, args: second.args }, { ...task, count: second.count }));
  }
  const numbers = task.count ? `${counts.passed} passed, ${counts.failed} failed` : counts.failed ? "failed" : "passed";
  console.log(`${counts.failed ? "✕" : "✓"} ${task.name.padEnd(12)} ${numbers} (${secondsSince(begin)})`);
  if (counts.failed) console.log(`${output.trimEnd()}\n── end of ${task.name} ──\n`);
  return counts;
};

const requireKnown = (tasks) => {
  const names = new Set(tasks.map(({ name }) => name));
  const unknown = tasks.flatMap(({ after = [] }) => after.filter((name) => !names.has(name)));
  if (unknown.length > 0) throw new Error(`Tasks wait for unknown ones: ${unknown.join(", ")}.`);
};

/**
 * Starts each task as soon as the tasks it waits for are done and the machine has room. A failure stops no other task.
 * @throws {Error} before any task begins when one waits for a name that no task has, or later when tasks wait for each other
 */
export const performAll = async (tasks, { cores = CORES, performOne = perform } = {}) => {
  requireKnown(tasks);
  const totals = { passed: 0, failed: 0 };
  const waiting = [...tasks];
  const done = new Set();
  const inFlight = new Map();
  let load = 0;
  const start = (task, needed) => {
    load += needed;
    const ended = performOne(task).then(({ passed, failed }) => {
      totals.passed += passed;
      totals.failed += failed;
      load -= needed;
      done.add(task.name);
      inFlight.delete(task.name);
    });
    inFlight.set(task.name, ended);
  };
  while (waiting.length > 0 || inFlight.size > 0) {
    for (const task of [...waiting]) {
      const needed = Math.min(task.cores ?? 1, cores);
      const isReady = (task.after ?? []).every((name) => done.has(name));
      if (!isReady || load + needed > cores) continue;
      waiting.splice(waiting.indexOf(task), 1);
      start(task, needed);
    }
    if (inFlight.size === 0) throw new Error(`No task can start: ${waiting.map(({ name }) => name).join(", ")}.`);
    await Promise.race(inFlight.values());
  }
  return totals;
};

/** After Ctrl-C the children get some seconds to stop their servers. */
export const endChildrenOnInterrupt = () => {
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
};
