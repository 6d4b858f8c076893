import { spawn, type ChildProcess } from "node:child_process";
import { cpSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import pg from "pg";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { isAlive, signal, waitForExit } from "@/lib/platform/os/process.mjs";
import { entryFile } from "@/lib/dev/testing/entry";
import { makeWorkspace } from "@/lib/dev/testing/workspace";
import { freePort } from "@/lib/platform/os/ports";

const PROJECT = fileURLToPath(new URL("../..", import.meta.url));
const READY_TIMEOUT_MS = 60_000;
const STOP_TIMEOUT_MS = 30_000;
/** One port for each of the three chains, and one for the provider of association sets. */
const CHAIN_PORTS = 4;

// The real server needs a build. For the supervisor, a child suffices that reports when it is ready
// and exits when its parent is gone.
const SERVER = `
import { createServer } from "node:http";
createServer((request, response) => response.end(String(process.pid)))
  .listen(Number(process.env.PORT), process.env.HOST, () => process.send({ type: "ready" }));
process.on("SIGTERM", () => process.exit(0));
process.on("disconnect", () => process.exit(0));
`;
const RUN = `
const { runStack } = await import(${JSON.stringify(entryFile("stack"))});
const options = JSON.parse(process.env.STACK_OPTIONS);
process.exit(await runStack(options));
`;

const workspace = await makeWorkspace();
const root = join(workspace.folder, "project");
const dataDir = join(workspace.folder, "data");
const started: ChildProcess[] = [];

interface Ready {
  readonly url: string;
  readonly databaseUrl: string;
  readonly databaseOwnerUrl: string;
  readonly rpcUrls: Record<string, string>;
}

interface Run {
  readonly process: ChildProcess;
  readonly output: () => string;
  readonly ready: Promise<Ready>;
  readonly exit: Promise<number | null>;
}

const NODE_ARGS = ["--input-type=module", "-e", RUN];

interface StartOptions {
  readonly dataDir?: string;
  /**
   * True to start like npm does: by a shell that waits for the stack and does not forward signals.
   */
  readonly byShell?: boolean;
  /** True to send the output of the stack to a disk without space. */
  readonly outputIsFull?: boolean;
}

const start = (environment: Record<string, string>, own: StartOptions = {}): Run => {
  const options = {
    root,
    dataDir,
    environment: { PATH: "/usr/bin:/bin", ...environment },
    dev: false,
    ...own,
  };
  const script = own.outputIsFull ? 'exec "$0" "$@" > /dev/full 2>&1' : '"$0" "$@"; :';
  const isScript = own.byShell ?? own.outputIsFull ?? false;
  const shell = ["-c", script, process.execPath, ...NODE_ARGS];
  const child = spawn(isScript ? "/bin/sh" : process.execPath, isScript ? shell : NODE_ARGS, {
    cwd: PROJECT,
    env: { PATH: "/usr/bin:/bin", NODE_ENV: "test", STACK_OPTIONS: JSON.stringify(options) },
    stdio: ["ignore", "pipe", "pipe", "ipc"],
  });
  started.push(child);
  let output = "";
  const keep = (chunk: Buffer): void => void (output += chunk.toString());
  child.stdout?.on("data", keep);
  child.stderr?.on("data", keep);
  const exit = new Promise<number | null>((resolve) =>
    child.once("exit", (code) => resolve(code)),
  );
  const ready = new Promise<Ready>((resolve, reject) => {
    child.once("message", (message) => resolve(message as Ready));
    void exit.then((code) =>
      reject(new Error(`It ended with code ${String(code)}:\n${output}`)),
    );
  });
  ready.catch(() => undefined);
  return { process: child, output: () => output, ready, exit };
};

const query = async (url: string, sql: string): Promise<unknown[]> => {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query<Record<string, unknown>>(sql)).rows;
  } finally {
    await client.end();
  }
};

const serverPid = async (url: string): Promise<number> =>
  Number(await (await fetch(url)).text());

const chainPids = (): number[] => {
  const text = readFileSync(join(dataDir, "chains", "processes.json"), "utf8");
  return [...text.matchAll(/"pid":\s*(\d+)/g)].map(([, pid]) => Number(pid));
};

const postgresPid = (): number => {
  const { dataDir: cluster } = JSON.parse(
    readFileSync(join(dataDir, "postgres.json"), "utf8"),
  ) as {
    dataDir: string;
  };
  return Number.parseInt(readFileSync(join(cluster, "postmaster.pid"), "utf8"), 10);
};

const blockHash = async (url: string | undefined): Promise<unknown> => {
  const body = JSON.stringify({
    jsonrpc: "2.0",
    id: 1,
    method: "eth_getBlockByNumber",
    params: ["0x5", false],
  });
  const response = await fetch(url ?? "", {
    method: "POST",
    headers: { "content-type": "application/json" },
    body,
  });
  return ((await response.json()) as { result: { hash: string } }).result.hash;
};

beforeAll(() => {
  mkdirSync(join(root, "dist"), { recursive: true });
  writeFileSync(join(root, "dist", "server.js"), SERVER);
  writeFileSync(join(root, "package.json"), '{"type":"module"}');
  cpSync(join(PROJECT, "prisma", "migrations"), join(root, "prisma", "migrations"), {
    recursive: true,
  });
});

afterAll(async () => {
  for (const child of started) {
    child.kill("SIGTERM");
    if (child.pid !== undefined && !(await waitForExit(child.pid, STOP_TIMEOUT_MS)))
      child.kill("SIGKILL");
  }
  workspace.remove();
});

vi.setConfig({ testTimeout: 2 * READY_TIMEOUT_MS });

test("a kill -9 loses nothing: the next start takes over, and Ctrl-C then ends every part with code 0", async () => {
  const PORT = String(await freePort());
  // Other test files may use the ports that a first start prefers.
  const ports = await Promise.all(Array.from({ length: CHAIN_PORTS }, () => freePort()));
  mkdirSync(join(dataDir, "chains"), { recursive: true });
  writeFileSync(join(dataDir, "chains", "ports.json"), JSON.stringify(ports));
  const first = start({ PORT });
  const { url, databaseUrl, databaseOwnerUrl, rpcUrls } = await first.ready;
  expect(first.output()).toContain(`http://localhost:${PORT}`);
  await query(databaseOwnerUrl, "CREATE TABLE kept (id int); INSERT INTO kept VALUES (7)");
  const hash = await blockHash(rpcUrls["31337"]);
  const firstServer = await serverPid(url);
  first.process.kill("SIGKILL");
  await first.exit;
  expect(await waitForExit(firstServer, STOP_TIMEOUT_MS)).toBe(true);

  const second = start({ PORT });
  const after = await second.ready;
  expect(after).toEqual({ ...after, url, databaseUrl, rpcUrls });
  expect(await query(after.databaseOwnerUrl, "SELECT id FROM kept")).toEqual([{ id: 7 }]);
  expect(await blockHash(after.rpcUrls["31337"])).toBe(hash);

  const third = start({ PORT });
  expect(await third.exit).toBe(1);
  expect(third.output()).toContain(
    `already running: ${url} (pid ${String(second.process.pid)})`,
  );

  // The server, the process of the chains, and their three nodes.
  const pids = [await serverPid(url), ...chainPids()];
  expect(pids).toHaveLength(5);
  second.process.kill("SIGINT");
  expect(await second.exit).toBe(0);
  expect(pids.filter(isAlive)).toEqual([]);
  await expect(query(databaseUrl, "SELECT 1")).rejects.toThrow("ECONNREFUSED");
});

test("a server that is killed is started again on the same port", async () => {
  const run = start({ PORT: String(await freePort()), DEVNET: "0" });
  const { url } = await run.ready;
  const pid = await serverPid(url);
  signal(pid, "SIGKILL");
  await vi.waitFor(async () => expect(await serverPid(url)).not.toBe(pid), {
    timeout: READY_TIMEOUT_MS,
  });
  expect(run.output()).toContain("was ended by SIGKILL; starting it again");
  run.process.kill("SIGTERM");
  expect(await run.exit).toBe(0);
});

test("a port that is taken is named, with what to do, before anything starts", async () => {
  const thief = createServer();
  const port = await new Promise<number>((resolve) =>
    thief.listen(0, "127.0.0.1", () => {
      const address = thief.address();
      resolve(typeof address === "object" && address ? address.port : 0);
    }),
  );
  const run = start({ PORT: String(port) });
  expect(await run.exit).toBe(1);
  expect(run.output()).toContain(`port ${String(port)} is taken by`);
  expect(run.output()).toContain("npm start");
  thief.close();
});

test("a database that cannot be reached is named, with what to do", async () => {
  const run = start({
    PORT: String(await freePort()),
    DEVNET: "0",
    DATABASE_URL: "postgresql://nobody:secret@127.0.0.1:9/none",
  });
  expect(await run.exit).toBe(1);
  expect(run.output()).toContain("migrations cannot start");
  expect(run.output()).toContain("DATABASE_URL");
  expect(run.output()).not.toContain("secret");
});

test("a SIGTERM to the shell that npm runs it by ends everything", async () => {
  const run = start(
    { PORT: String(await freePort()), DEVNET: "0", npm_lifecycle_event: "start" },
    { byShell: true },
  );
  const { url, databaseUrl } = await run.ready;
  const pids = [await serverPid(url), postgresPid()];
  run.process.kill("SIGTERM");
  for (const pid of pids) expect(await waitForExit(pid, STOP_TIMEOUT_MS)).toBe(true);
  await vi.waitFor(() => expect(existsSync(join(dataDir, "stack.lock"))).toBe(false), {
    timeout: STOP_TIMEOUT_MS,
  });
  await expect(query(databaseUrl, "SELECT 1")).rejects.toThrow("ECONNREFUSED");
});

test("a supervisor whose output cannot be written starts, restarts its server and stops as ever", async () => {
  const run = start({ PORT: String(await freePort()), DEVNET: "0" }, { outputIsFull: true });
  const { url } = await run.ready;
  const pid = await serverPid(url);
  signal(pid, "SIGKILL");
  await vi.waitFor(async () => expect(await serverPid(url)).not.toBe(pid), {
    timeout: READY_TIMEOUT_MS,
  });
  run.process.kill("SIGTERM");
  expect(await run.exit).toBe(0);
});

test("a database that hangs is ended at once when the stack stops, and its data is there the next time", async () => {
  const PORT = String(await freePort());
  const first = start({ PORT, DEVNET: "0" });
  const { databaseOwnerUrl } = await first.ready;
  await query(databaseOwnerUrl, "CREATE TABLE hung (id int); INSERT INTO hung VALUES (8)");
  const pid = postgresPid();
  signal(pid, "SIGSTOP");
  first.process.kill("SIGTERM");
  expect(await first.exit).toBe(0);
  expect(first.output()).toContain("PostgreSQL did not answer and was ended at once");
  expect(isAlive(pid)).toBe(false);
  const second = start({ PORT, DEVNET: "0" });
  expect(await query((await second.ready).databaseOwnerUrl, "SELECT id FROM hung")).toEqual([
    { id: 8 },
  ]);
  second.process.kill("SIGTERM");
  expect(await second.exit).toBe(0);
});

test("a data folder that cannot be written is named in one sentence", async () => {
  // A file in place of a folder in the path makes the folder unusable for everybody, even for root.
  const file = join(workspace.folder, "a-file");
  writeFileSync(file, "");
  const run = start(
    { PORT: String(await freePort()), DEVNET: "0" },
    { dataDir: join(file, "data") },
  );
  expect(await run.exit).toBe(1);
  expect(run.output()).toContain(
    `the data folder ${join(file, "data")} cannot be written (ENOTDIR)`,
  );
  expect(run.output()).toContain("CAUSEWAY_DATA_DIR");
  expect(run.output()).not.toMatch(/^\s+at /m);
});
