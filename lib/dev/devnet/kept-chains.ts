import type { DevnetStore } from "./devnet-store";
import { openChainStore } from "./journal/chain-store";
import { createCheckpointer } from "./journal/checkpointer";
import type { GatedChain } from "./journal/gated-chain";
import { startJournaledChain } from "./journal/journaled-chain";

interface KeptChainsOptions {
  readonly dataDir: string;
  readonly chainIds: readonly number[];
  /** One port per chain; 0 or absent for any free port. */
  readonly ports: readonly number[];
  /** True to remove existing data of these chains first. */
  readonly isFresh: boolean;
  readonly store: DevnetStore;
  readonly log: (message: string) => void;
}

export interface KeptChains {
  readonly chains: readonly GatedChain[];
  stop(): Promise<void>;
}

/**
 * Starts chains that survive the end of every process. Each chain is stored, restored and
 * restarted independently.
 * @throws Error when a chain cannot start
 */
export const startKeptChains = async (options: KeptChainsOptions): Promise<KeptChains> => {
  const { dataDir, ports, store, log } = options;
  const checkpointer = createCheckpointer();
  const started: GatedChain[] = [];
  const tell = (): void => {
    const nodes = started.map(({ chainId, pid, nodePort: port }) => ({ chainId, pid, port }));
    store
      .setRunning(nodes.filter(({ pid }) => pid > 0))
      .catch((error: unknown) => log(String(error)));
  };
  // Records this process before the first node starts. If it is killed, the next start knows which
  // process to end.
  await store.setRunning([]);
  const starting = await Promise.allSettled(
    options.chainIds.map(async (chainId, index) => {
      const own = openChainStore(dataDir, chainId);
      if (options.isFresh) own.clear();
      const port = ports[index] ?? 0;
      const chain = await startJournaledChain({
        store: own,
        port,
        checkpointer,
        log,
        onNode: tell,
      });
      started.push(chain);
      tell();
      return chain;
    }),
  );
  let stopped: Promise<void> | null = null;
  const stopAll = async (): Promise<void> => {
    checkpointer.stop();
    await Promise.all(started.map((chain) => chain.stop()));
    await store.setRunning([]);
  };
  const stop = (): Promise<void> => (stopped ??= stopAll());
  const failed = starting.find((result) => result.status === "rejected");
  if (failed) {
    await stop();
    throw failed.reason;
  }
  return {
    chains: starting.flatMap((result) => (result.status === "fulfilled" ? [result.value] : [])),
    stop,
  };
};
