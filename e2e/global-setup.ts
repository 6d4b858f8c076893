import { spawn, type ChildProcess } from "node:child_process";
import { chmodSync, existsSync, mkdtempSync, rmSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";

const READY_TIMEOUT_MS = 180_000; // A build that is missing is made first.
const STOP_TIMEOUT_MS = 40_000;
const CHROMIUM_OF_DEBIAN = "/usr/bin/chromium";

/** What the supervisor tells its parent once everything runs. */
interface Ready {
  readonly type: "ready";
  readonly url: string;
  readonly databaseUrl: string;
  /** JSON-RPC by chain id. */
  readonly rpcUrls: Readonly<Record<string, string>>;
}

const isReady = (message: unknown): message is Ready =>
  typeof message === "object" && message !== null && "type" in message && message.type === "ready";

const freePort = (): Promise<number> =>
  new Promise((done, fail) => {
    const server = createServer();
    server.once("error", fail);
    server.listen(0, "127.0.0.1", () => {
      const address = server.address();
      server.close(() => done(typeof address === "object" && address ? address.port : 0));
    });
  });

const start = (dataDir: string, port: number): { stack: ChildProcess; ready: Promise<Ready> } => {
  const stack = spawn(process.execPath, [resolve("scripts/start.mjs")], {
    env: {
      ...process.env,
      CAUSEWAY_DATA_DIR: dataDir,
      PORT: String(port),
      DATABASE_URL: "",
      PUBLIC_URL: `http://localhost:${String(port)}`,
      // Journeys are many requests from one address within a minute.
      RATE_LIMIT_PER_IP: "0",
      RATE_LIMIT_PER_KEY: "0",
    },
    stdio: ["ignore", "pipe", "pipe", "ipc"],
    detached: true,
  });
  let output = "";
  const keep = (chunk: Buffer): void => {
    output += chunk.toString();
  };
  stack.stdout?.on("data", keep);
  stack.stderr?.on("data", keep);
  const ready = new Promise<Ready>((done, fail) => {
    const timer = setTimeout(() => fail(new Error(`The stack is not ready in time.\n${output}`)), READY_TIMEOUT_MS);
    stack.once("exit", (code) => {
      clearTimeout(timer);
      fail(new Error(`The stack ended with code ${String(code)}.\n${output}`));
    });
    stack.on("message", (message) => {
      if (!isReady(message)) return;
      clearTimeout(timer);
      done(message);
    });
  });
  return { stack, ready };
};

const stop = (stack: ChildProcess): Promise<void> =>
  new Promise((done) => {
    if (stack.exitCode !== null || stack.signalCode !== null) {
      done();
      return;
    }
    const timer = setTimeout(() => stack.kill("SIGKILL"), STOP_TIMEOUT_MS);
    stack.once("exit", () => {
      clearTimeout(timer);
      done();
    });
    stack.kill("SIGTERM");
  });

/**
 * Starts a whole stack of its own on free ports with an empty data folder, and sets `E2E_BASE_URL`, `E2E_DATABASE_URL`, `E2E_DATA_DIR` and
 * `E2E_RPC_URL_<chain id>`. With `E2E_BASE_URL` already set it uses that stack instead.
 */
const globalSetup = async (): Promise<(() => Promise<void>) | undefined> => {
  if (!process.env.CHROMIUM_PATH && existsSync(CHROMIUM_OF_DEBIAN)) process.env.CHROMIUM_PATH = CHROMIUM_OF_DEBIAN;
  if (process.env.E2E_BASE_URL) return undefined;
  const dataDir = mkdtempSync(join(tmpdir(), "causeway-e2e-"));
  chmodSync(dataDir, 0o755); // PostgreSQL may run as another user.
  const { stack, ready } = start(dataDir, await freePort());
  const remove = async (): Promise<void> => {
    await stop(stack);
    rmSync(dataDir, { recursive: true, force: true, maxRetries: 3 });
  };
  try {
    const { url, databaseUrl, rpcUrls } = await ready;
    process.env.E2E_BASE_URL = url;
    process.env.E2E_DATABASE_URL = databaseUrl;
    process.env.E2E_DATA_DIR = dataDir;
    for (const [id, rpcUrl] of Object.entries(rpcUrls)) process.env[`E2E_RPC_URL_${id}`] = rpcUrl;
  } catch (error) {
    await remove();
    throw error;
  }
  return remove;
};

export default globalSetup;
