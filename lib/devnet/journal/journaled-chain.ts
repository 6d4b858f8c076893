import { openChainJournal } from "./chain-journal";
import { createChainLoop } from "./chain-loop";
import type { ChainStore } from "./chain-store";
import type { Checkpointer } from "./checkpointer";
import { openGate } from "./gate";
import { createNodeHolder } from "./node-holder";

const HOST = "127.0.0.1";

export interface JournaledChain {
  readonly chainId: number;
  readonly rpcUrl: string;
  readonly port: number;
  /** Process id of the current node. */
  readonly pid: number;
  /** Port of the current node. Callers use the chain's own port instead. */
  readonly nodePort: number;
  /** Calls back after each block for which transactions were sent, and when another node took over. */
  onTransactions(called: () => void): () => void;
  /** Stores the whole state of a chain that is still small, so that restorations start from it. */
  dumpSmall(): Promise<void>;
  /** Flushes the journal to disk and ends the chain. */
  stop(): Promise<void>;
}

interface JournaledChainOptions {
  readonly store: ChainStore;
  /** 0: any free one. */
  readonly port: number;
  readonly checkpointer: Checkpointer;
  readonly log: (message: string) => void;
  /** Calls and blocks after which a checkpoint is made; the default can be replayed in a few seconds. */
  readonly stepsPerCheckpoint?: number;
  /** Pauses before the restarts of a node that keeps ending; by default up to five seconds. */
  readonly restartPausesMs?: readonly number[];
  /** Called when a node has been started. */
  readonly onNode: () => void;
}

/**
 * A local chain that loses no change: each one is in the journal before its answer is sent, and whichever process is
 * killed, the chain is restored from its last checkpoint and the following journal. Its node may end any number of
 * times.
 * @throws Error when its port is taken or the first node does not start
 */
export const startJournaledChain = async (options: JournaledChainOptions): Promise<JournaledChain> => {
  const { store, checkpointer, log, stepsPerCheckpoint } = options;
  const name = `The local chain ${String(store.chainId)}`;
  const holder = createNodeHolder(
    () => {
      log(`${name}: its node ended by itself; starting another one.`);
      loop.wake();
    },
    options.restartPausesMs === undefined ? {} : { pausesMs: options.restartPausesMs },
  );
  const journal = openChainJournal({ store, checkpointer, log, stepsPerCheckpoint, onReady: () => loop.wake() });
  const loop = createChainLoop({
    holder,
    journal,
    log: (message) => log(`${name}: ${message}`),
    onNode: options.onNode,
  });
  const gate = await openGate({
    host: HOST,
    port: options.port,
    nodePort: async (timeoutMs) => (await holder.whenUp(timeoutMs))?.anvil.port ?? null,
    submit: (method, params) => loop.submit([method, params]),
  }).catch(async (cause: unknown) => {
    await journal.close();
    throw new Error(`${name} cannot use port ${String(options.port)}: something else listens there.`, { cause });
  });
  const stop = async (): Promise<void> => {
    await loop.stop();
    await gate.close();
  };
  try {
    await loop.start();
  } catch (error) {
    await stop();
    throw error;
  }
  return {
    chainId: store.chainId,
    rpcUrl: `http://${HOST}:${String(gate.port)}`,
    port: gate.port,
    get pid() {
      return holder.current()?.anvil.pid ?? 0;
    },
    get nodePort() {
      return holder.current()?.anvil.port ?? 0;
    },
    onTransactions: loop.onTransactions,
    dumpSmall: loop.dumpSmall,
    stop,
  };
};
