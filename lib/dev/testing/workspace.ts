import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
  chmodSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { commandOf, endProcess, isAlive } from "@/lib/platform/os/process.mjs";

const PREFIX = "causeway-test-";
const OWNER = "owner";
const KILL = [{ signal: "SIGKILL", waitMs: 5_000 }] as const;

const ownerLives = (folder: string): boolean => {
  try {
    const pid = Number(readFileSync(join(folder, OWNER), "utf8"));
    return isAlive(pid) && commandOf(pid).includes("node");
  } catch {
    return false;
  }
};

/**
 * Every process whose id is in a file `*.pid` inside the folder, if its command still looks like
 * PostgreSQL or anvil.
 */
const processesOf = (folder: string): number[] =>
  readdirSync(folder, { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".pid"))
    .map((name) => Number.parseInt(readFileSync(join(folder, name), "utf8"), 10))
    .filter((pid) => pid > 1 && /postgres|anvil/.test(commandOf(pid)));

/** Ends the processes of killed test runs and removes their folders. */
const sweepAbandoned = async (): Promise<void> => {
  for (const name of readdirSync(tmpdir())) {
    const folder = join(tmpdir(), name);
    // A folder without an owner file may be one that another run is creating.
    if (!name.startsWith(PREFIX) || !existsSync(join(folder, OWNER)) || ownerLives(folder))
      continue;
    for (const pid of processesOf(folder)) await endProcess(pid, KILL);
    rmSync(folder, { recursive: true, force: true });
  }
};

/**
 * A temporary folder for servers of a test run, accessible to the user that runs PostgreSQL.
 * Folders whose owner was killed are removed first.
 */
export const makeWorkspace = async (): Promise<{ folder: string; remove: () => void }> => {
  await sweepAbandoned();
  mkdirSync(tmpdir(), { recursive: true });
  const folder = mkdtempSync(join(tmpdir(), PREFIX));
  chmodSync(folder, 0o755);
  writeFileSync(join(folder, OWNER), String(process.pid));
  return {
    folder,
    remove: () => rmSync(folder, { recursive: true, force: true, maxRetries: 3 }),
  };
};
