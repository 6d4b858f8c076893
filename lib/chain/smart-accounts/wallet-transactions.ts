import {
  TransactionNotFoundError,
  TransactionReceiptNotFoundError,
  type Hex,
  type PublicClient,
  type Transaction,
} from "viem";
import { agreedAnswer } from "@/lib/chain/agreement";
import { isStateMissing } from "@/lib/chain/node-errors";
import { chainCall, type ChainRegistry } from "@/lib/chain/registry";
import { isDomainError } from "@/lib/core/errors";
import type { EvmAddress, ReceiptLog } from "@/lib/core/evm";

export interface SeenTransaction {
  readonly hash: Hex;
  readonly from: EvmAddress;
  /** The called address; null when the transaction creates a contract. */
  readonly to: EvmAddress | null;
  readonly data: Hex;
  readonly value: bigint;
  readonly nonce: number;
  readonly blockNumber: bigint | null;
}

export interface TransactionReceipt {
  readonly success: boolean;
  readonly txHash: Hex;
  readonly blockNumber: bigint;
  readonly logs: readonly ReceiptLog[];
  readonly costWei: bigint;
}

/** Maximum number of steps of a bisection over blocks; enough for any chain. */
const HALVINGS_MAX = 64;

/** Number of blocks to read one by one when the node has pruned their states. */
const BLOCKS_SCANNED_MAX = 320;
const BLOCKS_AT_ONCE = 16;

interface Sought {
  readonly address: EvmAddress;
  readonly nonce: number;
  readonly fromBlock: bigint;
  readonly toBlock: bigint;
}

const toSeen = (transaction: Transaction): SeenTransaction => ({
  hash: transaction.hash,
  from: transaction.from,
  to: transaction.to,
  data: transaction.input,
  value: transaction.value,
  nonce: transaction.nonce,
  blockNumber: transaction.blockNumber,
});

const receiptOf = async (
  client: PublicClient,
  hash: Hex,
): Promise<TransactionReceipt | null> => {
  try {
    const receipt = await client.getTransactionReceipt({ hash });
    const { blockNumber, transactionHash, status, gasUsed, effectiveGasPrice } = receipt;
    const costWei = gasUsed * effectiveGasPrice;
    const logs = receipt.logs.map(({ address, topics, data, logIndex }) => ({
      address,
      topics,
      data,
      logIndex,
    }));
    return {
      success: status === "success",
      txHash: transactionHash,
      blockNumber,
      logs,
      costWei,
    };
  } catch (error) {
    if (error instanceof TransactionReceiptNotFoundError) return null;
    throw error;
  }
};

/**
 * Reads transactions that wallets sent themselves.
 * @throws DomainError `chain_unavailable` (every function)
 */
export const createWalletTransactions = (registry: ChainRegistry) => {
  /** Number of the account's mined transactions, which is its next nonce. */
  const count = (chainId: number, address: EvmAddress, blockNumber?: bigint): Promise<number> =>
    chainCall(chainId, () =>
      registry
        .client(chainId)
        .getTransactionCount(
          blockNumber === undefined ? { address } : { address, blockNumber },
        ),
    );

  const inBlock = async (
    chainId: number,
    blockNumber: bigint,
    sought: Sought,
  ): Promise<SeenTransaction | null> => {
    const block = await chainCall(chainId, () =>
      registry.client(chainId).getBlock({ blockNumber, includeTransactions: true }),
    );
    const address = sought.address.toLowerCase();
    const found = block.transactions.find(
      ({ from, nonce }) => from.toLowerCase() === address && nonce === sought.nonce,
    );
    return found === undefined ? null : toSeen(found);
  };

  /**
   * The block of the account's transaction with `nonce`: the first block after which the count is
   * above the nonce.
   */
  const bisect = async (
    chainId: number,
    { address, nonce, fromBlock, toBlock }: Sought,
  ): Promise<bigint> => {
    let [low, high] = [fromBlock, toBlock];
    for (let halvings = 0; low < high && halvings < HALVINGS_MAX; halvings += 1) {
      const middle = (low + high) / 2n;
      if ((await count(chainId, address, middle)) > nonce) high = middle;
      else low = middle + 1n;
    }
    return low;
  };

  /**
   * Searches whole blocks for the transaction, the latest block first. `unknown` when it was not
   * found in `BLOCKS_SCANNED_MAX` blocks and there are more.
   */
  const scan = async (
    chainId: number,
    sought: Sought,
  ): Promise<SeenTransaction | null | "unknown"> => {
    for (let scanned = 0; scanned < BLOCKS_SCANNED_MAX; scanned += BLOCKS_AT_ONCE) {
      const first = sought.toBlock - BigInt(scanned);
      const blocks = Array.from(
        { length: BLOCKS_AT_ONCE },
        (_, index) => first - BigInt(index),
      );
      const within = blocks.filter((block) => block >= sought.fromBlock && block >= 0n);
      const found = await Promise.all(within.map((block) => inBlock(chainId, block, sought)));
      const hit = found.find((each) => each !== null);
      if (hit !== undefined) return hit;
      if (within.length < BLOCKS_AT_ONCE) return null;
    }
    return "unknown";
  };

  return {
    count,

    /** Like `count`, with the node's pending transactions. */
    countPending: (chainId: number, address: EvmAddress): Promise<number> =>
      chainCall(chainId, () =>
        registry.client(chainId).getTransactionCount({ address, blockTag: "pending" }),
      ),

    /** Null when the node does not know the transaction. */
    find: (chainId: number, hash: Hex): Promise<SeenTransaction | null> =>
      chainCall(chainId, async () => {
        try {
          return toSeen(await registry.client(chainId).getTransaction({ hash }));
        } catch (error) {
          if (error instanceof TransactionNotFoundError) return null;
          throw error;
        }
      }),

    receipt: (chainId: number, hash: Hex): Promise<TransactionReceipt | null> =>
      chainCall(chainId, () => receiptOf(registry.client(chainId), hash)),

    /** Like `receipt`, but null only when the chain's providers agree that there is no receipt. */
    agreedReceipt: (chainId: number, hash: Hex): Promise<TransactionReceipt | null> =>
      agreedAnswer({
        registry,
        chainId,
        look: (view) => receiptOf(view.client(chainId), hash),
        isExpected: (receipt) => receipt !== null,
      }),

    /**
     * The mined transaction with this account and nonce between two blocks; null when there is
     * none. `unknown` when the node has pruned too many states to tell.
     */
    findByNonce: async (
      chainId: number,
      sought: Sought,
    ): Promise<SeenTransaction | null | "unknown"> => {
      if ((await count(chainId, sought.address, sought.toBlock)) <= sought.nonce) return null;
      try {
        return await inBlock(chainId, await bisect(chainId, sought), sought);
      } catch (error) {
        // Nodes without an archive keep all blocks, but the states of at most some hundred.
        if (isDomainError(error) && !isStateMissing(error)) throw error;
        return scan(chainId, sought);
      }
    },
  };
};
