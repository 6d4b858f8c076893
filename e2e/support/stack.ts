import { spawn, type ChildProcess } from "node:child_process";
import { chmodSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { freePort } from "@/lib/platform/os/ports";

const READY_TIMEOUT_MS = 180_000; // The start also builds the app when the build is missing.
const STOP_TIMEOUT_MS = 40_000;

/** The message that the supervisor sends to its parent once everything runs. */
interface Ready {
  readonly type: "ready";
  readonly url: string;
  /** Connection of the role that the service has in production; it owns no table. */
  readonly databaseUrl: string;
  /** Connection of the role that owns the tables. */
  readonly databaseOwnerUrl: string;
  /** JSON-RPC URL of each chain, by chain id. */
  readonly rpcUrls: Readonly<Record<string, string>>;
}

const isReady = (message: unknown): message is Ready =>
  typeof message === "object" &&
  message !== null &&
  "type" in message &&
  message.type === "ready";

const start = (
  dataDir: string,
  port: number,
): { stack: ChildProcess; ready: Promise<Ready> } => {
  const stack = spawn(process.execPath, [resolve("scripts/start.mjs")], {
    env: {
      ...process.env,
      CAUSEWAY_DATA_DIR: dataDir,
      PORT: String(port),
      DATABASE_URL: "",
      PUBLIC_URL: `http://localhost:${String(port)}`,
      // Rate limits are off, because a journey sends many requests from one address within a
      // minute.
      RATE_LIMIT_PER_IP: "0",
      RATE_LIMIT_SIGN_IN_PER_IP: "0",
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
    const timer = setTimeout(
      () => fail(new Error(`The stack is not ready in time.\n${output}`)),
      READY_TIMEOUT_MS,
    );
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

/** A separate stack on free ports, with an empty data folder. */
export interface Stack {
  readonly url: string;
  /** Connection of the role that the service has in production; it owns no table. */
  readonly databaseUrl: string;
  /** Connection of the role that owns the tables. */
  readonly databaseOwnerUrl: string;
  readonly dataDir: string;
  /** JSON-RPC URL of each chain, by chain id. */
  readonly rpcUrls: Readonly<Record<string, string>>;
  /** Id of the supervisor process, which is the parent of all other processes of the stack. */
  readonly pid: number;
  /** Ends the stack and removes its data. */
  stop(): Promise<void>;
}

export const startStack = async (): Promise<Stack> => {
  const dataDir = mkdtempSync(join(tmpdir(), "causeway-e2e-"));
  chmodSync(dataDir, 0o755); // PostgreSQL may run as another user, who must be able to enter the folder.
  const { stack, ready } = start(dataDir, await freePort());
  const remove = async (): Promise<void> => {
    await stop(stack);
    rmSync(dataDir, { recursive: true, force: true, maxRetries: 3 });
  };
  try {
    const { url, databaseUrl, databaseOwnerUrl, rpcUrls } = await ready;
    return {
      url,
      databaseUrl,
      databaseOwnerUrl,
      rpcUrls,
      dataDir,
      pid: stack.pid ?? 0,
      stop: remove,
    };
  } catch (error) {
    await remove();
    throw error;
  }
};

/**
 * Returns the environment variables with which another server uses the same keys, tokens, database
 * and chains as the stack.
 */
export const environmentOf = (
  stack: Pick<Stack, "url" | "databaseUrl" | "dataDir" | "rpcUrls">,
): NodeJS.ProcessEnv => {
  const secrets = JSON.parse(
    readFileSync(join(stack.dataDir, "secrets.json"), "utf8"),
  ) as NodeJS.ProcessEnv;
  const chains = Object.entries(stack.rpcUrls).flatMap(([id, url]) => [
    [`RPC_URL_${id}`, url],
    [`PUBLIC_RPC_URL_${id}`, url],
  ]);
  return {
    ...process.env,
    ...secrets,
    ...(Object.fromEntries(chains) as NodeJS.ProcessEnv),
    NODE_ENV: "production",
    DATABASE_URL: stack.databaseUrl,
    DEVNET: "1",
    PUBLIC_URL: stack.url,
    NEXTAUTH_URL: stack.url,
    RATE_LIMIT_PER_IP: "0",
    RATE_LIMIT_SIGN_IN_PER_IP: "0",
    RATE_LIMIT_PER_KEY: "0",
    NEXT_TELEMETRY_DISABLED: "1",
  };
};
