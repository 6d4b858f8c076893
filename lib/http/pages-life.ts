import { fork, type ChildProcess } from "node:child_process";
import { Agent } from "node:http";
import { createInterface } from "node:readline";
import type { Readable, Writable } from "node:stream";
import { setTimeout as sleep } from "node:timers/promises";
import { inheritedEnvironment } from "@/lib/config/env";
import { askWhetherAlive } from "./pages-exchange";
import { redact } from "@/lib/log/logger";
import { PAGES_READY } from "./pages-server";

export interface LifeBounds {
  readonly readyTimeoutMs: number;
  readonly probeEveryMs: number;
  readonly probeTimeoutMs: number;
  /** Probes in a row without an answer before the process is ended. */
  readonly probesMissedMax: number;
  /** Memory of JavaScript objects; above it V8 ends the process. */
  readonly heapMb: number;
  /** Memory of the whole process. */
  readonly memoryMb: number;
}

/** The pages ask the database for sign-ins and sessions alone; the API and the worker use the other connections. */
const CONNECTIONS = "6";

interface LifeOptions {
  /** Script that calls `servePages`. */
  readonly entry: string;
  readonly nodeArguments: readonly string[];
  readonly socketPath: string;
  readonly bounds: LifeBounds;
}

/** One process of the pages, from its start to its end. */
export interface PagesLife {
  readonly pid: number | null;
  readonly socketPath: string;
  readonly agent: Agent;
  /** Rejects with the reason when the process ends or does not become ready in time; it is ended then. */
  readonly ready: Promise<void>;
  /** Resolves with the reason. */
  readonly ended: Promise<string>;
  stop(): Promise<void>;
}

const STOP_TIMEOUT_MS = 5_000;
const SOCKETS_MAX = 64;
const MB = 1024 * 1024;

const hasEnded = (child: ChildProcess): boolean => child.exitCode !== null || child.signalCode !== null;

const endOf = (child: ChildProcess): Promise<string> =>
  new Promise((resolve) => {
    child.once("error", (error) => resolve(error.message));
    child.once("exit", (code, signal) =>
      resolve(signal === null ? `ended with code ${String(code)}` : `was ended by ${signal}`),
    );
  });

const isReady = (message: unknown): boolean =>
  typeof message === "object" && message !== null && "type" in message && message.type === PAGES_READY;

const untilReady = (child: ChildProcess, ended: Promise<string>, timeoutMs: number): Promise<void> =>
  new Promise((resolve, reject) => {
    const timer = setTimeout(() => {
      child.kill("SIGKILL");
      reject(new Error("was not ready in time"));
    }, timeoutMs);
    void ended.then((reason) => {
      clearTimeout(timer);
      reject(new Error(reason));
    });
    child.on("message", (message) => {
      if (!isReady(message)) return;
      clearTimeout(timer);
      resolve();
    });
  });

/** Probes the process periodically, and ends it when it does not answer or uses too much memory. */
const watch = async (child: ChildProcess, socketPath: string, bounds: LifeBounds): Promise<void> => {
  let missed = 0;
  while (!hasEnded(child)) {
    await sleep(bounds.probeEveryMs, null, { ref: false });
    if (hasEnded(child)) return;
    const bytes = await askWhetherAlive(socketPath, bounds.probeTimeoutMs);
    missed = bytes === null ? missed + 1 : 0;
    if (missed >= bounds.probesMissedMax || (bytes ?? 0) > bounds.memoryMb * MB) child.kill("SIGKILL");
  }
};

/** Next writes errors unredacted, so their secrets are removed here. */
const passOnOutput = (from: Readable | null, to: Writable): void => {
  if (from !== null) createInterface({ input: from }).on("line", (line) => to.write(`${redact(line)}\n`));
};

/** Starts one process of the pages. */
export const startLife = ({ entry, nodeArguments, socketPath, bounds }: LifeOptions): PagesLife => {
  const child = fork(entry, [socketPath], {
    env: { ...inheritedEnvironment(), DATABASE_CONNECTIONS_MAX: CONNECTIONS },
    stdio: ["ignore", "pipe", "pipe", "ipc"],
    execArgv: [...nodeArguments, `--max-old-space-size=${String(bounds.heapMb)}`],
  });
  passOnOutput(child.stdout, process.stdout);
  passOnOutput(child.stderr, process.stderr);
  const ended = endOf(child);
  const ready = untilReady(child, ended, bounds.readyTimeoutMs);
  const agent = new Agent({ keepAlive: true, maxSockets: SOCKETS_MAX });
  void ready.then(
    () => watch(child, socketPath, bounds),
    () => undefined,
  );
  void ended.then(() => agent.destroy());
  return {
    pid: child.pid ?? null,
    socketPath,
    agent,
    ready,
    ended,
    stop: async () => {
      if (hasEnded(child)) return;
      const timer = setTimeout(() => child.kill("SIGKILL"), STOP_TIMEOUT_MS);
      child.kill("SIGTERM");
      await ended;
      clearTimeout(timer);
    },
  };
};
