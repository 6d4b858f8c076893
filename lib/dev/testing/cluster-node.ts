/**
 * Finds the node of a local Citus cluster that holds a project, kills it with kill -9, and restarts
 * it with the same command.
 */
import { spawn } from "node:child_process";
import { readFileSync, readlinkSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import pg from "pg";
import { sharedPostgres } from "./hub";

const BACK_MS = 60_000;
const POLL_MS = 200;

const statusOf = (pid: number, field: string): number =>
  Number(
    new RegExp(`^${field}:\\s+(\\d+)`, "m").exec(
      readFileSync(`/proc/${String(pid)}/status`, "utf8"),
    )?.[1],
  );

const answers = async (url: string): Promise<boolean> => {
  const client = new pg.Client({ connectionString: url });
  client.on("error", () => undefined);
  try {
    await client.connect();
    await client.query("SELECT 1");
    return true;
  } catch {
    return false;
  } finally {
    await client.end().catch(() => undefined);
  }
};

const serverPid = async (url: string): Promise<number> => {
  const client = new pg.Client({ connectionString: url });
  client.on("error", () => undefined);
  await client.connect();
  try {
    const { rows } = await client.query<{ pid: number }>("SELECT pg_backend_pid() AS pid");
    return statusOf(rows[0]?.pid ?? 0, "PPid");
  } finally {
    await client.end();
  }
};

/**
 * Kills the PostgreSQL server of a node with kill -9.
 * @param url URL of any database on the node
 */
export const killNode = async (
  url: string,
): Promise<{ readonly restart: () => Promise<void> }> => {
  const pid = await serverPid(url);
  const [uid, gid] = [statusOf(pid, "Uid"), statusOf(pid, "Gid")];
  const program = readlinkSync(`/proc/${String(pid)}/exe`);
  const args = readFileSync(`/proc/${String(pid)}/cmdline`, "utf8")
    .split("\0")
    .slice(1, -1);
  process.kill(pid, "SIGKILL");
  // Starts the server through a shell that exits immediately, because the server must continue
  // after the test's process ends.
  const start = (): void => {
    spawn("sh", ["-c", 'setsid "$@" >/dev/null 2>&1 &', "sh", program, ...args], {
      uid,
      gid,
      stdio: "ignore",
    });
  };
  return {
    restart: async () => {
      // Tries to start the server once a second, because it refuses to start while processes of the
      // killed server remain.
      for (let waitedMs = 0; !(await answers(url)); waitedMs += POLL_MS) {
        if (waitedMs > BACK_MS) throw new Error("The node does not answer again.");
        if (waitedMs % 1000 === 0) start();
        await sleep(POLL_MS);
      }
    },
  };
};

const NODE = `
  SELECT n.nodename || ':' || n.nodeport AS node FROM pg_dist_placement p JOIN pg_dist_node n ON n.groupid = p.groupid
  WHERE p.shardid = get_shard_id_for_distribution_column('ledger_account', $1::text)`;

/** Host and port of the Citus node that holds the project's rows. */
export const nodeOfProject = async (
  pool: Pick<pg.Pool, "query">,
  projectId: string,
): Promise<string> =>
  (await pool.query<{ node: string }>(NODE, [projectId])).rows[0]?.node ?? "";

/** The URL of a database on a node that `nodeOfProject` returned. */
export const urlOfNode = async (node: string): Promise<string> => {
  const { workers = [] } = await sharedPostgres();
  const pattern = workers.find((each) => each.includes(node));
  if (pattern === undefined) throw new Error(`No node is ${node}.`);
  return pattern.replace(/DATABASE$/, "postgres");
};
