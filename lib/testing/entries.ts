import { mkdirSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { isAlive } from "@/lib/os/process.mjs";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));
/** Below the project, so that the bundles find its packages. */
const RUNS = join(ROOT, "node_modules", ".cache", "causeway-tests");

/** The programs that tests start as processes of their own, some of them dozens of times in a run. */
const ENTRIES = {
  "api-server": "lib/testing/api-server.ts",
  archive: "scripts/archive.ts",
  "audit-verify": "scripts/audit-verify.ts",
  "chains-process": "lib/stack/chains-process.ts",
  "checkpoint-process": "lib/devnet/journal/checkpoint-process.ts",
  "crash-worker": "lib/testing/crash-worker.ts",
  devnet: "lib/devnet/devnet.ts",
  jobs: "scripts/jobs.ts",
  "keys-rotate": "scripts/keys-rotate.ts",
  "ledger-verify": "scripts/ledger-verify.ts",
  "pages-stub": "lib/testing/pages-stub.ts",
  "prover-process": "lib/adapters/privacy-pools/prover-process.ts",
  server: "server.ts",
  stack: "lib/stack/main.ts",
};
export type EntryName = keyof typeof ENTRIES;

/** Removes the bundles that killed runs left behind. */
const sweepAbandoned = (): void => {
  for (const pid of readdirSync(RUNS))
    if (!isAlive(Number(pid))) rmSync(join(RUNS, pid), { recursive: true, force: true });
};

/**
 * Bundles the programs as a build does, once in a run: a process that loads its modules one by one through tsx takes two to six
 * seconds of the processor to start, its bundle takes less than one.
 */
export const bundleEntries = async (): Promise<{ folder: string; remove: () => void }> => {
  const folder = join(RUNS, String(process.pid));
  mkdirSync(folder, { recursive: true });
  sweepAbandoned();
  // Node looks for the kind of a module no higher than `node_modules`.
  writeFileSync(join(folder, "package.json"), JSON.stringify({ type: "module" }));
  await build({
    absWorkingDir: ROOT,
    entryPoints: ENTRIES,
    outdir: folder,
    bundle: true,
    format: "esm",
    platform: "node",
    target: "node20",
    packages: "external",
    sourcemap: true,
    alias: { "@": ROOT.replace(/\/$/, "") },
    logLevel: "warning",
  });
  return { folder, remove: () => rmSync(folder, { recursive: true, force: true }) };
};
