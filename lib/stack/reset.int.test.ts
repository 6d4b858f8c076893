import { execFile, spawn } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import {
  endProcess,
  identityOf,
  isAlive,
  type ProcessIdentity,
} from "@/lib/platform/os/process.mjs";

const PROJECT = fileURLToPath(new URL("../..", import.meta.url));
const folder = mkdtempSync(join(tmpdir(), "causeway-reset-"));
const stranger = spawn("/bin/sh", ["-c", "while :; do sleep 1; done", "postgres", "anvil"], {
  stdio: "ignore",
});
const pid = stranger.pid ?? 0;
let identity: ProcessIdentity;

beforeAll(async () => {
  await vi.waitFor(() => expect(identityOf(pid).command).toContain("postgres"), 20_000);
  identity = identityOf(pid);
});
afterAll(async () => {
  await endProcess(pid, [{ signal: "SIGKILL", waitMs: 10_000 }]);
  rmSync(folder, { recursive: true, force: true });
});

const reset = (dataDir: string) =>
  promisify(execFile)(process.execPath, ["scripts/reset.mjs", "--yes"], {
    cwd: PROJECT,
    env: { PATH: "/usr/bin:/bin", NODE_ENV: "test", CAUSEWAY_DATA_DIR: dataDir },
  });

test.each<[string, (dataDir: string) => void]>([
  [
    "the lock",
    (dataDir) => {
      const stale = {
        ...identity,
        bornAt: "another boot:1",
        startedAt: "2026-01-01T00:00:00.000Z",
      };
      writeFileSync(join(dataDir, "stack.lock"), JSON.stringify(stale));
    },
  ],
  [
    "PostgreSQL's pid file",
    (dataDir) => {
      mkdirSync(join(dataDir, "postgres"));
      writeFileSync(join(dataDir, "postgres", "postmaster.pid"), `${String(pid)}\n`);
    },
  ],
  [
    "the list of chains",
    (dataDir) => {
      mkdirSync(join(dataDir, "chains"));
      const chains = [{ chainId: 31337, pid, port: 8545 }];
      writeFileSync(join(dataDir, "chains", "processes.json"), JSON.stringify({ chains }));
    },
  ],
])(
  "a stranger whose id stands in %s gets no signal, and the data is removed",
  async (name, write) => {
    const dataDir = join(folder, name.replaceAll(/\W/g, "-"));
    mkdirSync(dataDir);
    write(dataDir);
    await reset(dataDir);
    expect(existsSync(dataDir)).toBe(false);
    expect(isAlive(pid)).toBe(true);
  },
);
