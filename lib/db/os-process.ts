import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";

const POLL_MS = 25;

/** Whether a process with this id runs; one of another user counts too. A zombie does not. */
export const isAlive = (pid: number): boolean => {
  try {
    process.kill(pid, 0);
  } catch (error) {
    return error instanceof Error && "code" in error && error.code === "EPERM";
  }
  try {
    return !/^State:\s+Z/m.test(readFileSync(`/proc/${String(pid)}/status`, "utf8"));
  } catch {
    return true; // No /proc here: the signal got through, so it is alive.
  }
};

/** The command line of a process, or "" when it is gone. Ids are reused, so look before you end what a file names. */
export const commandOf = (pid: number): string => {
  try {
    return readFileSync(`/proc/${String(pid)}/cmdline`, "utf8").replaceAll("\0", " ");
  } catch {
    try {
      return execFileSync("ps", ["-p", String(pid), "-o", "command="], { encoding: "utf8", stdio: "pipe" });
    } catch {
      return "";
    }
  }
};

/** Sends a signal; a process that is gone already is not an error. */
export const signal = (pid: number, name: NodeJS.Signals): void => {
  try {
    process.kill(pid, name);
  } catch {
    // It ended first.
  }
};

/** Resolves true as soon as the process is gone, false when it still runs after the deadline. */
export const waitForExit = async (pid: number, timeoutMs: number): Promise<boolean> => {
  const deadline = Date.now() + timeoutMs;
  while (isAlive(pid)) {
    if (Date.now() > deadline) return false;
    await sleep(POLL_MS);
  }
  return true;
};

/** Tries each signal in turn and waits for the end after each. @returns whether it ended */
export const endProcess = async (
  pid: number,
  steps: readonly { signal: NodeJS.Signals; waitMs: number }[],
): Promise<boolean> => {
  for (const step of steps) {
    if (!isAlive(pid)) return true;
    signal(pid, step.signal);
    if (await waitForExit(pid, step.waitMs)) return true;
  }
  return !isAlive(pid);
};
