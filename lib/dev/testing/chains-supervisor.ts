import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { z } from "zod";
import { endProcess, isAlive } from "@/lib/platform/os/process.mjs";

const PROJECT = fileURLToPath(new URL("../../..", import.meta.url));
const RUN = `
const { startChainsPart } = await import("./lib/stack/chains-part.ts");
const options = JSON.parse(process.env.OPTIONS);
const part = await startChainsPart({ ...options, say: () => undefined });
process.once("SIGTERM", () => part.stop().then(() => process.exit(0)));
process.send(part.rpcUrls);
`;
const END_STEPS = [
  { signal: "SIGTERM", waitMs: 20_000 },
  { signal: "SIGKILL", waitMs: 5_000 },
] as const;

const processes = z.object({
  host: z.object({ pid: z.int() }),
  chains: z.array(z.object({ chainId: z.int(), pid: z.int() })),
});

export interface ChainsSupervisor {
  /** JSON-RPC URLs by chain id, which stay the same after each start. */
  readonly rpcUrls: Readonly<Record<string, string>>;
  /** Process id of the chain's node; null while it has none. */
  nodePid(chainId: number): number | null;
  /** Process id of the process that writes the journals. */
  hostPid(): number;
  /** Sends SIGKILL only to the supervisor. */
  kill(): Promise<void>;
  /** Starts another supervisor on the same data. */
  start(): Promise<void>;
  /** Stops the supervisor in order. */
  stop(): Promise<void>;
}

/** The local chains as `npm start` runs them, under a supervisor that can be killed. */
export const startChainsSupervisor = async (
  dataDir: string,
  executorKey: string,
): Promise<ChainsSupervisor> => {
  const launch = async (): Promise<{
    child: ChildProcess;
    rpcUrls: Readonly<Record<string, string>>;
  }> => {
    const environment = { PATH: "/usr/bin:/bin", NODE_ENV: "test" } as const;
    const child = spawn(
      process.execPath,
      ["--import", "tsx", "--input-type=module", "-e", RUN],
      {
        cwd: PROJECT,
        env: { ...environment, OPTIONS: JSON.stringify({ dataDir, executorKey, environment }) },
        stdio: ["ignore", "ignore", "inherit", "ipc"],
      },
    );
    // Ends the supervisor when a test file fails, because such a file never runs its clean-up.
    process.once("exit", () => child.kill("SIGKILL"));
    const rpcUrls = await new Promise<Readonly<Record<string, string>>>((resolve, reject) => {
      child.once("message", (message) =>
        resolve(z.record(z.string(), z.string()).parse(message)),
      );
      child.once("exit", (code) =>
        reject(new Error(`The supervisor ended with code ${String(code)}.`)),
      );
    });
    return { child, rpcUrls };
  };
  let current = await launch();
  const read = (): z.output<typeof processes> | null => {
    try {
      return processes.parse(
        JSON.parse(readFileSync(join(dataDir, "chains", "processes.json"), "utf8")),
      );
    } catch {
      return null;
    }
  };
  return {
    rpcUrls: current.rpcUrls,
    nodePid: (chainId) => {
      const pid = read()?.chains.find((node) => node.chainId === chainId)?.pid;
      return pid !== undefined && isAlive(pid) ? pid : null;
    },
    hostPid: () => read()?.host.pid ?? 0,
    kill: async () => {
      const ended = once(current.child, "exit");
      current.child.kill("SIGKILL");
      await ended;
    },
    start: async () => {
      current = await launch();
    },
    stop: async () => {
      if (current.child.pid !== undefined) await endProcess(current.child.pid, END_STEPS);
    },
  };
};
