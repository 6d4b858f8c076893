import { openChainJournal } from "./chain-journal";
import type { ChainStore } from "./chain-store";
import type { Checkpointer } from "./checkpointer";
import { startGatedChain, type GatedChain, type GatedChainOptions } from "./gated-chain";

interface JournaledChainOptions extends Omit<GatedChainOptions, "chainId" | "openJournal"> {
  readonly store: ChainStore;
  readonly checkpointer: Checkpointer;
  /**
   * Calls and blocks after which a checkpoint is made; the default can be replayed in a few
   * seconds.
   */
  readonly stepsPerCheckpoint?: number;
}

/**
 * A local chain that loses no change: each one is in the journal before its answer is sent, and
 * whichever process is killed, the chain is restored from its last checkpoint and the following
 * journal. Its node may end any number of times.
 * @throws Error when its port is taken or the first node does not start
 */
export const startJournaledChain = ({
  store,
  checkpointer,
  stepsPerCheckpoint,
  ...options
}: JournaledChainOptions): Promise<GatedChain> =>
  startGatedChain({
    ...options,
    chainId: store.chainId,
    openJournal: (onReady) =>
      openChainJournal({ store, checkpointer, log: options.log, stepsPerCheckpoint, onReady }),
  });
