// `npm run reset`: stops the stack and removes its data. The next start begins afresh.
import { existsSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import { createInterface } from "node:readline/promises";
import { commandOf, endProcess, isSameProcess } from "../lib/platform/os/process.mjs";
import { dataDir, Refusal, report, runningStack } from "./project.mjs";

const STOP_TIMEOUT_MS = 45_000;

const end = async (pid, signal, what) => {
  if (await endProcess(pid, [{ signal, waitMs: STOP_TIMEOUT_MS }])) return;
  throw new Refusal(`${what} (pid ${pid}) does not stop. End it, then run this again.`);
};

/**
 * Returns PostgreSQL's data folder. It lies outside the stack's folder when PostgreSQL runs as a
 * user who cannot enter that folder.
 */
const postgresFolder = (folder) => {
  try {
    return JSON.parse(readFileSync(join(folder, "postgres.json"), "utf8")).dataDir;
  } catch {
    return null;
  }
};

/**
 * Finds the servers of a killed stack that still run. PostgreSQL writes its process id to
 * `postmaster.pid`, the local chains write theirs to `processes.json`. The id may by now belong to
 * another program, so the command line of the process must name this folder or port.
 */
const orphansBelow = (folder) => {
  if (!existsSync(folder)) return [];
  return readdirSync(folder, { recursive: true }).flatMap((name) => {
    const file = join(folder, name);
    if (basename(name) === "postmaster.pid") {
      const pid = Number.parseInt(readFileSync(file, "utf8"), 10);
      return commandOf(pid).includes(`-D ${dirname(file)}`) ? [pid] : [];
    }
    if (basename(name) !== "processes.json") return [];
    const { host = {}, chains = [] } = JSON.parse(readFileSync(file, "utf8"));
    const nodes = chains.flatMap(({ pid, port }) =>
      isAnvilAt(commandOf(pid), port) ? [pid] : [],
    );
    // The host process comes first, because it would restart the chains.
    return [...(isSameProcess(host) ? [host.pid] : []), ...nodes];
  });
};

const isAnvilAt = (command, port) =>
  command.includes("anvil") && command.includes(`--port ${port} `);

const endOrphans = async (folders) => {
  for (const pid of folders.flatMap(orphansBelow))
    await end(pid, "SIGINT", "A left-over server");
};

const confirmed = async (folder) => {
  if (process.argv.includes("--yes")) return true;
  if (!process.stdin.isTTY)
    throw new Refusal("Nothing was removed: there is no terminal to ask at. Add `-- --yes`.");
  const terminal = createInterface({ input: process.stdin, output: process.stdout });
  const answer = await terminal.question(
    `Remove all data in ${folder}: accounts, keys, chains? [y/N] `,
  );
  terminal.close();
  return /^y(es)?$/i.test(answer.trim());
};

try {
  const folder = dataDir();
  if (!existsSync(folder)) {
    console.log(`${folder} does not exist; there is nothing to reset.`);
  } else if (await confirmed(folder)) {
    const stack = runningStack();
    if (stack) {
      console.log(`Stopping the stack (pid ${stack.pid}) …`);
      await end(stack.pid, "SIGTERM", "The stack");
    }
    const database = postgresFolder(folder);
    const outside =
      database && !resolve(database).startsWith(resolve(folder)) ? database : null;
    await endOrphans(outside ? [folder, outside] : [folder]);
    rmSync(folder, { recursive: true, force: true });
    // Removes the folder around PostgreSQL's folder too when the supervisor created it. Its name
    // begins with the project's name, and it contains nothing else.
    if (outside && basename(dirname(outside)).startsWith("causeway-"))
      rmSync(dirname(outside), { recursive: true, force: true });
    console.log("All data is removed. `npm start` begins afresh.");
  }
} catch (error) {
  report(error);
}
