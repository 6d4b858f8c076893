import { createPublicClient, http, webSocket, type Address, type PublicClient, type WebSocketTransport } from "viem";
import { createUnlockedSender, type UnlockedSender } from "../sender";
import { parseSpokePoolLogs, type SpokePoolLogs } from "./spoke-pool";

const TIMEOUT_MS = 5_000;

export interface SolverChain {
  readonly chainId: number;
  readonly client: PublicClient;
  readonly sender: UnlockedSender;
  /** Logs of the SpokePool from `fromBlock` to now, and the block to go on from. */
  readLogs(fromBlock: bigint): Promise<{ logs: SpokePoolLogs; nextBlock: bigint }>;
  /** Calls back when the SpokePool logs something. It may miss some; whoever relies on it must also look from time to time. */
  onLogs(wake: () => void): () => void;
}

const listen = (rpcUrl: string, spokePool: Address, wake: () => void): (() => void) => {
  const transport: WebSocketTransport = webSocket(rpcUrl.replace(/^http/, "ws"), { timeout: TIMEOUT_MS });
  const client = createPublicClient({ transport });
  const unwatch = client.watchEvent({ address: spokePool, onLogs: wake, onError: () => undefined });
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

export const createSolverChain = (options: {
  readonly chainId: number;
  readonly rpcUrl: string;
  readonly spokePool: Address;
  readonly relayer: Address;
}): SolverChain => {
  const client = createPublicClient({ transport: http(options.rpcUrl, { timeout: TIMEOUT_MS, retryCount: 0 }) });
  return {
    chainId: options.chainId,
    client,
    sender: createUnlockedSender(client, options.relayer),
    readLogs: async (fromBlock) => {
      const latest = await client.getBlockNumber({ cacheTime: 0 });
      if (latest < fromBlock) return { logs: [], nextBlock: fromBlock };
      const logs = await client.getLogs({ address: options.spokePool, fromBlock, toBlock: latest });
      return { logs: parseSpokePoolLogs(logs), nextBlock: latest + 1n };
    },
    onLogs: (wake) => listen(options.rpcUrl, options.spokePool, wake),
  };
};
