import { createHash } from "node:crypto";
import { numberToHex, type Address } from "viem";
import { anvilMarker, startAnvil, type AnvilProcess } from "./anvil-process";
import { planDeployments } from "./contracts";
import { deployAll } from "./deploy/deploy";
import { poolTransactions } from "./deploy/pools";
import { relayerTransactions, serviceTransactions } from "./deploy/services";
import { rpc } from "./json-rpc";
import { allowMarker } from "./marker";
import { commandLine, endProcess } from "./processes";
import { startSaver, type Saver } from "./saver";
import { openStateStore, type StateStore } from "./state-store";

export const DEVNET_CHAIN_IDS = [31337, 31338, 31339] as const;

const ORPHAN_GRACE_MS = 3_000;
const EXECUTOR_BALANCE_WEI = 1_000_000n * 10n ** 18n;

export interface DevnetOptions {
  /** Folder of the chains' own; made when missing. */
  readonly dataDir: string;
  /** One per chain; 0 or absent: any free port. */
  readonly ports?: readonly number[];
  /** False: chains of a test, gone with the process. */
  readonly persist: boolean;
  readonly log: (message: string) => void;
}

export interface DevnetChain {
  readonly chainId: number;
  readonly rpcUrl: string;
  readonly pid: number;
  /** Resolves when the chain's process has ended, also by itself. */
  readonly exited: Promise<void>;
}

export interface Devnet {
  readonly chains: readonly DevnetChain[];
  /** Whether the contracts were deployed now, or came with a kept state. */
  readonly fresh: boolean;
  /** Keeps the state of all chains now; does nothing without `persist`. */
  save(): Promise<void>;
  /** Saves and ends the chains. */
  stop(): Promise<void>;
}

// A state is of use only under the very contracts that local.json names.
const fingerprint = (): string => {
  const { contracts, deployments } = planDeployments();
  const transactions = [
    ...deployments,
    ...serviceTransactions(contracts),
    ...relayerTransactions(contracts),
    ...DEVNET_CHAIN_IDS.flatMap((_, index) => poolTransactions(contracts, index)),
  ];
  const hash = createHash("sha256");
  for (const { to, data, ...rest } of transactions)
    hash.update(`${String(to)} ${data} ${"value" in rest ? String(rest.value) : ""}\n`);
  return hash.digest("hex");
};

/**
 * Ends the chains that a killed process left behind, after saving what they hold. Only processes whose command line is that
 * of the chain which was recorded, since process ids are used again.
 */
const endLeftOvers = async (store: StateStore, log: (message: string) => void): Promise<void> => {
  await Promise.all(
    store.running().map(async ({ chainId, pid, port }) => {
      if (!commandLine(pid).includes(anvilMarker(chainId, port))) return;
      log(`Chain ${String(chainId)} still runs from before (process ${String(pid)}): saving and ending it.`);
      await store.save(chainId, `http://127.0.0.1:${String(port)}`).catch((error: unknown) => {
        log(`It could not be saved; the state kept before counts. ${error instanceof Error ? error.message : ""}`);
      });
      await endProcess(pid, ORPHAN_GRACE_MS);
    }),
  );
  await store.setRunning([]);
};

/** Ends the chains that a killed process left behind in that folder, so that it may be removed. */
export const endDevnetLeftOvers = (options: Pick<DevnetOptions, "dataDir" | "log">): Promise<void> =>
  endLeftOvers(openStateStore(options.dataDir), options.log);

const startChains = async (
  options: DevnetOptions,
  store: StateStore,
  files: ReadonlyMap<number, string> | null,
): Promise<AnvilProcess[]> => {
  const starting = await Promise.allSettled(
    DEVNET_CHAIN_IDS.map((chainId, index) => {
      const stateFile = files?.get(chainId);
      return startAnvil({
        chainId,
        port: options.ports?.[index] ?? 0,
        survives: options.persist,
        logFile: store.logFile(chainId),
        ...(stateFile ? { stateFile } : {}),
      });
    }),
  );
  const started = starting.flatMap((result) => (result.status === "fulfilled" ? [result.value] : []));
  const failed = starting.find((result) => result.status === "rejected");
  if (failed) {
    await Promise.all(started.map((chain) => chain.stop()));
    throw failed.reason;
  }
  await store.setRunning(started);
  return started;
};

/**
 * Starts three local chains with every contract that `lib/config/chains/local.json` names. Fresh: about 3 s; with a kept
 * state: under one.
 *
 * With `persist` the state survives the end of this process, however it comes: the chains run in process groups of their own,
 * outlive a SIGKILL, and the next start saves and replaces them; and their state is saved within a second or so of each
 * transaction, for when they are killed themselves. A deployment that was interrupted is begun again from nothing.
 * @throws Error that says which chain cannot start, and why
 */
export const startDevnet = async (options: DevnetOptions): Promise<Devnet> => {
  const store = openStateStore(options.dataDir);
  await endLeftOvers(store, options.log);
  const print = fingerprint();
  const files = options.persist ? store.load(DEVNET_CHAIN_IDS, print) : null;
  if (!files) store.clear();
  const chains = await startChains(options, store, files);
  const saveAll = async (): Promise<void> => {
    if (options.persist) await Promise.all(chains.map(({ chainId, rpcUrl }) => store.save(chainId, rpcUrl)));
  };
  const endAll = async (): Promise<void> => {
    await Promise.all(chains.map((chain) => chain.stop()));
    await store.setRunning([]);
  };
  if (!files) {
    try {
      options.log("Deploying the contracts on the local chains.");
      await Promise.all(chains.map(({ rpcUrl }, index) => deployAll(rpcUrl, index)));
      await saveAll();
      if (options.persist) await store.complete(print);
    } catch (error) {
      await endAll();
      throw error;
    }
  }
  const savers = options.persist ? chains.map((chain) => saverOf(chain, store, options.log)) : [];
  return {
    chains,
    fresh: files === null,
    save: saveAll,
    stop: async () => {
      await Promise.all(savers.map((saver) => saver.stop()));
      await saveAll().catch((error: unknown) => {
        options.log(`The last save failed: ${error instanceof Error ? error.message : "unknown"}`);
      });
      await endAll();
    },
  };
};

const saverOf = ({ chainId, rpcUrl }: AnvilProcess, store: StateStore, log: (message: string) => void): Saver =>
  startSaver({ rpcUrl, log, save: () => store.save(chainId, rpcUrl) });

/** Gives the service's account coins on each chain, and lets it mark for the paymaster. */
export const fundServiceAccounts = async (devnet: Devnet, accounts: { readonly executor: Address }): Promise<void> => {
  const { executor } = accounts;
  await Promise.all(
    devnet.chains.flatMap(({ rpcUrl }) => [
      rpc(rpcUrl, "anvil_setBalance", [executor, numberToHex(EXECUTOR_BALANCE_WEI)]),
      allowMarker(rpcUrl, executor),
    ]),
  );
  // A balance set so comes with no transaction, so nothing else would make it last.
  await devnet.save();
};
