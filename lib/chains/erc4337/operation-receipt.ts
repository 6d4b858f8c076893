import {
  isAddressEqual,
  parseAbiItem,
  toEventSelector,
  type Address,
  type Hex,
  type Log,
  type PublicClient,
} from "viem";
import { TransactionReceiptNotFoundError } from "viem";

const userOperationEvent = parseAbiItem(
  "event UserOperationEvent(bytes32 indexed userOpHash, address indexed sender, address indexed paymaster, uint256 nonce, bool success, uint256 actualGasCost, uint256 actualGasUsed)",
);
const EVENT_TOPIC = toEventSelector(userOperationEvent);
const BEFORE_EXECUTION_TOPIC = toEventSelector("BeforeExecution()");

/** Public nodes answer for a few thousand blocks at once. */
const BLOCKS_PER_QUERY = 2_000n;
const QUERIES_MAX = 500;

export interface OperationReceipt {
  readonly userOpHash: Hex;
  readonly success: boolean;
  readonly txHash: Hex;
  readonly blockNumber: bigint;
  readonly blockHash: Hex;
  readonly actualGasCost: bigint;
  readonly logs: readonly { address: Address; topics: readonly Hex[]; data: Hex; logIndex: number }[];
}

type ReceiptLogs = readonly Log<bigint, number, false>[];

const isBoundary = (log: ReceiptLogs[number], entryPoint: Address): boolean =>
  isAddressEqual(log.address, entryPoint) &&
  (log.topics[0] === EVENT_TOPIC || log.topics[0] === BEFORE_EXECUTION_TOPIC);

/**
 * The logs of one operation out of a bundle's: what lies between the previous operation's end (or the start of the
 * execution phase) and its own `UserOperationEvent`. Logs of the validation phase belong to no operation's effects.
 */
export const sliceOperationLogs = (logs: ReceiptLogs, entryPoint: Address, userOpHash: Hex): ReceiptLogs | null => {
  const end = logs.findIndex(
    (log) => isAddressEqual(log.address, entryPoint) && log.topics[0] === EVENT_TOPIC && log.topics[1] === userOpHash,
  );
  if (end < 0) return null;
  const start = logs.slice(0, end).findLastIndex((log) => isBoundary(log, entryPoint));
  return logs.slice(start + 1, end);
};

interface Query {
  readonly client: PublicClient;
  readonly entryPoint: Address;
  readonly userOpHash: Hex;
}

/** Reads the operation out of a transaction that is said to hold it; null when it is not mined or does not. */
export const readOperation = async (query: Query, txHash: Hex): Promise<OperationReceipt | null> => {
  const receipt = await query.client.getTransactionReceipt({ hash: txHash }).catch((error: unknown) => {
    if (error instanceof TransactionReceiptNotFoundError) return null;
    throw error;
  });
  if (receipt === null) return null;
  const logs = sliceOperationLogs(receipt.logs, query.entryPoint, query.userOpHash);
  const event = receipt.logs.find(
    (log) =>
      isAddressEqual(log.address, query.entryPoint) &&
      log.topics[0] === EVENT_TOPIC &&
      log.topics[1] === query.userOpHash,
  );
  if (logs === null || event === undefined) return null;
  const words = event.data.slice(2).match(/.{64}/g) ?? [];
  return {
    userOpHash: query.userOpHash,
    success: BigInt(`0x${words[1] ?? "0"}`) === 1n,
    actualGasCost: BigInt(`0x${words[2] ?? "0"}`),
    txHash: receipt.transactionHash,
    blockNumber: receipt.blockNumber,
    blockHash: receipt.blockHash,
    logs: logs.map((log) => ({ address: log.address, topics: log.topics, data: log.data, logIndex: log.logIndex })),
  };
};

/** Searches the chain from `fromBlock` on; the chain is the only witness that is asked. Null while it is not mined. */
export const findOperation = async (query: Query, fromBlock: bigint): Promise<OperationReceipt | null> => {
  const latest = await query.client.getBlockNumber({ cacheTime: 0 });
  let from = fromBlock;
  for (let queries = 0; from <= latest && queries < QUERIES_MAX; queries += 1) {
    const to = from + BLOCKS_PER_QUERY - 1n < latest ? from + BLOCKS_PER_QUERY - 1n : latest;
    const [event] = await query.client.getLogs({
      address: query.entryPoint,
      event: userOperationEvent,
      args: { userOpHash: query.userOpHash },
      fromBlock: from,
      toBlock: to,
    });
    if (event !== undefined) return readOperation(query, event.transactionHash);
    from = to + 1n;
  }
  return null;
};
