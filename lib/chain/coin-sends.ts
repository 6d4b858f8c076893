/**
 * Finds the senders of coins: from logs on chains with EIP-7708, otherwise from transactions that
 * pay an address directly.
 */
import { getAddress, type Address, type Hash } from "viem";
import type { Token } from "@/lib/core/token";
import { isStateMissing } from "./node-errors";
import { chainCall, type ChainRegistry } from "./registry";
import { RECIPIENTS_MAX, tokenTransfers } from "./transfer-logs";

/**
 * The address that emits a log for each transfer of coins on chains with EIP-7708, in the form of
 * an ERC-20 transfer. Nobody has its key.
 */
export const COIN_LOG_ADDRESS: Address = "0xffffFFFfFFffffffffffffffFfFFFfffFFFfFFfE";
/**
 * Maximum number of blocks whose transactions one search reads. Senders of coins in older blocks
 * stay unknown.
 */
export const BLOCKS_READ_MAX = 1_000n;
const BLOCKS_AT_ONCE = 20n;
const RECEIPTS_AT_ONCE = 50;

export interface CoinSend {
  readonly to: Address;
  /**
   * The sender of the coins: the signer of the transaction, or in a log of EIP-7708 the direct
   * sender, which may be a contract.
   */
  readonly from: Address;
  readonly amountBase: bigint;
  readonly txHash: Hash;
  /** Null when the coins were the value of the transaction itself. */
  readonly logIndex: number | null;
  readonly blockNumber: bigint;
}

interface CoinSearch {
  readonly recipients: readonly Address[];
  readonly range: { readonly from: bigint; readonly to: bigint };
}

const byLogs = async (
  registry: ChainRegistry,
  chainId: number,
  search: CoinSearch,
): Promise<CoinSend[]> => {
  const tokens: Token[] = [{ ...registry.native(chainId), address: COIN_LOG_ADDRESS }];
  const recipients = search.recipients.length > RECIPIENTS_MAX ? null : search.recipients;
  const transfers = await tokenTransfers(registry, chainId, {
    tokens,
    range: search.range,
    recipients,
  });
  const wanted = new Set(search.recipients);
  return transfers
    .filter(({ to }) => wanted.has(to))
    .map(({ from, to, amountBase, txHash, logIndex, blockNumber }) => ({
      from,
      to,
      amountBase,
      txHash,
      logIndex,
      blockNumber,
    }));
};

/**
 * The transactions that carry coins to the recipients, in the order of the blocks, including failed
 * ones.
 */
const carriedIn = async (
  registry: ChainRegistry,
  chainId: number,
  { recipients, range }: CoinSearch,
): Promise<CoinSend[]> => {
  const wanted = new Set<string>(recipients.map((each) => each.toLowerCase()));
  const numbers = Array.from(
    { length: Number(range.to - range.from + 1n) },
    (_, index) => range.from + BigInt(index),
  );
  const blocks = await chainCall(chainId, () =>
    Promise.all(
      numbers.map((blockNumber) =>
        registry.client(chainId).getBlock({ blockNumber, includeTransactions: true }),
      ),
    ),
  );
  return blocks.flatMap(({ number, transactions }) =>
    transactions.flatMap(({ to, from, value, hash }): CoinSend[] =>
      to === null || value === 0n || !wanted.has(to.toLowerCase())
        ? []
        : [
            {
              to: getAddress(to),
              from: getAddress(from),
              amountBase: value,
              txHash: hash,
              logIndex: null,
              blockNumber: number,
            },
          ],
    ),
  );
};

/** Keeps the transactions that succeeded, because failed ones moved nothing. */
const succeeded = async (
  registry: ChainRegistry,
  chainId: number,
  sends: readonly CoinSend[],
): Promise<CoinSend[]> => {
  const done: CoinSend[] = [];
  for (let from = 0; from < sends.length; from += RECEIPTS_AT_ONCE) {
    const part = sends.slice(from, from + RECEIPTS_AT_ONCE);
    const receipts = await chainCall(chainId, () =>
      Promise.all(
        part.map(({ txHash: hash }) =>
          registry.client(chainId).getTransactionReceipt({ hash }),
        ),
      ),
    );
    done.push(...part.filter((_, index) => receipts[index]?.status === "success"));
  }
  return done;
};

const byTransactions = async (
  registry: ChainRegistry,
  chainId: number,
  { recipients, range: { from, to } }: CoinSearch,
): Promise<CoinSend[]> => {
  const sends: CoinSend[] = [];
  const first = to - from >= BLOCKS_READ_MAX ? to - BLOCKS_READ_MAX + 1n : from;
  for (let block = first; block <= to; block += BLOCKS_AT_ONCE) {
    const last = block + BLOCKS_AT_ONCE - 1n < to ? block + BLOCKS_AT_ONCE - 1n : to;
    sends.push(
      ...(await carriedIn(registry, chainId, { recipients, range: { from: block, to: last } })),
    );
  }
  return succeeded(registry, chainId, sends);
};

/**
 * Coins that the recipients received in a range of final blocks, in the order of the blocks.
 * Without logs of EIP-7708, coins sent by contracts are missing. Empty when the nodes no longer
 * have the blocks.
 * @param recipients checksummed
 * @throws DomainError `chain_unavailable`
 */
export const coinSends = async (
  registry: ChainRegistry,
  chainId: number,
  search: CoinSearch,
): Promise<readonly CoinSend[]> => {
  if (search.recipients.length === 0 || search.range.to < search.range.from) return [];
  try {
    const logged = await byLogs(registry, chainId, search);
    return logged.length > 0 ? logged : await byTransactions(registry, chainId, search);
  } catch (error) {
    if (isStateMissing(error)) return [];
    throw error;
  }
};
