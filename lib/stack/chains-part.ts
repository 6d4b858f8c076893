import { appendFileSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { privateKeyToAddress } from "viem/accounts";
import { z } from "zod";
import { DEVELOPMENT_SECRET_PREFIX } from "@/lib/config/production";
import {
  DEVNET_CHAIN_IDS,
  endDevnetLeftOvers,
  fundServiceAccounts,
  startDevnet,
  type Devnet,
} from "@/lib/devnet/devnet";
import { startSolver, type Solver } from "@/lib/devnet/solver";
import type { BoardPart } from "./board";
import { startPart } from "./part-error";
import { isPortFree } from "./ports";

export interface ChainsPart {
  /** JSON-RPC by chain id. */
  readonly rpcUrls: Readonly<Record<string, string>>;
  /** What the server has to know of these chains, as environment variables. */
  readonly environment: Readonly<Record<string, string>>;
  readonly boards: readonly BoardPart[];
  /** Gives the account that pays for bundles its coins, and lets it mark for the paymaster. `executorKey` with or without the development prefix. */
  fund(executorKey: string): Promise<void>;
  stop(): Promise<void>;
}

interface ChainsPartOptions {
  readonly dataDir: string;
  readonly say: (line: string) => void;
}

const HOST = "127.0.0.1";
/** Those of `lib/config/chains/local.json`, for wallets that were told of these chains. */
const FIRST_PORTS = [8545, 8546, 8547];
const RESTARTS_MAX = 5;
const ADVICE =
  "Read the reason. `npm run reset` starts the chains afresh; DEVNET=0 with CHAINS_FILE goes without them.";

/** @returns appends lines with their time to the solver's log */
const openLog = (dataDir: string): ((line: string) => void) => {
  const folder = join(dataDir, "logs");
  mkdirSync(folder, { recursive: true });
  const file = join(folder, "solver.log");
  writeFileSync(file, "");
  return (line) => appendFileSync(file, `${new Date().toISOString()} ${line}\n`);
};

const portsFile = z.array(z.int().min(1).max(65535)).length(DEVNET_CHAIN_IDS.length);

const rememberedPorts = (file: string): readonly number[] => {
  if (!existsSync(file)) return FIRST_PORTS;
  try {
    return portsFile.parse(JSON.parse(readFileSync(file, "utf8")));
  } catch {
    return FIRST_PORTS;
  }
};

/** The port of last time where it is free, else 0, which takes any. */
const choosePorts = (file: string): Promise<number[]> =>
  Promise.all(rememberedPorts(file).map(async (port) => ((await isPortFree(port, HOST)) ? port : 0)));

const startChains = async ({ dataDir, say }: ChainsPartOptions): Promise<Devnet> => {
  const folder = join(dataDir, "chains");
  mkdirSync(folder, { recursive: true });
  const file = join(folder, "ports.json");
  // First, or what a killed run left would hold the ports of last time.
  await endDevnetLeftOvers({ dataDir: folder, log: say });
  const devnet = await startDevnet({ dataDir: folder, ports: await choosePorts(file), persist: true, log: say });
  writeFileSync(file, JSON.stringify(devnet.chains.map(({ rpcUrl }) => Number(new URL(rpcUrl).port))));
  return devnet;
};

interface Running {
  readonly devnet: Devnet;
  readonly solver: Solver;
}

const startBoth = async (options: ChainsPartOptions): Promise<Running> => {
  const devnet = await startChains(options);
  return { devnet, solver: startSolver({ chains: devnet.chains, log: openLog(options.dataDir) }) };
};

const stopBoth = async ({ devnet, solver }: Running): Promise<void> => {
  await solver.stop();
  await devnet.stop();
};

/** Starts all chains again when one ends by itself. Their ports stay, and what was saved within the last second or so. */
const keepRunning = (first: Running, options: ChainsPartOptions): { stop: () => Promise<void> } => {
  let current = first;
  const stopper = new AbortController();
  const watch = async (): Promise<void> => {
    for (let restarts = 0; restarts < RESTARTS_MAX; restarts += 1) {
      await Promise.race(current.devnet.chains.map(({ exited }) => exited));
      if (stopper.signal.aborted) return;
      options.say("A local chain ended by itself; starting the chains again.");
      await stopBoth(current);
      current = await startBoth(options);
      options.say("The local chains are ready again.");
    }
  };
  const watching = watch().catch((error: unknown) => {
    options.say(`The local chains cannot be started again: ${error instanceof Error ? error.message : String(error)}`);
  });
  return {
    stop: async () => {
      stopper.abort();
      await stopBoth(current);
      await watching;
    },
  };
};

/** Three local chains with all contracts, and the solver between them. @throws PartError */
export const startChainsPart = async (options: ChainsPartOptions): Promise<ChainsPart> => {
  const { value: running, tookMs } = await startPart("The local chains", ADVICE, () => startBoth(options));
  const { devnet } = running;
  const kept = keepRunning(running, options);
  const rpcUrls = Object.fromEntries(devnet.chains.map(({ chainId, rpcUrl }) => [String(chainId), rpcUrl]));
  const boards = devnet.chains.map(({ chainId, rpcUrl }, index): BoardPart => ({
    name: `Local ${String(index + 1)}`,
    state: "ready",
    detail: `chain ${String(chainId)}`,
    address: rpcUrl,
    ...(index === 0 ? { tookMs } : {}),
  }));
  return {
    rpcUrls,
    environment: Object.fromEntries(Object.entries(rpcUrls).map(([id, url]) => [`RPC_URL_${id}`, url])),
    boards: [...boards, { name: "Solver", state: "ready", detail: "fills and refunds between them" }],
    fund: async (executorKey) => {
      const key = executorKey.startsWith(DEVELOPMENT_SECRET_PREFIX)
        ? executorKey.slice(DEVELOPMENT_SECRET_PREFIX.length)
        : executorKey;
      await fundServiceAccounts(devnet, { executor: privateKeyToAddress(key as `0x${string}`) });
    },
    stop: () => kept.stop(),
  };
};
