import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { BoardPart } from "./board";
import { superviseChild, type ChildOptions, type SupervisedChild } from "./child";
import { PartError, startPart } from "./part-error";
import { isPortFree, portOwner } from "@/lib/platform/os/ports";

export interface AppOptions {
  readonly root: string;
  readonly dataDir: string;
  readonly host: string;
  readonly port: number;
  readonly publicUrl: string;
  /** True to run pages and API with `next dev`, and the worker with `tsx watch`. */
  readonly dev: boolean;
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly say: (line: string) => void;
}

export interface AppPart {
  readonly boards: readonly BoardPart[];
  stop(): Promise<void>;
}

const QUIET_MAX_MS = 60_000;
const PROBE_MS = 250;
const ADVICE =
  "Read the reason and the log. `npm start` may be tried again; if a file of the build is missing, `npm run build` creates it again.";

/**
 * Checks that no program listens on the port. @throws PartError that names the program on the port
 */
export const requireFreePort = async (port: number, host: string): Promise<void> => {
  if (port === 0 || (await isPortFree(port, host))) return;
  const owner = portOwner(port) ?? "another program";
  throw new PartError(
    "The web server",
    `port ${String(port)} is taken by ${owner}`,
    `end that program, or choose another port: PORT=${String(port + 1)} npm start`,
  );
};

const answers =
  (url: string) =>
  async (signal: AbortSignal): Promise<void> => {
    while (!signal.aborted) {
      try {
        await fetch(url, { signal });
        return;
      } catch {
        await sleep(PROBE_MS);
      }
    }
  };

const child = (
  options: AppOptions,
  own: Pick<ChildOptions, "name" | "args"> & Partial<ChildOptions>,
) =>
  superviseChild({
    command: process.execPath,
    cwd: options.root,
    environment: options.environment,
    logFile: null,
    quietMaxMs: QUIET_MAX_MS,
    onSlow: (passedMs) =>
      options.say(
        `${own.name} is still starting after ${String(Math.round(passedMs / 1000))} s; the machine may be busy.`,
      ),
    onRestart: (reason) => options.say(`${own.name} ${reason}; starting it again.`),
    onReadyAgain: () => options.say(`${own.name} is ready again: ${options.publicUrl}`),
    ...own,
  });

const startBuilt = (options: AppOptions): Promise<SupervisedChild> =>
  child(options, {
    name: "The server",
    // Requests allocate many short-lived objects. With the default of 16 MB, three of ten payouts
    // of 1,000 rows waited for garbage collection.
    args: ["--enable-source-maps", "--max-semi-space-size=64", join("dist", "server.js")],
    environment: { ...options.environment, NODE_ENV: "production" },
    logFile: join(options.dataDir, "logs", "server.log"),
  });

const startWatching = async (options: AppOptions): Promise<SupervisedChild> => {
  const worker = child(options, {
    name: "The worker",
    args: [
      join("node_modules", "tsx", "dist", "cli.mjs"),
      "watch",
      "--clear-screen=false",
      "server.ts",
    ],
    environment: { ...options.environment, ROLE: "worker" },
    logFile: join(options.dataDir, "logs", "worker.log"),
    endWithSupervisor: true,
    // The worker restarts with each change of the code, so its readiness is not checked.
    probe: () => Promise.resolve(),
  });
  const pages = child(options, {
    name: "next dev",
    args: [
      join("node_modules", "next", "dist", "bin", "next"),
      "dev",
      "-p",
      String(options.port),
      "-H",
      options.host,
    ],
    endWithSupervisor: true,
    probe: answers(`http://${options.host}:${String(options.port)}/api/health`),
  });
  const started = await Promise.allSettled([worker, pages]);
  const stop = async (): Promise<void> => {
    await Promise.all(
      started.map((one) => (one.status === "fulfilled" ? one.value.stop() : Promise.resolve())),
    );
  };
  const failed = started.find((one) => one.status === "rejected");
  if (failed) {
    await stop();
    throw failed.reason;
  }
  return { pid: () => undefined, stop };
};

/** The app itself: pages, API and worker. @throws PartError */
export const startAppPart = async (options: AppOptions): Promise<AppPart> => {
  const { value, tookMs } = await startPart("The server", ADVICE, () =>
    options.dev ? startWatching(options) : startBuilt(options),
  );
  return {
    boards: [
      {
        name: "Server",
        state: "ready",
        detail: options.dev ? "reloads, with worker" : "with worker",
        address: options.publicUrl,
        tookMs,
      },
    ],
    stop: () => value.stop(),
  };
};
