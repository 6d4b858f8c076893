// Functions that start, build, test and reset share. The file imports only Node's own modules,
// because it runs before node_modules exists.
import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { isSameProcess } from "../lib/platform/os/process.mjs";
import { phase } from "./phase.mjs";
import { trimPackages } from "./trim-packages.mjs";
import { isBuildSource } from "./build-sources.mjs";

export const ROOT = resolve(dirname(fileURLToPath(import.meta.url)), "..");
const NODE_MINIMUM = [20, 19];
const OUTPUT_TAIL_CHARS = 20_000;

/** An error whose message is written for people; it is shown without a stack. */
export class Refusal extends Error {}

export const checkNode = () => {
  const [major, minor] = process.versions.node.split(".").map(Number);
  if (major > NODE_MINIMUM[0] || (major === NODE_MINIMUM[0] && minor >= NODE_MINIMUM[1]))
    return;
  throw new Refusal(
    `Node ${NODE_MINIMUM.join(".")} or newer is needed; this is ${process.versions.node}.`,
  );
};

const running = new Set();

/** Sends the signal to every child that `run` started, and to the children of each. */
export const endChildren = (signal = "SIGTERM") => {
  for (const child of running) {
    try {
      process.kill(-child.pid, signal);
    } catch {
      // The child has already ended.
    }
  }
};

/**
 * Runs a command in the project, and waits for its end. With `quiet` its output is returned instead
 * of shown.
 * @returns {Promise<{code: number, output: string}>} `output` is empty unless quiet; `code` is 124
 * after `timeoutMs`
 */
export const run = (command, args, { env = {}, quiet = false, timeoutMs = 0 } = {}) =>
  new Promise((done) => {
    const child = spawn(command, args, {
      cwd: ROOT,
      env: { ...process.env, ...env },
      stdio: ["ignore", quiet ? "pipe" : "inherit", quiet ? "pipe" : "inherit"],
      detached: true, // A separate process group, so that its children can be ended too.
    });
    running.add(child);
    let output = "";
    const keep = (chunk) => (output = (output + chunk).slice(-OUTPUT_TAIL_CHARS));
    child.stdout?.setEncoding("utf8").on("data", keep);
    child.stderr?.setEncoding("utf8").on("data", keep);
    let timedOut = false;
    const timer = timeoutMs
      ? setTimeout(() => {
          timedOut = true;
          process.kill(-child.pid, "SIGKILL");
        }, timeoutMs)
      : null;
    const finish = (code) => {
      running.delete(child);
      clearTimeout(timer);
      done(
        timedOut
          ? { code: 124, output: `${output}\nNot done after ${timeoutMs / 1000} s.` }
          : { code, output },
      );
    };
    child.once("error", (error) => {
      output += error.message;
      finish(127);
    });
    child.once("close", (code) => finish(code ?? 1));
  });

/** Path of a tool in node_modules, so that it can be run without npx. */
export const bin = (name) => join(ROOT, "node_modules", ".bin", name);

/** Runs npm in the project's folder. */
export const npm = (args, options) => {
  // `npm start` sets the path of the npm that runs this script. Without it, the npm on the PATH is
  // used.
  const cli = process.env.npm_execpath;
  return cli?.endsWith(".js")
    ? run(process.execPath, [cli, ...args], options)
    : run("npm", args, options);
};

const readJson = (path) => {
  try {
    return JSON.parse(readFileSync(path, "utf8"));
  } catch {
    return null;
  }
};

const digest = (...texts) =>
  texts.reduce((hash, text) => hash.update(text), createHash("sha256")).digest("hex");

/**
 * Whether packages for builds and tests can be left out: a built project in production does not
 * use them.
 */
const isProduction = () => process.env.CAUSEWAY_ENV === "production" && isBuilt();

/** Whether npm's record of the installed packages agrees with package-lock.json. */
const matchesLock = (lock, production) => {
  const installed = readJson(join(ROOT, "node_modules", ".package-lock.json"))?.packages;
  if (!installed) return false;
  return Object.entries(lock.packages).every(
    ([path, entry]) =>
      path === "" ||
      !path.startsWith("node_modules/") ||
      entry.optional ||
      entry.extraneous ||
      entry.devOptional ||
      entry.peer ||
      (production && entry.dev) ||
      installed[path]?.version === entry.version,
  );
};

// Install scripts are skipped, because no package of the project needs its own: binaries are
// published as packages, and the links of PostgreSQL are made when it starts.
const INSTALL_FLAGS = ["--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"];
/** Matches npm's message when `npm ci` refuses a lock file that does not fit package.json. */
const NOT_IN_SYNC = /EUSAGE|in sync/;

const install = async (lockText, production) => {
  const flags = [...INSTALL_FLAGS, production ? "--omit=dev" : "--include=dev"];
  const clean = await npm(["ci", ...flags], { quiet: true });
  if (clean.code === 0) return;
  if (!NOT_IN_SYNC.test(clean.output)) throw new Refusal(`${clean.output}\n${INSTALL_ADVICE}`);
  // `npm ci` refuses a lock file without the optional packages of other platforms, which a registry
  // mirror may not have. `npm install` installs the same versions from it, but rewrites the lock
  // file, so its text is restored afterwards.
  const { code, output } = await npm(["install", ...flags], { quiet: true });
  writeFileSync(join(ROOT, "package-lock.json"), lockText);
  if (code !== 0) throw new Refusal(`${output}\n${INSTALL_ADVICE}`);
};

const INSTALL_ADVICE =
  "The packages cannot be installed; see above. Check that the npm registry can be reached, then run this again.";

/** Installs the packages when they are missing or package-lock.json has changed since. */
export const ensureInstalled = async (say) => {
  const lockText = readFileSync(join(ROOT, "package-lock.json"), "utf8");
  const stamp = join(ROOT, "node_modules", ".causeway");
  const production = isProduction();
  const wanted = digest(lockText, String(production));
  if (existsSync(stamp) && readFileSync(stamp, "utf8") === wanted) return;
  if (!matchesLock(JSON.parse(lockText), production)) {
    const named = { name: "Packages", hint: "the first time takes a minute or more" };
    await phase(say, named, async () => {
      await install(lockText, production);
      trimPackages(ROOT);
    });
  }
  writeFileSync(stamp, wanted);
};

const SOURCES = [
  "app",
  "components",
  "lib",
  "public",
  "prisma",
  "vendor",
  "server.ts",
  "pages.ts",
  "next.config.mjs",
  "postcss.config.mjs",
  "prisma.config.ts",
  "tsconfig.json",
  "package.json",
  "package-lock.json",
  "scripts/build.mjs",
  "scripts/gen-routes.ts",
];
const filesBelow = (path) => {
  if (!isBuildSource(path) || !existsSync(join(ROOT, path))) return [];
  if (!statSync(join(ROOT, path)).isDirectory()) return [path];
  return readdirSync(join(ROOT, path))
    .sort()
    .flatMap((name) => filesBelow(join(path, name)));
};

/** Returns a digest of all files that the build reads, and of Node's major version. */
export const sourceDigest = () => {
  const hash = createHash("sha256").update(process.version.split(".")[0]);
  for (const path of SOURCES.flatMap(filesBelow))
    hash
      .update(`${path}\0`)
      .update(readFileSync(join(ROOT, path)))
      .update("\0");
  return hash.digest("hex");
};

const buildStamp = join(ROOT, "dist", "build.stamp");

export const isBuilt = () =>
  existsSync(buildStamp) &&
  existsSync(join(ROOT, ".next", "BUILD_ID")) &&
  readFileSync(buildStamp, "utf8") === sourceDigest();

export const stampBuild = (value) => {
  mkdirSync(dirname(buildStamp), { recursive: true });
  writeFileSync(buildStamp, value);
};

/** The folder where a stack keeps its state: `.data`, or the value of `CAUSEWAY_DATA_DIR`. */
export const dataDir = () => resolve(ROOT, process.env.CAUSEWAY_DATA_DIR || ".data");

/**
 * Returns the stack that runs on the project's data folder, or null. Checks that the process is the
 * one that took the lock, because the id of a dead process may belong to another one.
 */
export const runningStack = () => {
  const lock = readJson(join(dataDir(), "stack.lock"));
  return lock && isSameProcess(lock) ? lock : null;
};

const NOT_WRITABLE = ["EACCES", "EPERM", "EROFS", "ENOSPC"];

/** Prints a `Refusal` as a sentence and any other error with its stack, and sets the exit code. */
export const report = (error) => {
  if (NOT_WRITABLE.includes(error?.code) && error.path)
    console.error(
      `\n${error.path} cannot be written (${error.code}). Make the folder writable, or free space on its disk.\n`,
    );
  else console.error(error instanceof Refusal ? `\n${error.message}\n` : error);
  process.exitCode = 1;
};
