import { keccak256, toHex } from "viem";
import type { Token } from "@/lib/core/token";
import { chainCall, type ChainRegistry } from "./registry";

const WORD_HEX_LENGTH = 66;
const ADDRESS_HEX_LENGTH = 40;

const BALANCE_EVENTS = [
  "Transfer(address,address,uint256)",
  "Deposit(address,uint256)",
  "Withdrawal(address,uint256)",
];
const TOPICS = BALANCE_EVENTS.map((event) => keccak256(toHex(event)));

/** A change of an owner's balance of a token. `owner` is in lower case. */
export interface BalanceChange {
  readonly owner: string;
  readonly blockNumber: bigint;
}

/**
 * Finds the owners whose balances of ERC-20 tokens changed in a range of blocks, from the tokens'
 * logs. Misses changes of the chain's coin, and of tokens that change balances without an event.
 * @throws DomainError `chain_unavailable`, or the error of a node that refuses the range
 */
export const balanceChanges = async (
  registry: ChainRegistry,
  chainId: number,
  tokens: readonly Token[],
  range: { readonly from: bigint; readonly to: bigint },
): Promise<BalanceChange[]> => {
  const address = tokens.flatMap((token) =>
    token.address === "native" ? [] : [token.address],
  );
  if (address.length === 0 || range.to < range.from) return [];
  const filter = {
    address,
    topics: [TOPICS],
    fromBlock: toHex(range.from),
    toBlock: toHex(range.to),
  };
  const logs = await chainCall(chainId, () =>
    registry.client(chainId).request({ method: "eth_getLogs", params: [filter] }),
  );
  return logs.flatMap(({ topics, blockNumber }) =>
    topics
      .slice(1)
      .filter((topic) => topic.length === WORD_HEX_LENGTH)
      .map((topic) => ({
        owner: `0x${topic.slice(-ADDRESS_HEX_LENGTH).toLowerCase()}`,
        blockNumber: BigInt(blockNumber ?? range.to),
      })),
  );
};
