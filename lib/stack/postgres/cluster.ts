import { spawnSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import {
  chownSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { basename, dirname, join } from "node:path";
import type { ClusterLocation } from "./cluster-location";

export type Durability = "full" | "none";

export const SUPERUSER = "postgres";
const INITDB_TIMEOUT_MS = 90_000;
// The server gets only these variables, so that settings of the caller's shell (PGDATA, LC_ALL) do not leak in.
const ENVIRONMENT = { PATH: "/usr/local/bin:/usr/bin:/bin", LC_ALL: "C", NODE_ENV: "production" } as const;

interface Remembered {
  readonly dataDir: string;
  readonly port: number;
  readonly password: string;
}

const rememberedFile = (dataDir: string): string => `${dataDir}.json`;

/** The file that an earlier run wrote beside the folder, or null. */
export const readRemembered = (dataDir: string): Remembered | null => {
  try {
    const value = JSON.parse(readFileSync(rememberedFile(dataDir), "utf8")) as Partial<Remembered>;
    return value.dataDir && value.port && value.password
      ? { dataDir: value.dataDir, port: value.port, password: value.password }
      : null;
  } catch {
    return null;
  }
};

export const remember = (dataDir: string, value: Remembered): void => {
  writeFileSync(rememberedFile(dataDir), `${JSON.stringify(value, null, 2)}\n`, { mode: 0o600 });
};

/** Options of every process of the server. */
export const runAs = (
  location: ClusterLocation,
): { uid?: number; gid?: number; cwd: string; env: NodeJS.ProcessEnv } => ({
  ...(location.account ? { uid: location.account.uid, gid: location.account.gid } : {}),
  cwd: "/", // The caller's folder may be closed to the server's user.
  env: ENVIRONMENT,
});

const runInitdb = (location: ClusterLocation, folder: string, passwordFile: string, durability: Durability): void => {
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

/** Creates the cluster under another name and renames it, so that a kill during the creation leaves no cluster that looks complete. */
export const initialise = (location: ClusterLocation, password: string, durability: Durability): void => {
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
      for (const path of [aside, passwordFile]) chownSync(path, location.account.uid, location.account.gid);
    runInitdb(location, aside, passwordFile, durability);
    renameSync(aside, location.dataDir);
  } finally {
    rmSync(passwordFile, { force: true });
    rmSync(aside, { recursive: true, force: true });
  }
};

/** @throws Error when the folder has data whose password is lost */
export const newPassword = (location: ClusterLocation): string => {
  if (existsSync(join(location.dataDir, "PG_VERSION")))
    throw new Error(
      `${location.dataDir} has data, but the file with its password is gone. \`npm run reset\` starts afresh.`,
    );
  return randomBytes(24).toString("base64url");
};
