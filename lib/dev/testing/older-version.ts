/** The version of this project before its newest migration, from the repository's history. */
import { execFile, execFileSync } from "node:child_process";
import { mkdtempSync, readdirSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { build } from "esbuild";
import { inject } from "vitest";
import { afterFile } from "./after-file";

const ROOT = fileURLToPath(new URL("../../..", import.meta.url));
const MIGRATIONS = "prisma/migrations";
const ENTRY = "lib/dev/testing/api-server.ts";
const run = promisify(execFile);

/** A commit of the older version, or the reason why there is none. */
export type OlderCommit =
  | { readonly commit: string; readonly subject: string; readonly lacks: string }
  | { readonly reason: string };

const git = (...args: readonly string[]): string =>
  execFileSync("git", args, {
    cwd: ROOT,
    encoding: "utf8",
    stdio: ["ignore", "pipe", "ignore"],
  }).trim();

const tryGit = (...args: readonly string[]): string | null => {
  try {
    return git(...args);
  } catch {
    return null;
  }
};

/** The reason when there is only one migration, and so no earlier version. */
export const FIRST_VERSION = "there is only one migration";

const migrations = (): string[] =>
  readdirSync(join(ROOT, MIGRATIONS), { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => name)
    .sort();

/**
 * The parent of the commit that added the migration; HEAD when it is not committed yet. Null when
 * the history does not reach that far back.
 */
const parentOfAddition = (migration: string): string | null => {
  const added = tryGit(
    "log",
    "-1",
    "--diff-filter=A",
    "--format=%H",
    "--",
    `${MIGRATIONS}/${migration}`,
  );
  return added === null
    ? null
    : tryGit("rev-parse", "--verify", added === "" ? "HEAD" : `${added}^`);
};

/**
 * The version that runs next to this one during an upgrade: the last commit without the newest
 * migration, or `OLDER_COMMIT`. A tree without its own history (an unpacked archive, or a folder
 * in another repository) has no older version.
 */
export const olderCommit = (): OlderCommit => {
  const [first = "", ...later] = migrations();
  if (later.length === 0) return { reason: FIRST_VERSION };
  if (tryGit("rev-parse", "--show-cdup") !== "")
    return { reason: "this tree has no history in git" };
  const lacks = later.at(-1) ?? first;
  const asked = inject("olderCommit");
  const commit =
    asked === undefined
      ? parentOfAddition(lacks)
      : tryGit("rev-parse", "--verify", `${asked}^{commit}`);
  if (commit === null)
    return {
      reason: `the history in git does not reach back to the version before ${asked ?? lacks}`,
    };
  if (git("ls-tree", "--name-only", commit, `${MIGRATIONS}/${lacks}`) !== "")
    return { reason: `${commit} has the newest migration, ${lacks}` };
  return { commit, lacks, subject: git("log", "-1", "--format=%s", commit) };
};

/**
 * Unpacks a commit into a separate folder, generates its code from its schema, and bundles its API
 * server. The folder uses the installed packages of this version, and is removed after the test
 * file.
 * @returns the folder, in which its processes run, and the bundle
 */
export const makeOlderVersion = async (
  commit: string,
): Promise<{ readonly folder: string; readonly entry: string }> => {
  const folder = mkdtempSync(join(tmpdir(), "causeway-older-"));
  afterFile(() => rmSync(folder, { recursive: true, force: true }));
  const archive = join(folder, "older.tar");
  await run("git", ["archive", "--format=tar", "--output", archive, commit], { cwd: ROOT });
  await run("tar", ["-xf", archive, "-C", folder]);
  rmSync(archive);
  symlinkSync(join(ROOT, "node_modules"), join(folder, "node_modules"));
  await run("npm", ["run", "--silent", "generate"], { cwd: folder });
  await build({
    absWorkingDir: folder,
    entryPoints: { "api-server": ENTRY },
    outdir: join(folder, "dist"),
    bundle: true,
    format: "esm",
    platform: "node",
    target: "node20",
    packages: "external",
    alias: { "@": folder },
    logLevel: "warning",
  });
  return { folder, entry: join(folder, "dist", "api-server.js") };
};
