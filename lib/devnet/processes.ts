import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";

const POLL_MS = 20;

/** Whether a process with this id runs. A zombie does not. */
export const isRunning = (pid: number): boolean => {
  try {
    process.kill(pid, 0);
  } catch {
    return false;
  }
  try {
    return !/^State:\s+Z/m.test(readFileSync(`/proc/${String(pid)}/status`, "utf8"));
  } catch {
    return true; // No /proc here: the signal got through.
  }
};

/** The command line of a process, "" when it is gone. Ids are used again, so look before you end what a file names. */
export const commandLine = (pid: number): string => {
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

const send = (pid: number, signal: NodeJS.Signals): void => {
  try {
    process.kill(pid, signal);
  } catch {
    // It ended first.
  }
};

const ended = async (pid: number, timeoutMs: number): Promise<boolean> => {
  const deadline = Date.now() + timeoutMs;
  while (isRunning(pid)) {
    if (Date.now() > deadline) return false;
    await sleep(POLL_MS);
  }
  return true;
};

/** Asks, waits, insists. @throws Error when the process outlives a SIGKILL */
export const endProcess = async (pid: number, graceMs: number): Promise<void> => {
  send(pid, "SIGTERM");
  if (await ended(pid, graceMs)) return;
  send(pid, "SIGKILL");
  if (!(await ended(pid, graceMs))) throw new Error(`The process ${String(pid)} does not end.`);
};
