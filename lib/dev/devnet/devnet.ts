import { createHash } from "node:crypto";
import { join } from "node:path";
import { numberToHex, type Address } from "viem";
import { DEVNET_CHAIN_IDS } from "./chain-ids";
import { planDeployments } from "./contracts";
import { deployAll } from "./deploy/deploy";
import { poolTransactions } from "./deploy/pools";
import { relayerTransactions, serviceTransactions } from "./deploy/services";
import { openDevnetStore } from "./devnet-store";
import { startGatedChain } from "./journal/gated-chain";
import { createNoJournal } from "./journal/no-journal";
import { rpc } from "./json-rpc";
import { startKeptChains } from "./kept-chains";
import { allowMarker } from "./marker";

const EXECUTOR_BALANCE_WEI = 1_000_000n * 10n ** 18n;

export interface DevnetOptions {
  /** The chains' data folder; created when missing. */
  readonly dataDir: string;
  /** One port per chain; 0 or absent for any free port. */
  readonly ports?: readonly number[];
  /** Whether the chains outlive this process. Otherwise they store nothing and end with it. */
  readonly persist: boolean;
  readonly log: (message: string) => void;
}

export interface DevnetChain {
  readonly chainId: number;
  readonly rpcUrl: string;
  /**
   * Process id of the chain's node. A persistent chain replaces its node when it dies, and the id
   * changes.
   */
  readonly pid: number;
  /**
   * Registers a callback for the times at which transactions may have been mined. Returns the
   * function that removes the callback. Absent for chains that this module did not start; their
   * node is polled.
   */
  readonly onTransactions?: (called: () => void) => () => void;
}

export interface Devnet {
  readonly chains: readonly DevnetChain[];
  /** True when the contracts were deployed by this start, false when the chains were restored. */
  readonly fresh: boolean;
  /** Ends the chains. */
  stop(): Promise<void>;
}

// Hash of all transactions that set up the chains. A stored state is usable only when it was made
// by exactly these transactions, because local.json names the addresses of their contracts.
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
 * Ends the processes that a killed process left running in the data folder, so that the folder can
 * be removed.
 */
export const endDevnetLeftOvers = (
  options: Pick<DevnetOptions, "dataDir" | "log">,
): Promise<void> => openDevnetStore(options.dataDir).endLeftOvers(options.log);

/** Starts chains that store nothing: their content is lost when their nodes end. */
const startUnjournaledChains = async ({ dataDir, ports = [], log }: DevnetOptions) => {
  const starting = await Promise.allSettled(
    DEVNET_CHAIN_IDS.map((chainId, index) => {
      const logFile = join(dataDir, `${String(chainId)}.log`);
      const openJournal = () => createNoJournal({ chainId, logFile });
      return startGatedChain({
        chainId,
        port: ports[index] ?? 0,
        openJournal,
        log,
        onNode: () => undefined,
      });
    }),
  );
  const chains = starting.flatMap((result) =>
    result.status === "fulfilled" ? [result.value] : [],
  );
  const stop = async (): Promise<void> => {
    await Promise.all(chains.map((chain) => chain.stop()));
  };
  const failed = starting.find((result) => result.status === "rejected");
  if (failed) {
    await stop();
    throw failed.reason;
  }
  return { chains, stop };
};

const deploy = async (
  chains: readonly { readonly rpcUrl: string }[],
  { log }: DevnetOptions,
): Promise<void> => {
  log("Deploying the contracts on the local chains.");
  await Promise.all(chains.map(({ rpcUrl }, index) => deployAll(rpcUrl, index)));
};

const startAndDeploy = async <
  T extends { readonly chains: readonly DevnetChain[]; stop(): Promise<void> },
>(
  started: T,
  work: (started: T) => Promise<void>,
): Promise<T> => {
  try {
    await work(started);
    return started;
  } catch (error) {
    await started.stop();
    throw error;
  }
};

/**
 * Starts three local chains with every contract that `lib/platform/config/chains/local.json`
 * names. Fresh chains take about 3 s; restored ones take as long as loading their state and
 * replaying the journal.
 * With `persist` the chains keep every change whose caller got an answer, whichever process is
 * killed: see `journal/journaled-chain.ts`. An interrupted deployment starts again from the
 * beginning.
 * @throws Error naming the chain that cannot start, and why
 */
export const startDevnet = async (options: DevnetOptions): Promise<Devnet> => {
  const store = openDevnetStore(options.dataDir);
  if (!options.persist) {
    const started = await startUnjournaledChains(options);
    return startAndDeploy({ ...started, fresh: true }, ({ chains }) => deploy(chains, options));
  }
  await store.endLeftOvers(options.log);
  const print = fingerprint();
  const fresh = !store.isDeployed(print);
  // Clears the record of the deployment before any chain is removed, so that a partly removed set
  // of chains is never taken for a complete one.
  if (fresh) store.clear();
  const { dataDir, log, ports = [] } = options;
  const started = await startKeptChains({
    dataDir,
    chainIds: DEVNET_CHAIN_IDS,
    ports,
    isFresh: fresh,
    store,
    log,
  });
  return startAndDeploy({ ...started, fresh }, async ({ chains }) => {
    if (!fresh) return;
    await deploy(chains, options);
    await Promise.all(started.chains.map((chain) => chain.dumpSmall()));
    await store.complete(print);
  });
};

/**
 * Funds the service's account with coins on each chain, and allows the account to mark operations
 * for the paymaster.
 */
export const fundServiceAccounts = async (
  devnet: Devnet,
  accounts: { readonly executor: Address },
): Promise<void> => {
  const { executor } = accounts;
  await Promise.all(
    devnet.chains.flatMap(({ rpcUrl }) => [
      rpc(rpcUrl, "anvil_setBalance", [executor, numberToHex(EXECUTOR_BALANCE_WEI)]),
      allowMarker(rpcUrl, executor),
    ]),
  );
};
