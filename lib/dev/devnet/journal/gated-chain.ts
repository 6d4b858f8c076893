import type { ChainJournal } from "./chain-journal";
import { createChainLoop } from "./chain-loop";
import { openGate } from "./gate";
import { createNodeHolder } from "./node-holder";

const HOST = "127.0.0.1";

export interface GatedChain {
  readonly chainId: number;
  readonly rpcUrl: string;
  readonly port: number;
  /** Process id of the current node. */
  readonly pid: number;
  /** Port of the current node. Callers use the chain's own port instead. */
  readonly nodePort: number;
  /**
   * Calls back after each block for which transactions were sent, and when another node took over.
   */
  onTransactions(called: () => void): () => void;
  /** Stores the whole state of a chain that is still small, so that restorations start from it. */
  dumpSmall(): Promise<void>;
  /** Closes the journal and ends the chain. */
  stop(): Promise<void>;
}

export interface GatedChainOptions {
  readonly chainId: number;
  /** 0 for any free port. */
  readonly port: number;
  /** @param onReady to be called when `tend` has something to do */
  readonly openJournal: (onReady: () => void) => ChainJournal;
  readonly log: (message: string) => void;
  /** Pauses before the restarts of a node that keeps ending; by default up to five seconds. */
  readonly restartPausesMs?: readonly number[];
  /** Called when a node has been started. */
  readonly onNode: () => void;
}

/**
 * A local chain behind a gate. The gate runs changes one after the other. It never sends a
 * transaction while a block is made, because anvil (1.7.1) would make this transaction wait
 * forever for the sender's previous one.
 * @throws Error when its port is taken or the first node does not start
 */
export const startGatedChain = async (options: GatedChainOptions): Promise<GatedChain> => {
  const { chainId, log } = options;
  const name = `The local chain ${String(chainId)}`;
  const holder = createNodeHolder(
    () => {
      log(`${name}: its node ended by itself; starting another one.`);
      loop.wake();
    },
    options.restartPausesMs === undefined ? {} : { pausesMs: options.restartPausesMs },
  );
  const journal = options.openJournal(() => loop.wake());
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
    throw new Error(
      `${name} cannot use port ${String(options.port)}: something else listens there.`,
      { cause },
    );
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
    chainId,
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
