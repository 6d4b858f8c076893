import { mkdirSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { isAlive } from "@/lib/platform/os/process.mjs";
import { bundleInto } from "@/scripts/build.mjs";

const ROOT = fileURLToPath(new URL("../../..", import.meta.url));
/**
 * Folder of the bundles of all runs. It is inside the project, so that the bundles find the
 * project's packages.
 */
const RUNS = join(ROOT, "node_modules", ".cache", "causeway-tests");

/** The programs that tests start as separate processes, some of them dozens of times in a run. */
const ENTRIES = {
  "api-server": "lib/dev/testing/api-server.ts",
  "chains-process": "lib/stack/chains-process.ts",
  "checkpoint-process": "lib/dev/devnet/journal/checkpoint-process.ts",
  "crash-worker": "lib/dev/testing/crash-worker.ts",
  devnet: "lib/dev/devnet/devnet.ts",
  "pages-stub": "lib/dev/testing/pages-stub.ts",
  "prover-process": "lib/adapters/privacy-pools/prover-process.ts",
  server: "server.ts",
  stack: "lib/stack/main.ts",
};
/** The program of the operator's commands, which the build's own function bundles. */
const COMMANDS = "causeway";
export type EntryName = keyof typeof ENTRIES | typeof COMMANDS;

/** Removes bundles that killed runs left behind. */
const sweepAbandoned = (): void => {
  for (const pid of readdirSync(RUNS))
    if (!isAlive(Number(pid))) rmSync(join(RUNS, pid), { recursive: true, force: true });
};

/**
 * Bundles the programs like a build does, once per run: a process that loads its modules through
 * tsx needs two to six seconds of processor time to start, whereas its bundle needs less than one.
 */
export const bundleEntries = async (): Promise<{ folder: string; remove: () => void }> => {
  const folder = join(RUNS, String(process.pid));
  mkdirSync(folder, { recursive: true });
  sweepAbandoned();
  // Declares the type of modules here, because Node looks for it no higher than `node_modules`.
  writeFileSync(join(folder, "package.json"), JSON.stringify({ type: "module" }));
  const commands = bundleInto([COMMANDS], folder);
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
  await commands;
  return { folder, remove: () => rmSync(folder, { recursive: true, force: true }) };
};
