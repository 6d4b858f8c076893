// `npm run reset`: stops the stack and removes its data. The next start begins afresh.
import { execFileSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import { createInterface } from "node:readline/promises";
import { setTimeout as sleep } from "node:timers/promises";
import { dataDir, Refusal, report, runningStack } from "./project.mjs";

const STOP_TIMEOUT_MS = 45_000;
const POLL_MS = 100;

const isAlive = (pid) => {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error.code === "EPERM";
  }
};

const commandOf = (pid) => {
  try {
    return execFileSync("ps", ["-p", String(pid), "-o", "command="], { encoding: "utf8", stdio: "pipe" });
  } catch {
    return "";
  }
};

const end = async (pid, signal, what) => {
  process.kill(pid, signal);
  for (const deadline = Date.now() + STOP_TIMEOUT_MS; isAlive(pid); await sleep(POLL_MS))
    if (Date.now() > deadline) throw new Refusal(`${what} (pid ${pid}) does not stop. End it, then run this again.`);
};

/** PostgreSQL's folder lies elsewhere when its user cannot enter ours. */
const postgresFolder = (folder) => {
  try {
    return JSON.parse(readFileSync(join(folder, "postgres.json"), "utf8")).dataDir;
  } catch {
    return null;
  }
};

/** PostgreSQL writes its id into a file `postmaster.pid`, the local chains theirs into `processes.json`. */
const pidsBelow = (folder) => {
  if (!existsSync(folder)) return [];
  const text = (name) => readFileSync(join(folder, name), "utf8");
  return readdirSync(folder, { recursive: true }).flatMap((name) => {
    if (basename(name) === "postmaster.pid") return [Number.parseInt(text(name), 10)];
    if (basename(name) === "processes.json")
      return [...text(name).matchAll(/"pid":\s*(\d+)/g)].map((match) => Number(match[1]));
    return [];
  });
};

/** What a killed stack left running: servers whose pid files lie in its data. */
const endOrphans = async (folders) => {
  for (const pid of folders.flatMap(pidsBelow))
    if (pid > 1 && isAlive(pid) && /postgres|anvil/.test(commandOf(pid)))
      await end(pid, "SIGINT", "A left-over server");
};

const confirmed = async (folder) => {
  if (process.argv.includes("--yes")) return true;
  if (!process.stdin.isTTY) throw new Refusal("Nothing was removed: there is no terminal to ask at. Add `-- --yes`.");
  const terminal = createInterface({ input: process.stdin, output: process.stdout });
  const answer = await terminal.question(`Remove all data in ${folder}: accounts, keys, chains? [y/N] `);
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
    const outside = database && !resolve(database).startsWith(resolve(folder)) ? database : null;
    await endOrphans(outside ? [folder, outside] : [folder]);
    rmSync(folder, { recursive: true, force: true });
    // Named after this project by the supervisor, so it holds nothing else.
    if (outside && basename(dirname(outside)).startsWith("causeway-"))
      rmSync(dirname(outside), { recursive: true, force: true });
    console.log("All data is removed. `npm start` begins afresh.");
  }
} catch (error) {
  report(error);
}
