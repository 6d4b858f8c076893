// Inspects and ends processes. Plain Node, because `npm start` and `npm run reset` use it before
// packages are installed.
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";

const POLL_MS = 25;
const PARENT_POLL_MS = 250;
/**
 * Fields of /proc/<pid>/stat after the name in brackets, counted from the third one: state, …,
 * start time.
 */
const STAT_STATE = 0;
const STAT_START_TIME = 19;

const procStat = (pid) => {
  const text = readFileSync(`/proc/${pid}/stat`, "utf8");
  // The name may contain spaces and brackets, so the fields begin after the last bracket.
  return text.slice(text.lastIndexOf(")") + 2).split(" ");
};

const ps = (pid, column) => {
  try {
    return execFileSync("ps", ["-p", String(pid), "-o", `${column}=`], {
      encoding: "utf8",
      stdio: "pipe",
    }).trim();
  } catch {
    return "";
  }
};

const hasProc = () => {
  try {
    procStat(process.pid);
    return true;
  } catch {
    return false;
  }
};

export const isAlive = (pid) => {
  try {
    process.kill(pid, 0);
  } catch (error) {
    return error.code === "EPERM";
  }
  try {
    return procStat(pid)[STAT_STATE] !== "Z";
  } catch {
    return !hasProc() || ps(pid, "pid") !== "";
  }
};

export const commandOf = (pid) => {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, "utf8").replaceAll("\0", " ");
  } catch {
    return ps(pid, "command");
  }
};

const bootId = () => readFileSync("/proc/sys/kernel/random/boot_id", "utf8").trim();

/** Boot id and clock ticks since that boot; without /proc, the start date as text. */
const bornAt = (pid) => {
  try {
    return `${bootId()}:${procStat(pid)[STAT_START_TIME]}`;
  } catch {
    return ps(pid, "lstart");
  }
};

export const identityOf = (pid) => ({ pid, bornAt: bornAt(pid), command: commandOf(pid) });

export const isSameProcess = (identity) => {
  if (
    !Number.isInteger(identity.pid) ||
    identity.pid < 1 ||
    !identity.bornAt ||
    !identity.command
  )
    return false;
  if (!isAlive(identity.pid)) return false;
  const now = identityOf(identity.pid);
  return now.bornAt === identity.bornAt && now.command === identity.command;
};

export const signal = (pid, name) => {
  try {
    process.kill(pid, name);
  } catch {
    // The process ended first.
  }
};

export const waitForExit = async (pid, timeoutMs) => {
  const deadline = performance.now() + timeoutMs;
  while (isAlive(pid)) {
    if (performance.now() > deadline) return false;
    await sleep(POLL_MS);
  }
  return true;
};

export const endProcess = async (pid, steps) => {
  for (const step of steps) {
    if (!isAlive(pid)) return true;
    signal(pid, step.signal);
    if (await waitForExit(pid, step.waitMs)) return true;
  }
  return !isAlive(pid);
};

export const onParentEnd = (ended) => {
  const parent = process.ppid;
  const timer = setInterval(() => {
    if (process.ppid === parent) return;
    clearInterval(timer);
    ended();
  }, PARENT_POLL_MS);
  timer.unref();
};
