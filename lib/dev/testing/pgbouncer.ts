import { execFileSync, spawn } from "node:child_process";
import {
  chownSync,
  existsSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import pg from "pg";
import { vi } from "vitest";
import { freePort } from "@/lib/platform/os/ports";
import { afterFile } from "./after-file";

const PLACES = [
  "/usr/sbin/pgbouncer",
  "/usr/bin/pgbouncer",
  "/usr/local/bin/pgbouncer",
  "/opt/homebrew/bin/pgbouncer",
];
const START_TIMEOUT_MS = 20_000;
/**
 * Number of connections to the server. The clients use more, so that transactions of different
 * clients constantly share connections.
 */
const SERVER_CONNECTIONS = 4;

/** The path of PgBouncer; null when it is not installed. */
export const pgbouncerBinary = (): string | null =>
  PLACES.find((place) => existsSync(place)) ?? null;

/**
 * Returns the user and the group for PgBouncer when this process runs as root, because PgBouncer
 * refuses to run as root; otherwise null. The user `postgres` exists wherever the embedded server
 * has run as root.
 */
const accountForRoot = (): { uid: number; gid: number } | null => {
  if (process.getuid?.() !== 0) return null;
  const id = (flag: string): number =>
    Number(execFileSync("id", [flag, "postgres"], { encoding: "utf8" }));
  return { uid: id("-u"), gid: id("-g") };
};

const DEPLOYED = fileURLToPath(
  new URL("../../../ops/pgbouncer/pgbouncer.ini", import.meta.url),
);

/** The settings of the deployment, with the test's servers and fewer connections. */
const configuration = (
  databaseUrl: string,
  port: number,
  serverConnections: number,
): string => {
  const { hostname, port: serverPort, username, password } = new URL(databaseUrl);
  const own: Readonly<Record<string, string>> = {
    listen_addr: "127.0.0.1",
    listen_port: String(port),
    unix_socket_dir: "",
    auth_type: "any",
    auth_file: "",
    admin_users: "admin",
    default_pool_size: String(serverConnections),
  };
  const [, settings = ""] = readFileSync(DEPLOYED, "utf8").split("[pgbouncer]");
  const kept = settings
    .split("\n")
    .filter((line) => line.includes("=") && !((line.split(" ")[0] ?? "") in own));
  return [
    "[databases]",
    `* = host=${hostname} port=${serverPort} user=${username} password=${decodeURIComponent(password)}`,
    "[pgbouncer]",
    ...kept,
    ...Object.entries(own).map(([name, value]) => `${name} = ${value}`),
    "",
  ].join("\n");
};

export interface Pgbouncer {
  /** URL of the database through the pooler. */
  readonly url: string;
  /** Ends the pooler before the test file ends. */
  stop(): Promise<void>;
}

/**
 * A PgBouncer in transaction mode in front of the URL's server; stopped after the file.
 * @param serverConnections number of connections from the pooler to the server; default: four
 */
export const startPgbouncer = async (
  binary: string,
  databaseUrl: string,
  serverConnections = SERVER_CONNECTIONS,
): Promise<Pgbouncer> => {
  const folder = mkdtempSync(join(tmpdir(), "causeway-pgbouncer-"));
  const port = await freePort();
  const file = join(folder, "pgbouncer.ini");
  writeFileSync(file, configuration(databaseUrl, port, serverConnections), { mode: 0o600 });
  const account = accountForRoot();
  if (account !== null)
    for (const path of [folder, file]) chownSync(path, account.uid, account.gid);
  const child = spawn(binary, [file], {
    ...account,
    cwd: "/",
    stdio: ["ignore", "ignore", "pipe"],
  });
  let log = "";
  child.stderr.on("data", (chunk: Buffer) => (log = `${log}${chunk.toString()}`.slice(-4_000)));
  process.once("exit", () => child.kill("SIGKILL"));
  const hasEnded = new Promise<void>((resolve) => {
    child.once("exit", () => resolve());
    child.once("error", () => resolve());
  });
  const stop = async (): Promise<void> => {
    child.kill("SIGTERM");
    await hasEnded;
    rmSync(folder, { recursive: true, force: true });
  };
  afterFile(stop);
  const url = new URL(databaseUrl);
  [url.hostname, url.port] = ["127.0.0.1", String(port)];
  await vi.waitFor(
    async () => {
      if (child.exitCode !== null) throw new Error(`PgBouncer ended: ${log}`);
      const client = new pg.Client({ connectionString: url.toString() });
      await client.connect();
      await client.end();
    },
    { timeout: START_TIMEOUT_MS, interval: 50 },
  );
  return { url: url.toString(), stop };
};
