import { randomBytes } from "node:crypto";
import { linkSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { identityOf, isSameProcess, type ProcessIdentity } from "@/lib/platform/os/process.mjs";

/**
 * Content of the lock file. It identifies the holder's process, so that a later process with the
 * same process id does not count as the holder.
 */
export interface LockInfo extends ProcessIdentity {
  /** RFC 3339. */
  readonly startedAt: string;
  /** URL of the app; absent until the holder is ready. */
  readonly url?: string;
}

export interface StackLock {
  publish(url: string): void;
  release(): void;
}

export class AlreadyRunningError extends Error {
  constructor(readonly holder: LockInfo) {
    super(
      `Causeway is already running: ${holder.url ?? "starting"} (pid ${String(holder.pid)}).`,
    );
    this.name = "AlreadyRunningError";
  }
}

const ATTEMPTS_MAX = 20;

const read = (file: string): LockInfo | null => {
  try {
    return JSON.parse(readFileSync(file, "utf8")) as LockInfo;
  } catch {
    return null;
  }
};

const unique = (file: string): string => `${file}.${randomBytes(6).toString("hex")}`;

/** Creates the file completely or not at all. @returns false when it exists already */
const createWhole = (file: string, content: string): boolean => {
  const aside = unique(file);
  writeFileSync(aside, content, { mode: 0o600 });
  try {
    linkSync(aside, file);
    return true;
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "EEXIST") return false;
    throw error;
  } finally {
    rmSync(aside, { force: true });
  }
};

/**
 * Moves a dead holder's file away. If another start has replaced the file in the meantime, the
 * newer one is put back.
 */
const breakStale = (file: string, stale: LockInfo | null): void => {
  const aside = unique(file);
  try {
    renameSync(file, aside);
  } catch {
    return; // Another start was faster.
  }
  const moved = read(aside);
  if (moved && (moved.pid !== stale?.pid || moved.startedAt !== stale.startedAt))
    createWhole(file, JSON.stringify(moved));
  rmSync(aside, { force: true });
};

/**
 * Takes the lock that allows only one stack per data folder. A holder that was killed does not
 * count.
 * @throws AlreadyRunningError
 */
export const acquireLock = (file: string): StackLock => {
  mkdirSync(dirname(file), { recursive: true });
  const own: LockInfo = { ...identityOf(process.pid), startedAt: new Date().toISOString() };
  for (let attempt = 0; attempt < ATTEMPTS_MAX; attempt += 1) {
    if (createWhole(file, JSON.stringify(own)))
      return {
        publish: (url) => {
          const aside = unique(file);
          writeFileSync(aside, JSON.stringify({ ...own, url }), { mode: 0o600 });
          renameSync(aside, file);
        },
        release: () => rmSync(file, { force: true }),
      };
    const holder = read(file);
    if (holder && isSameProcess(holder)) throw new AlreadyRunningError(holder);
    breakStale(file, holder);
  }
  throw new Error(`The lock ${file} can be neither taken nor read.`);
};
