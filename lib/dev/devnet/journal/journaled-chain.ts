import { openChainJournal } from "./chain-journal";
import type { ChainStore } from "./chain-store";
import type { Checkpointer } from "./checkpointer";
import { startGatedChain, type GatedChain, type GatedChainOptions } from "./gated-chain";

interface JournaledChainOptions extends Omit<GatedChainOptions, "chainId" | "openJournal"> {
  readonly store: ChainStore;
  readonly checkpointer: Checkpointer;
  /**
   * Number of calls and blocks after which a checkpoint is made. The default number can be
   * replayed in a few seconds.
   */
  readonly stepsPerCheckpoint?: number;
}

/**
 * A local chain that loses no change. Each change is in the journal before its answer is sent.
 * Whichever process is killed, the chain is restored from its last checkpoint and the journal
 * after the checkpoint. Its node may end any number of times.
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
