import {
  getAddress,
  parseAbiItem,
  slice,
  toEventSelector,
  TransactionReceiptNotFoundError,
  zeroAddress,
  type Address,
  type Hex,
  type Log,
  type PublicClient,
} from "viem";

const userOperationEvent = parseAbiItem(
  "event UserOperationEvent(bytes32 indexed userOpHash, address indexed sender, address indexed paymaster, uint256 nonce, bool success, uint256 actualGasCost, uint256 actualGasUsed)",
);
const EVENT_TOPIC = toEventSelector(userOperationEvent);
const BEFORE_EXECUTION_TOPIC = toEventSelector("BeforeExecution()");

/** Blocks after the oldest `fromBlock` that one search reads: 23 days of a chain with a block every two seconds. */
const BLOCKS_MAX = 1_000_000n;
const HASHES_PER_QUERY = 100;

export interface OperationReceipt {
  readonly userOpHash: Hex;
  readonly success: boolean;
  readonly txHash: Hex;
  readonly blockNumber: bigint;
  readonly blockHash: Hex;
  readonly actualGasCost: bigint;
  /** Null: the account paid for its own gas. */
  readonly paymaster: Address | null;
  readonly logs: readonly { address: Address; topics: readonly Hex[]; data: Hex; logIndex: number }[];
}

/** The fields of a bundle's receipt that are read. */
export interface BundleReceipt {
  readonly transactionHash: Hex;
  readonly blockNumber: bigint;
  readonly blockHash: Hex;
  readonly logs: readonly Pick<Log<bigint, number, false>, "address" | "topics" | "data" | "logIndex">[];
}

const word = (data: Hex, index: number): bigint => BigInt(`0x${data.slice(2 + index * 64, 66 + index * 64) || "0"}`);

/** Null for the zero address. */
const addressOf = (topic: Hex | undefined): Address | null => {
  if (topic === undefined) return null;
  const address = getAddress(slice(topic, 12));
  return address === zeroAddress ? null : address;
};

/**
 * The operations of a bundle by hash, each with its own logs: those between the previous operation's
 * `UserOperationEvent` (or the start of the execution phase) and its own. Logs of the validation phase belong to no
 * operation.
 */
export const operationsOf = (receipt: BundleReceipt, entryPoint: Address): Map<Hex, OperationReceipt> => {
  const operations = new Map<Hex, OperationReceipt>();
  const ofEntryPoint = entryPoint.toLowerCase();
  let start = 0;
  receipt.logs.forEach((log, index) => {
    const [topic, userOpHash] = log.topics;
    if (log.address.toLowerCase() !== ofEntryPoint) return;
    if (topic !== EVENT_TOPIC && topic !== BEFORE_EXECUTION_TOPIC) return;
    if (topic === EVENT_TOPIC && userOpHash !== undefined) {
      operations.set(userOpHash, {
        userOpHash,
        success: word(log.data, 1) === 1n,
        actualGasCost: word(log.data, 2),
        paymaster: addressOf(log.topics[3]),
        txHash: receipt.transactionHash,
        blockNumber: receipt.blockNumber,
        blockHash: receipt.blockHash,
        logs: receipt.logs
          .slice(start, index)
          .map(({ address, topics, data, logIndex }) => ({ address, topics, data, logIndex })),
      });
    }
    start = index + 1;
  });
  return operations;
};

export interface BundleQuery {
  readonly client: PublicClient;
  readonly entryPoint: Address;
  /** Blocks of one request for logs, as of now. */
  readonly rangeBlocks: () => bigint;
}

/** The operations of a transaction; none when it is not mined. */
export const readBundle = async (
  query: Pick<BundleQuery, "client" | "entryPoint">,
  txHash: Hex,
): Promise<Map<Hex, OperationReceipt>> => {
  const receipt = await query.client.getTransactionReceipt({ hash: txHash }).catch((error: unknown) => {
    if (error instanceof TransactionReceiptNotFoundError) return null;
    throw error;
  });
  return receipt === null ? new Map<Hex, OperationReceipt>() : operationsOf(receipt, query.entryPoint);
};

/** An operation to search for, in blocks from `fromBlock` on. */
export interface Sought {
  readonly userOpHash: Hex;
  readonly fromBlock: bigint;
}

export interface OperationEvent {
  readonly userOpHash: Hex;
  readonly txHash: Hex;
  readonly blockHash: Hex;
}

const eventsBetween = async (
  { client, entryPoint }: BundleQuery,
  hashes: readonly Hex[],
  range: { fromBlock: bigint; toBlock: bigint },
): Promise<OperationEvent[]> => {
  const pages = Array.from({ length: Math.ceil(hashes.length / HASHES_PER_QUERY) }, (_, page) =>
    hashes.slice(page * HASHES_PER_QUERY, (page + 1) * HASHES_PER_QUERY),
  );
  const found = await Promise.all(
    pages.map((page) =>
      client.getLogs({ address: entryPoint, event: userOperationEvent, args: { userOpHash: page }, ...range }),
    ),
  );
  return found
    .flat()
    .map(({ topics, transactionHash: txHash, blockHash }) => ({ userOpHash: topics[1], txHash, blockHash }));
};

/** Searches the chain's logs for many operations at once. Operations that are not mined are missing in the result. */
export const findEvents = async (
  query: BundleQuery,
  sought: readonly Sought[],
  latest: bigint,
): Promise<Map<Hex, OperationEvent>> => {
  const found = new Map<Hex, OperationEvent>();
  let from = sought.reduce((least, { fromBlock }) => (fromBlock < least ? fromBlock : least), latest + 1n);
  const last = from + BLOCKS_MAX - 1n < latest ? from + BLOCKS_MAX - 1n : latest;
  while (from <= last) {
    const end = from + query.rangeBlocks() - 1n;
    const to = end < last ? end : last;
    const missing = sought.filter(({ userOpHash, fromBlock }) => fromBlock <= to && !found.has(userOpHash));
    const events = await eventsBetween(
      query,
      missing.map(({ userOpHash }) => userOpHash),
      { fromBlock: from, toBlock: to },
    );
    for (const event of events) found.set(event.userOpHash, event);
    if (found.size === sought.length) break;
    from = to + 1n;
  }
  return found;
};
