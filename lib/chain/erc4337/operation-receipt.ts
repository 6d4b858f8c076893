import {
  type Address,
  getAddress,
  type Hex,
  type Log,
  parseAbiItem,
  type PublicClient,
  slice,
  toEventSelector,
  TransactionReceiptNotFoundError,
  zeroAddress,
} from "viem";
import { LRUCache } from "lru-cache";
import { createBatcher } from "@/lib/core/batch";
import { agreedAnswer } from "@/lib/chain/agreement";
import { chainCall, type ChainRegistry } from "@/lib/chain/registry";

const userOperationEvent = parseAbiItem(
  "event UserOperationEvent(bytes32 indexed userOpHash, address indexed sender, address indexed paymaster, uint256 nonce, bool success, uint256 actualGasCost, uint256 actualGasUsed)",
);
const EVENT_TOPIC = toEventSelector(userOperationEvent);
const BEFORE_EXECUTION_TOPIC = toEventSelector("BeforeExecution()");

/**
 * Maximum number of blocks that one search reads, from the oldest `fromBlock` on. On a chain with
 * a block every two seconds these are 23 days.
 */
const BLOCKS_MAX = 1_000_000n;
const HASHES_PER_QUERY = 100;

export interface OperationReceipt {
  readonly userOpHash: Hex;
  readonly success: boolean;
  readonly txHash: Hex;
  readonly blockNumber: bigint;
  readonly blockHash: Hex;
  readonly actualGasCost: bigint;
  /** Null when the account paid for its gas. */
  readonly paymaster: Address | null;
  readonly logs: readonly {
    address: Address;
    topics: readonly Hex[];
    data: Hex;
    logIndex: number;
  }[];
}

interface BundleReceipt {
  readonly transactionHash: Hex;
  readonly blockNumber: bigint;
  readonly blockHash: Hex;
  readonly logs: readonly Pick<
    Log<bigint, number, false>,
    "address" | "topics" | "data" | "logIndex"
  >[];
}

const word = (data: Hex, index: number): bigint =>
  BigInt(`0x${data.slice(2 + index * 64, 66 + index * 64) || "0"}`);

/** The address in a log topic; null for the zero address. */
const addressOf = (topic: Hex | undefined): Address | null => {
  if (topic === undefined) return null;
  const address = getAddress(slice(topic, 12));
  return address === zeroAddress ? null : address;
};

/**
 * The operations of a bundle by hash. The logs of an operation begin after the previous
 * operation's `UserOperationEvent` (or at the start of the execution phase) and end before its own
 * `UserOperationEvent`. Logs of the validation phase belong to no operation.
 */
export const operationsOf = (
  receipt: BundleReceipt,
  entryPoint: Address,
): Map<Hex, OperationReceipt> => {
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
  /** Number of blocks in one log request. May shrink after a node refuses a request. */
  readonly rangeBlocks: () => bigint;
}

/** The operations of a transaction; empty while it is not mined. */
export const readBundle = async (
  query: Pick<BundleQuery, "client" | "entryPoint">,
  txHash: Hex,
): Promise<Map<Hex, OperationReceipt>> => {
  const receipt = await query.client
    .getTransactionReceipt({ hash: txHash })
    .catch((error: unknown) => {
      if (error instanceof TransactionReceiptNotFoundError) return null;
      throw error;
    });
  return receipt === null
    ? new Map<Hex, OperationReceipt>()
    : operationsOf(receipt, query.entryPoint);
};

/** An operation to search for in the blocks from `fromBlock` on. */
interface Sought {
  readonly userOpHash: Hex;
  readonly fromBlock: bigint;
}

interface OperationEvent {
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
      client.getLogs({
        address: entryPoint,
        event: userOperationEvent,
        args: { userOpHash: page },
        ...range,
      }),
    ),
  );
  return found.flat().map(({ topics, transactionHash: txHash, blockHash }) => ({
    userOpHash: topics[1],
    txHash,
    blockHash,
  }));
};

/**
 * Searches the chain's logs for many operations at once. The result lacks operations that are not
 * mined.
 */
const findEvents = async (
  query: BundleQuery,
  sought: readonly Sought[],
  latest: bigint,
): Promise<Map<Hex, OperationEvent>> => {
  const found = new Map<Hex, OperationEvent>();
  let from = sought.reduce(
    (least, { fromBlock }) => (fromBlock < least ? fromBlock : least),
    latest + 1n,
  );
  const last = from + BLOCKS_MAX - 1n < latest ? from + BLOCKS_MAX - 1n : latest;
  while (from <= last) {
    const end = from + query.rangeBlocks() - 1n;
    const to = end < last ? end : last;
    const missing = sought.filter(
      ({ userOpHash, fromBlock }) => fromBlock <= to && !found.has(userOpHash),
    );
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

type Operations = ReadonlyMap<Hex, OperationReceipt>;

const SOUGHT_MAX = 500;
/**
 * Number of bundles whose receipts are cached by block. A receipt in a given block never changes.
 */
const BUNDLES_KEPT = 50;
/** Maximum number of searches that start per poll interval, shared by all callers. */
const SEARCHES_PER_POLL = 4;

type Find = (sought: Sought) => Promise<OperationReceipt | null>;

const finderOf = (query: BundleQuery, pollIntervalMs: number): Find => {
  const bundles = new LRUCache<string, Promise<Operations>>({ max: BUNDLES_KEPT });

  const bundleOf = ({ txHash, blockHash }: OperationEvent): Promise<Operations> => {
    const key = `${txHash}:${blockHash}`;
    const known = bundles.get(key);
    if (known !== undefined) return known;
    const read = readBundle(query, txHash).then((operations) => {
      // A reorganisation may have replaced the block between the two requests.
      const isOfBlock = [...operations.values()].some(
        (operation) => operation.blockHash === blockHash,
      );
      if (!isOfBlock) bundles.delete(key);
      return operations;
    });
    read.catch(() => bundles.delete(key));
    bundles.set(key, read);
    return read;
  };

  const search = async (sought: readonly Sought[]): Promise<(OperationReceipt | null)[]> => {
    const latest = await query.client.getBlockNumber({ cacheTime: 0 });
    const isRecent = ({ fromBlock }: Sought): boolean =>
      fromBlock + query.rangeBlocks() > latest;
    // Searches far back run separately, because their many requests would delay the recent ones.
    const [recent, old] = await Promise.all(
      [sought.filter(isRecent), sought.filter((one) => !isRecent(one))].map((part) =>
        findEvents(query, part, latest),
      ),
    );
    return Promise.all(
      sought.map(async ({ userOpHash }) => {
        const event = recent?.get(userOpHash) ?? old?.get(userOpHash);
        return event === undefined ? null : ((await bundleOf(event)).get(userOpHash) ?? null);
      }),
    );
  };

  return createBatcher<Sought, OperationReceipt | null>({
    run: search,
    batchWeightMax: SOUGHT_MAX,
    everyMs: pollIntervalMs / SEARCHES_PER_POLL,
  }).submit;
};

const createFinder = (registry: ChainRegistry) => {
  const finders = new Map<number, Find>();

  const on = (chainId: number): Find => {
    const known = finders.get(chainId);
    if (known !== undefined) return known;
    const { contracts, pollIntervalMs } = registry.get(chainId);
    const rangeBlocks = (): bigint => registry.logRangeBlocks(chainId);
    const query = {
      client: registry.client(chainId),
      entryPoint: contracts.entryPoint,
      rangeBlocks,
    };
    const find = finderOf(query, pollIntervalMs);
    finders.set(chainId, find);
    return find;
  };

  return (
    chainId: number,
    userOpHash: Hex,
    fromBlock: bigint,
  ): Promise<OperationReceipt | null> =>
    chainCall(chainId, () => on(chainId)({ userOpHash, fromBlock }));
};

/**
 * Finds mined operations for all waiting callers. Calls for one chain at about the same time share
 * one head request, one log search, and one receipt per bundle. Each search reads the chain again,
 * so that a reorganisation is noticed. The result is null while the operation is not mined. With
 * `isExpected`, the chain's providers must agree before an unexpected result is returned (see
 * `agreedAnswer`).
 * @throws DomainError `chain_unavailable`, `unsupported_chain`
 */
export const createOperationFinder = (registry: ChainRegistry) => {
  const find = createFinder(registry);
  const ofProvider = new Map<number, typeof find>();

  const findThrough = (view: ChainRegistry, index: number): typeof find => {
    const known = ofProvider.get(index) ?? createFinder(view);
    ofProvider.set(index, known);
    return known;
  };

  return (
    chainId: number,
    userOpHash: Hex,
    fromBlock: bigint,
    isExpected?: (receipt: OperationReceipt) => boolean,
  ): Promise<OperationReceipt | null> =>
    isExpected === undefined
      ? find(chainId, userOpHash, fromBlock)
      : agreedAnswer({
          registry,
          chainId,
          look: (view, index) => findThrough(view, index)(chainId, userOpHash, fromBlock),
          isExpected: (receipt) => receipt !== null && isExpected(receipt),
        });
};
