import { existsSync, mkdirSync, readFileSync, rmSync } from "node:fs";
import { open, rename } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { gunzip } from "node:zlib";
import { z } from "zod";
import { rpc } from "./json-rpc";

const DUMP_TIMEOUT_MS = 60_000;
const DUMP_ATTEMPTS_MAX = 8;
const unzip = promisify(gunzip);

const manifestSchema = z.object({
  /** Hash of everything that was deployed: a state of other contracts is of no use. */
  fingerprint: z.string(),
});
const processesSchema = z.object({
  chains: z.array(z.object({ chainId: z.int(), pid: z.int().positive(), port: z.int().positive() })),
});

export type RunningChain = z.output<typeof processesSchema>["chains"][number];

/** Written beside, flushed and renamed: a reader finds the old or the new, whole, whenever we are killed. */
const writeAtomically = async (file: string, content: string | Buffer): Promise<void> => {
  const temporary = `${file}.${String(process.pid)}.tmp`;
  const handle = await open(temporary, "w");
  try {
    await handle.writeFile(content);
    await handle.sync();
  } finally {
    await handle.close();
  }
  await rename(temporary, file);
};

/**
 * The node's state as one moment had it. Anvil reads blocks and accounts one after the other while it goes on mining, so a
 * dump during which a block came may hold the effects of a transaction that it does not know; such a dump is thrown away.
 */
const consistentDump = async (rpcUrl: string): Promise<Buffer> => {
  for (let attempt = 0; attempt < DUMP_ATTEMPTS_MAX; attempt += 1) {
    const before = await rpc(rpcUrl, "eth_blockNumber");
    const dump = z.string().parse(await rpc(rpcUrl, "anvil_dumpState", [], DUMP_TIMEOUT_MS));
    if ((await rpc(rpcUrl, "eth_blockNumber")) === before) return unzip(Buffer.from(dump.slice(2), "hex"));
  }
  throw new Error("The chain is too busy to be saved now.");
};

const readJson = <T extends z.ZodType>(file: string, schema: T): z.output<T> | null => {
  try {
    return schema.parse(JSON.parse(readFileSync(file, "utf8")));
  } catch {
    return null;
  }
};

export interface StateStore {
  /** State file per chain, or null where the deployment was never finished or is of other contracts. */
  load(chainIds: readonly number[], fingerprint: string): ReadonlyMap<number, string> | null;
  /** Asks the node for its state and keeps it. Atomic; a failure leaves the state kept before. */
  save(chainId: number, rpcUrl: string): Promise<void>;
  /** Says that the states kept are those of a finished deployment. */
  complete(fingerprint: string): Promise<void>;
  /** Forgets everything. */
  clear(): void;
  running(): readonly RunningChain[];
  setRunning(chains: readonly RunningChain[]): Promise<void>;
  logFile(chainId: number): string;
}

/**
 * Keeps the state of local chains in a folder. Anvil's own `--state` file is not used: it is written in place, so a kill
 * while it is written leaves an empty file and a chain that cannot start. `anvil_dumpState` gives the same content (state,
 * blocks, transactions, receipts) over RPC, gzipped: 0.1 s and 1 MB after the deployment.
 */
export const openStateStore = (folder: string): StateStore => {
  mkdirSync(folder, { recursive: true });
  const manifest = join(folder, "deployment.json");
  const processes = join(folder, "processes.json");
  const stateFile = (chainId: number): string => join(folder, `${String(chainId)}.state.json`);
  return {
    load: (chainIds, fingerprint) => {
      if (readJson(manifest, manifestSchema)?.fingerprint !== fingerprint) return null;
      const files = new Map(chainIds.map((chainId) => [chainId, stateFile(chainId)]));
      return [...files.values()].every((file) => existsSync(file)) ? files : null;
    },
    save: async (chainId, rpcUrl) => {
      await writeAtomically(stateFile(chainId), await consistentDump(rpcUrl));
    },
    complete: (fingerprint) => writeAtomically(manifest, JSON.stringify({ fingerprint })),
    clear: () => {
      // The manifest goes first: without it the rest counts for nothing.
      rmSync(manifest, { force: true });
    },
    running: () => readJson(processes, processesSchema)?.chains ?? [],
    setRunning: (chains) => writeAtomically(processes, JSON.stringify({ chains })),
    logFile: (chainId) => join(folder, `${String(chainId)}.log`),
  };
};
