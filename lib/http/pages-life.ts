import { Agent, type IncomingMessage, request } from "node:http";
import {
  CODED_HEADER,
  type Coding,
  codingFor,
  encoderOf,
  isCompressible,
  sendAnswer,
} from "./compress";
import { edgeError, pagesUnavailable } from "./edge-error";
import type { PageRequest } from "./pages-gate";
import { type ChildProcess, fork } from "node:child_process";
import { createInterface } from "node:readline";
import type { Readable, Writable } from "node:stream";
import { setTimeout as sleep } from "node:timers/promises";
import { inheritedEnvironment } from "@/lib/platform/config/env";
import { redact } from "@/lib/platform/log/logger";
import { PAGES_READY } from "./pages-server";

interface PauseBounds {
  readonly firstMs: number;
  readonly maxMs: number;
}

const SPREAD = 0.2;

/**
 * How long to wait before the next start. The pause doubles with each consecutive failure up to a
 * limit, and varies by a fifth in both directions, so that several instances do not start at the
 * same moment.
 * @param failures number of consecutive failures, from 0
 * @param random from 0 to 1
 */
export const restartPauseMs = (
  failures: number,
  { firstMs, maxMs }: PauseBounds,
  random: number,
): number =>
  Math.min(maxMs, firstMs * 2 ** Math.min(failures, 30)) * (1 - SPREAD + 2 * SPREAD * random);

/**
 * Headers of the pages' answer that are not passed on, because they belong to one connection or
 * are meant for this process.
 */
const NOT_PASSED_BACK = new Set([
  "connection",
  "keep-alive",
  "transfer-encoding",
  CODED_HEADER,
]);

interface PagesPlace {
  readonly socketPath: string;
  readonly agent: Agent;
}

const WITHOUT_BODY = new Set([204, 304]);

/** How the answer of the pages is compressed; null when it is sent unchanged. */
const codingOf = (incoming: IncomingMessage, answer: IncomingMessage): Coding | null => {
  const {
    "content-type": type,
    "content-encoding": coding,
    [CODED_HEADER]: coded,
  } = answer.headers;
  const isCoded = coding !== undefined || coded !== undefined;
  const isPlain =
    incoming.method !== "HEAD" && !isCoded && !WITHOUT_BODY.has(answer.statusCode ?? 200);
  return isPlain && isCompressible(type)
    ? codingFor(incoming.headers["accept-encoding"])
    : null;
};

export const passOn = (
  { incoming, outgoing, path, headers, body }: PageRequest,
  { socketPath, agent }: PagesPlace,
): void => {
  const fail = (): void =>
    sendAnswer(edgeError(pagesUnavailable(), incoming), incoming, outgoing);
  const upstream = request(
    { socketPath, agent, method: incoming.method, path, headers },
    (answer) => {
      // Headers that were set before (the policies of pages) stay, and Next's headers are added.
      for (const [name, value] of Object.entries(answer.headers))
        if (value !== undefined && !NOT_PASSED_BACK.has(name)) outgoing.setHeader(name, value);
      const coded = answer.headers[CODED_HEADER];
      if (coded !== undefined) outgoing.setHeader("content-encoding", coded);
      answer.once("error", fail);
      const coding = codingOf(incoming, answer);
      if (isCompressible(answer.headers["content-type"]))
        outgoing.appendHeader("vary", "accept-encoding");
      if (coding === null) {
        outgoing.writeHead(answer.statusCode ?? 502);
        answer.pipe(outgoing);
        return;
      }
      outgoing.removeHeader("content-length");
      outgoing.setHeader("content-encoding", coding);
      outgoing.writeHead(answer.statusCode ?? 502);
      const encoder = encoderOf(coding).once("error", fail);
      outgoing.once("close", () => encoder.destroy());
      answer.pipe(encoder).pipe(outgoing);
    },
  );
  upstream.once("error", fail);
  outgoing.once("close", () => upstream.destroy());
  upstream.end(body);
};

/**
 * Requests one page from the pages' process, and discards the body after reading it.
 * @returns the status
 * @throws when there is no answer
 */
export const askForPage = (
  { socketPath, agent }: PagesPlace,
  {
    path,
    headers,
    signal,
  }: Pick<PageRequest, "path" | "headers"> & { readonly signal: AbortSignal },
): Promise<number> =>
  new Promise((resolve, reject) => {
    const asked = request(
      { socketPath, agent, method: "GET", path, headers, signal },
      (answer) => {
        answer.once("end", () => resolve(answer.statusCode ?? 0));
        answer.once("error", reject);
        answer.resume();
      },
    );
    asked.once("error", reject);
    asked.end();
  });

/**
 * Probes the pages' process.
 * @returns the memory in use by the process, in bytes; null when it does not answer in time
 */
const askWhetherAlive = (socketPath: string, timeoutMs: number): Promise<number | null> =>
  new Promise((resolve) => {
    const signal = AbortSignal.timeout(timeoutMs);
    const asked = request(
      { socketPath, agent: false, method: "OPTIONS", path: "*", signal },
      (answer) => {
        let text = "";
        answer.setEncoding("utf8");
        answer.on("data", (chunk: string) => (text += chunk));
        answer.once("end", () => resolve(Number(text)));
        answer.once("error", () => resolve(null));
      },
    );
    asked.once("error", () => resolve(null));
    asked.end();
  });

export interface LifeBounds {
  readonly readyTimeoutMs: number;
  readonly probeEveryMs: number;
  readonly probeTimeoutMs: number;
  /** Number of consecutive probes without an answer after which the process is ended. */
  readonly probesMissedMax: number;
  /** Limit for JavaScript objects; above it V8 ends the process. */
  readonly heapMb: number;
  /** Limit for the memory of the whole process. */
  readonly memoryMb: number;
}

/**
 * Maximum number of database connections of the pages, which need the database only for sign-ins
 * and sessions. The API and the worker use the other connections.
 */
const CONNECTIONS = "6";

interface LifeOptions {
  /** Script that calls `servePages`. */
  readonly entry: string;
  readonly nodeArguments: readonly string[];
  readonly socketPath: string;
  readonly bounds: LifeBounds;
}

export interface PagesLife {
  readonly pid: number | null;
  readonly socketPath: string;
  readonly agent: Agent;
  /**
   * Resolves when the process is ready. Rejects with the reason when the process ends, or is not
   * ready in time and is therefore ended.
   */
  readonly ready: Promise<void>;
  /** Resolves with the reason for the end. */
  readonly ended: Promise<string>;
  stop(): Promise<void>;
}

const STOP_TIMEOUT_MS = 5_000;
const SOCKETS_MAX = 64;
const MB = 1024 * 1024;

const hasEnded = (child: ChildProcess): boolean =>
  child.exitCode !== null || child.signalCode !== null;

const endOf = (child: ChildProcess): Promise<string> =>
  new Promise((resolve) => {
    child.once("error", (error) => resolve(error.message));
    child.once("exit", (code, signal) =>
      resolve(signal === null ? `ended with code ${String(code)}` : `was ended by ${signal}`),
    );
  });

const isReady = (message: unknown): boolean =>
  typeof message === "object" &&
  message !== null &&
  "type" in message &&
  message.type === PAGES_READY;

const untilReady = (
  child: ChildProcess,
  ended: Promise<string>,
  timeoutMs: number,
): Promise<void> =>
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
const watch = async (
  child: ChildProcess,
  socketPath: string,
  bounds: LifeBounds,
): Promise<void> => {
  let missed = 0;
  while (!hasEnded(child)) {
    await sleep(bounds.probeEveryMs, null, { ref: false });
    if (hasEnded(child)) return;
    const bytes = await askWhetherAlive(socketPath, bounds.probeTimeoutMs);
    missed = bytes === null ? missed + 1 : 0;
    if (missed >= bounds.probesMissedMax || (bytes ?? 0) > bounds.memoryMb * MB)
      child.kill("SIGKILL");
  }
};

/** Next writes errors unredacted, so their secrets are removed here. */
const passOnOutput = (from: Readable | null, to: Writable): void => {
  if (from !== null)
    createInterface({ input: from }).on("line", (line) => to.write(`${redact(line)}\n`));
};

export const startLife = ({
  entry,
  nodeArguments,
  socketPath,
  bounds,
}: LifeOptions): PagesLife => {
  const child = fork(entry, [socketPath], {
    env: { ...inheritedEnvironment(), DATABASE_CONNECTIONS_MAX: CONNECTIONS },
    stdio: ["ignore", "pipe", "pipe", "ipc"],
    execArgv: [
      ...nodeArguments,
      // The server itself has a larger value for bursts of payments. The pages would only hold
      // more memory with it.
      "--max-semi-space-size=16",
      `--max-old-space-size=${String(bounds.heapMb)}`,
    ],
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
