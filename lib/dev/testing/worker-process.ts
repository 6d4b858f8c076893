import { fork, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { closeSync, mkdtempSync, openSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { skewedClock } from "./skewed-clock";
import { afterFile } from "./after-file";
import { entryFile } from "./entry";

const ROOT = fileURLToPath(new URL("../../..", import.meta.url));
export interface WorkerProcess {
  readonly pid: number;
  /** Lets the process begin to work. Resolves when it has begun or is dead. */
  begin(): Promise<void>;
  /** Ends the process with kill -9. */
  kill(): void;
  /** Freezes the process (SIGSTOP). */
  freeze(): void;
  /** Continues the process (SIGCONT). */
  thaw(): void;
  readonly exited: Promise<void>;
}

export interface WorkerProcessOptions {
  /** Milliseconds by which the clock of the process is ahead. Default 0. */
  readonly clockAheadMs?: number;
}

export type StartWorkerProcess = (
  variables: Readonly<Record<string, string>>,
  options?: WorkerProcessOptions,
) => Promise<WorkerProcess>;

const asProcess = (child: ChildProcess): WorkerProcess => {
  const { pid } = child;
  if (pid === undefined) throw new Error("A worker process could not be started.");
  // Messages to a process that was just killed fail, which is not an error of the test.
  child.on("error", () => undefined);
  const exited = new Promise<void>((resolve) => child.once("exit", () => resolve()));
  return {
    pid,
    exited,
    begin: async () => {
      const working = once(child, "message");
      child.send("begin");
      await Promise.race([working, exited]);
    },
    kill: () => {
      child.kill("SIGKILL");
    },
    freeze: () => {
      child.kill("SIGSTOP");
    },
    thaw: () => {
      child.kill("SIGCONT");
    },
  };
};

/**
 * `start` creates a process of `crash-worker.ts` that is loaded and waits for `begin`. All
 * processes log to the file `logFile`, and are ended after the test file.
 */
export const workerProcesses = (): { start: StartWorkerProcess; logFile: string } => {
  const folder = mkdtempSync(join(tmpdir(), "causeway-worker-"));
  const logFile = join(folder, "log");
  const children = new Set<ChildProcess>();
  afterFile(() => {
    for (const child of children) child.kill("SIGKILL");
    rmSync(folder, { recursive: true, force: true });
  });
  const start: StartWorkerProcess = async (variables, { clockAheadMs = 0 } = {}) => {
    const log = openSync(logFile, "a");
    const child = fork(entryFile("crash-worker"), {
      cwd: ROOT,
      env: { NODE_ENV: "test", ...variables },
      stdio: ["ignore", log, log, "ipc"],
      execArgv: clockAheadMs === 0 ? [] : ["--import", skewedClock(clockAheadMs)],
    });
    closeSync(log);
    children.add(child);
    child.once("exit", () => children.delete(child));
    await once(child, "message");
    return asProcess(child);
  };
  return { start, logFile };
};
