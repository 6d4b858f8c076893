import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";
import { DEVNET_CHAIN_IDS } from "@/lib/dev/devnet/chain-ids";
import { LOCAL_SANCTIONS_LIST } from "@/lib/dev/devnet/sanctions-list";
import { openDevnetStore } from "@/lib/dev/devnet/devnet-store";
import { entryArguments } from "@/lib/platform/os/entry";
import type { BoardPart } from "./board";
import { superviseChild } from "./child";
import { startPart } from "./part-error";
import { freePort, isPortFree } from "@/lib/platform/os/ports";

export interface ChainsPart {
  readonly rpcUrls: Readonly<Record<string, string>>;
  /** Environment variables that tell the server where the local chains are. */
  readonly environment: Readonly<Record<string, string>>;
  readonly boards: readonly BoardPart[];
  stop(): Promise<void>;
}

interface ChainsPartOptions {
  readonly dataDir: string;
  /**
   * Private key of the account that pays for bundles, with or without the development prefix. The
   * local chains give this account coins and the right to mark operations for the paymaster.
   */
  readonly executorKey: string | undefined;
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly say: (line: string) => void;
}

const HOST = "127.0.0.1";
/**
 * Ports of the first run. They equal the ports in `lib/platform/config/chains/local.json`, which
 * browser wallets may have stored.
 */
const FIRST_PORTS = [8545, 8546, 8547, 8548];
/**
 * Maximum time without progress during a start. Loading a large state takes long on a busy
 * machine.
 */
const QUIET_MAX_MS = 300_000;
const ADVICE =
  "Read the reason. `npm run reset` starts the chains afresh; DEVNET=0 with CHAINS_FILE goes without them.";

/** One port for each chain, and one for the provider of association sets. */
const portsFile = z.array(z.int().min(1).max(65535)).length(DEVNET_CHAIN_IDS.length + 1);

const rememberedPorts = (file: string): readonly number[] => {
  if (!existsSync(file)) return FIRST_PORTS;
  try {
    return portsFile.parse(JSON.parse(readFileSync(file, "utf8")));
  } catch {
    return FIRST_PORTS;
  }
};

/**
 * Returns the ports of the last run if they are free, otherwise other free ones, and stores them
 * for the next run.
 */
const choosePorts = async (folder: string): Promise<number[]> => {
  const file = join(folder, "ports.json");
  const ports: number[] = [];
  for (const port of rememberedPorts(file))
    ports.push((await isPortFree(port, HOST)) ? port : await freePort());
  writeFileSync(file, JSON.stringify(ports));
  return ports;
};

/**
 * Starts three local chains with all contracts and the solver in a separate process, so that their
 * load does not affect the supervisor, and each of the two processes can be restarted without the
 * other.
 * @throws PartError
 */
export const startChainsPart = async ({
  dataDir,
  executorKey,
  environment,
  say,
}: ChainsPartOptions): Promise<ChainsPart> => {
  const folder = join(dataDir, "chains");
  mkdirSync(folder, { recursive: true });
  let ports: readonly number[] = [];
  const { value: child, tookMs } = await startPart("The local chains", ADVICE, async () => {
    // Comes first, because processes that a killed run left behind would occupy the ports of the
    // last run.
    await openDevnetStore(folder).endLeftOvers(say);
    ports = await choosePorts(folder);
    return superviseChild({
      name: "The process of the local chains",
      command: process.execPath,
      args: [
        ...entryArguments(import.meta.url, "./chains-process"),
        JSON.stringify({
          dataDir: folder,
          ports: ports.slice(0, DEVNET_CHAIN_IDS.length),
          associationPort: ports.at(-1),
        }),
      ],
      cwd: process.cwd(),
      environment: {
        PATH: environment.PATH,
        NODE_OPTIONS: environment.NODE_OPTIONS,
        EXECUTOR_PRIVATE_KEY: executorKey,
        PRIVACY_APPROVAL_DELAY_MS: environment.PRIVACY_APPROVAL_DELAY_MS,
      },
      logFile: join(dataDir, "logs", "chains.log"),
      quietMaxMs: QUIET_MAX_MS,
      onRestart: (reason) =>
        say(`The process of the local chains ${reason}; starting it again.`),
      onReadyAgain: () => say("The local chains are ready again."),
    });
  });
  const urls = ports.map((port) => `http://${HOST}:${String(port)}`);
  const rpcUrls = Object.fromEntries(
    DEVNET_CHAIN_IDS.map((chainId, index) => [String(chainId), urls[index] ?? ""]),
  );
  const boards = Object.entries(rpcUrls).map(([chainId, address], index): BoardPart => ({
    name: `Local ${String(index + 1)}`,
    state: "ready",
    detail: `chain ${chainId}`,
    address,
    ...(index === 0 ? { tookMs } : {}),
  }));
  return {
    rpcUrls,
    environment: Object.fromEntries(
      Object.entries(rpcUrls).flatMap(([id, url]) => [
        [`RPC_URL_${id}`, url],
        [`ASP_URL_${id}`, urls.at(-1) ?? ""],
        [`SANCTIONS_ORACLE_${id}`, LOCAL_SANCTIONS_LIST],
      ]),
    ),
    boards: [
      ...boards,
      { name: "Solver", state: "ready", detail: "fills and refunds between them" },
    ],
    stop: () => child.stop(),
  };
};
