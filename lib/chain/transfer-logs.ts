import { getAddress, isHex, pad, toHex, zeroAddress, type Address, type Hash } from "viem";
import type { Token } from "@/lib/core/token";
import type { EndBlock } from "./log-ranges";
import { chainCall, type ChainRegistry } from "./registry";

/** keccak256 of Transfer(address,address,uint256). */
const TRANSFER = "0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef";
const TOPICS = 3;
const WORD_HEX_LENGTH = 66;
const ADDRESS_HEX_LENGTH = 40;
/**
 * Maximum number of recipients in one search. Nodes accept at most a thousand values per topic.
 */
export const RECIPIENTS_MAX = 500;

/** One transfer of an ERC-20 token, of an amount above zero. Addresses are checksummed. */
export interface TokenTransfer {
  readonly token: Token;
  readonly from: Address;
  readonly to: Address;
  readonly amountBase: bigint;
  readonly txHash: Hash;
  readonly logIndex: number;
  readonly blockNumber: bigint;
}

interface TransferSearch {
  readonly tokens: readonly Token[];
  readonly range: { readonly from: bigint; readonly to: bigint };
  /** At most `RECIPIENTS_MAX` addresses; null for transfers to anybody. */
  readonly recipients: readonly Address[] | null;
  /** A block that the answering node must have, so that the logs are from this block's chain. */
  readonly endBlock?: EndBlock;
}

const addressIn = (topic: string): Address =>
  getAddress(`0x${topic.slice(-ADDRESS_HEX_LENGTH)}`);

/**
 * The transfers of tokens in a range of blocks, from the tokens' logs. Leaves out transfers of
 * zero, with which attackers put look-alike addresses into lists at the cost of a fee.
 * @throws DomainError `chain_unavailable`; OtherChainError when no answering node has the
 * `endBlock`
 */
export const tokenTransfers = async (
  registry: ChainRegistry,
  chainId: number,
  { tokens, range, recipients, endBlock }: TransferSearch,
): Promise<TokenTransfer[]> => {
  const byAddress = new Map(
    tokens.flatMap((token) =>
      token.address === "native" ? [] : [[token.address.toLowerCase(), token] as const],
    ),
  );
  if (byAddress.size === 0 || range.to < range.from || recipients?.length === 0) return [];
  const to = recipients === null ? [] : [null, recipients.map((recipient) => pad(recipient))];
  const filter = {
    address: [...byAddress.keys()] as Address[],
    topics: [TRANSFER, ...to],
    fromBlock: toHex(range.from),
    toBlock: toHex(range.to),
    endBlock,
  };
  const logs = await chainCall(chainId, () =>
    registry.client(chainId).request({ method: "eth_getLogs", params: [filter as never] }),
  );
  return logs.flatMap(({ address, topics, data, transactionHash, logIndex, blockNumber }) => {
    const token = byAddress.get(address.toLowerCase());
    const [, from, recipient] = topics;
    if (
      token === undefined ||
      topics.length !== TOPICS ||
      from === undefined ||
      recipient === undefined
    )
      return [];
    // These fields are null in logs of a block that is not mined yet.
    if (transactionHash === null || logIndex === null || blockNumber === null) return [];
    if (!isHex(data) || data.length < WORD_HEX_LENGTH) return [];
    const amountBase = BigInt(data.slice(0, WORD_HEX_LENGTH));
    if (amountBase === 0n) return [];
    return [
      {
        ...{
          token,
          from: addressIn(from),
          to: addressIn(recipient),
          amountBase,
          txHash: transactionHash,
        },
        ...{ logIndex: Number(logIndex), blockNumber: BigInt(blockNumber) },
      },
    ];
  });
};

/**
 * Replaces the missing sender of minted tokens by the sender of the transaction.
 * @throws DomainError `chain_unavailable`
 */
export const withMinters = async (
  registry: ChainRegistry,
  chainId: number,
  transfers: readonly TokenTransfer[],
): Promise<TokenTransfer[]> => {
  const hashes = [
    ...new Set(
      transfers.filter(({ from }) => from === zeroAddress).map(({ txHash }) => txHash),
    ),
  ];
  const senders = new Map(
    await Promise.all(
      hashes.map(async (hash) => {
        const { from } = await chainCall(chainId, () =>
          registry.client(chainId).getTransaction({ hash }),
        );
        return [hash, getAddress(from)] as const;
      }),
    ),
  );
  return transfers.map((transfer) => ({
    ...transfer,
    from:
      transfer.from === zeroAddress
        ? (senders.get(transfer.txHash) ?? zeroAddress)
        : transfer.from,
  }));
};
