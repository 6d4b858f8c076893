import { mkdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";
import {
  commandOf,
  endProcess,
  identityOf,
  isSameProcess,
  waitForExit,
} from "@/lib/platform/os/process.mjs";
import { createKeyedQueue } from "@/lib/core/keyed-queue";
import { writeAtomically } from "./write-atomically";

/** Time in which the process that serves the chains ends by itself after its parent has ended. */
const HOST_GRACE_MS = 5_000;
const END_STEPS = [
  { signal: "SIGTERM", waitMs: 3_000 },
  { signal: "SIGKILL", waitMs: 3_000 },
] as const;

const manifestSchema = z.object({
  /** Hash of all deployed contracts. A stored state with another fingerprint cannot be used. */
  fingerprint: z.string(),
});
const processesSchema = z.object({
  /** Serves the chains and writes their journals. */
  host: z
    .object({ pid: z.int().positive(), bornAt: z.string(), command: z.string() })
    .optional(),
  chains: z.array(z.object({ chainId: z.int(), pid: z.int(), port: z.int() })),
});

type NodeProcess = z.output<typeof processesSchema>["chains"][number];

const readJson = <T extends z.ZodType>(file: string, schema: T): z.output<T> | null => {
  try {
    return schema.parse(JSON.parse(readFileSync(file, "utf8")));
  } catch {
    return null;
  }
};

export interface DevnetStore {
  /** Whether the contracts with this fingerprint were deployed completely. */
  isDeployed(fingerprint: string): boolean;
  /** Records that the contracts with this fingerprint were deployed completely. */
  complete(fingerprint: string): Promise<void>;
  /** Removes the record of a deployment. */
  clear(): void;
  /** Records that this process serves the chains, with these nodes. */
  setRunning(nodes: readonly NodeProcess[]): Promise<void>;
  /**
   * Ends the processes that a killed process left running, so that no other process writes to this
   * folder. Nothing has to be saved, because the journals contain everything.
   */
  endLeftOvers(log: (message: string) => void): Promise<void>;
}

/** The state that the local chains of one folder share. */
export const openDevnetStore = (folder: string): DevnetStore => {
  mkdirSync(folder, { recursive: true });
  const manifest = join(folder, "deployment.json");
  const processes = join(folder, "processes.json");
  const isNode = ({ chainId, pid, port }: NodeProcess): boolean => {
    const command = commandOf(pid);
    return (
      command.includes("anvil") &&
      command.includes(`--port ${String(port)} --chain-id ${String(chainId)} `)
    );
  };
  const writes = createKeyedQueue();
  return {
    isDeployed: (fingerprint) =>
      readJson(manifest, manifestSchema)?.fingerprint === fingerprint,
    complete: (fingerprint) => writeAtomically(manifest, JSON.stringify({ fingerprint })),
    clear: () => rmSync(manifest, { force: true }),
    setRunning: (chains) => {
      const content = JSON.stringify({ host: identityOf(process.pid), chains });
      return writes.run(processes, () => writeAtomically(processes, content));
    },
    endLeftOvers: async (log) => {
      const { host, chains = [] } = readJson(processes, processesSchema) ?? {};
      if (host !== undefined && host.pid !== process.pid && isSameProcess(host)) {
        log(
          `The local chains still run from before (process ${String(host.pid)}); ending them.`,
        );
        if (!(await waitForExit(host.pid, HOST_GRACE_MS)))
          await endProcess(host.pid, END_STEPS);
      }
      await Promise.all(chains.filter(isNode).map(({ pid }) => endProcess(pid, END_STEPS)));
      rmSync(processes, { force: true });
    },
  };
};
