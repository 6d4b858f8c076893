import {
  BaseError,
  ContractFunctionRevertedError,
  createPublicClient,
  webSocket,
  type Address,
  type PublicClient,
  type WebSocketTransport,
} from "viem";
import { LOCAL_TIMEOUT_MS, localTransport } from "../local-transport";
import { createUnlockedSender, type UnlockedSender } from "../sender";
import { parseSpokePoolLogs, spokePoolAbi, type SpokePoolLogs } from "./spoke-pool";

const SUBSCRIBED_READ_MS = 500;
/**
 * Interval at which the logs of a chain that runs in this process are read. Such a chain calls back
 * after each block with transactions, so the reads are only a precaution.
 */
const TOLD_READ_MS = 5_000;

export interface SolverChain {
  readonly chainId: number;
  readonly client: PublicClient;
  readonly sender: UnlockedSender;
  /** Logs of the SpokePool from `fromBlock` until now, and the block from which to continue. */
  readLogs(fromBlock: bigint): Promise<{ logs: SpokePoolLogs; nextBlock: bigint }>;
  /** The number of root bundles in the SpokePool, which is the id of the next one. */
  countRootBundles(): Promise<number>;
  /**
   * Calls back when the SpokePool emits a log. Some logs may be missed, so callers must also read
   * after `readEveryMs`.
   */
  onLogs(wake: () => void): () => void;
  readonly readEveryMs: number;
}

const listen = (rpcUrl: string, spokePool: Address, wake: () => void): (() => void) => {
  const transport: WebSocketTransport = webSocket(rpcUrl.replace(/^http/, "ws"), {
    timeout: LOCAL_TIMEOUT_MS,
  });
  const client = createPublicClient({ transport });
  const unwatch = client.watchEvent({
    address: spokePool,
    onLogs: wake,
    onError: () => undefined,
  });
  return () => {
    unwatch();
    client.transport.getRpcClient().then(
      (socket) => {
        socket.close();
      },
      () => undefined,
    );
  };
};

/**
 * Returns the number of root bundles in the SpokePool. Finds it by bisection, because the contract
 * has no count, and a chain may have pruned the logs of the first bundles.
 */
const countRootBundles = async (client: PublicClient, spokePool: Address): Promise<number> => {
  const has = async (index: number): Promise<boolean> => {
    try {
      await client.readContract({
        address: spokePool,
        abi: spokePoolAbi,
        functionName: "rootBundles",
        args: [BigInt(index)],
      });
      return true;
    } catch (error) {
      if (
        error instanceof BaseError &&
        error.walk((each) => each instanceof ContractFunctionRevertedError)
      )
        return false;
      throw error;
    }
  };
  let low = 0;
  let high = 1;
  while (await has(high - 1)) [low, high] = [high, high * 2];
  while (low + 1 < high) {
    const middle = Math.floor((low + high) / 2);
    if (await has(middle - 1)) low = middle;
    else high = middle;
  }
  return low;
};

export const createSolverChain = (options: {
  readonly chainId: number;
  readonly rpcUrl: string;
  readonly spokePool: Address;
  readonly relayer: Address;
  /**
   * Registers a callback for new transactions, and returns the function that removes it. Only a
   * chain that runs in this process has this function. For other chains the solver subscribes to
   * the logs at the node.
   */
  readonly onTransactions?: (called: () => void) => () => void;
}): SolverChain => {
  const client = createPublicClient({ transport: localTransport(options.rpcUrl) });
  return {
    chainId: options.chainId,
    client,
    sender: createUnlockedSender(client, options.relayer),
    readLogs: async (fromBlock) => {
      const latest = await client.getBlockNumber({ cacheTime: 0 });
      if (latest < fromBlock) return { logs: [], nextBlock: fromBlock };
      const logs = await client.getLogs({
        address: options.spokePool,
        fromBlock,
        toBlock: latest,
      });
      return { logs: parseSpokePoolLogs(logs), nextBlock: latest + 1n };
    },
    countRootBundles: () => countRootBundles(client, options.spokePool),
    readEveryMs: options.onTransactions === undefined ? SUBSCRIBED_READ_MS : TOLD_READ_MS,
    onLogs: (wake) =>
      options.onTransactions?.(wake) ?? listen(options.rpcUrl, options.spokePool, wake),
  };
};
