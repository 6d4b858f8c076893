import { decodeFunctionResult, encodeFunctionData, erc20Abi, type Address, type BlockTag, type Hex } from "viem";
import { DomainError } from "@/lib/core/errors";
import type { Token } from "@/lib/core/token";
import { multicall3Abi } from "./abis/multicall3";
import { chainCall, type ChainRegistry } from "./registry";

const WORD_HEX_LENGTH = 66;
/** 800 calls are 180 kB of request and some 20 million gas, within what public nodes allow for one `eth_call`. */
const CALLS_AT_ONCE_MAX = 800;

/** Balances of one chain. */
export interface ChainBalances {
  readonly blockNumber: bigint;
  /** Time of that block. */
  readonly at: Date;
  /** Base units; null where the token's contract did not answer with a number. */
  get(owner: Address, token: Token): bigint | null;
}

interface Call {
  readonly target: Address;
  readonly callData: Hex;
}

/** What each call answered, null where it failed, and the block they are of. */
interface Reading {
  readonly words: readonly (bigint | null)[];
  readonly blockNumber: bigint;
  readonly timestamp: bigint;
}

const balanceCall = (multicall: Address, owner: Address, token: Token): Call =>
  token.address === "native"
    ? {
        target: multicall,
        callData: encodeFunctionData({ abi: multicall3Abi, functionName: "getEthBalance", args: [owner] }),
      }
    : {
        target: token.address,
        callData: encodeFunctionData({ abi: erc20Abi, functionName: "balanceOf", args: [owner] }),
      };

// A contract that answers with less than a word, or none at all, says nothing about a balance.
const firstWord = ({ success, returnData }: { success: boolean; returnData: Hex }): bigint | null =>
  success && returnData.length >= WORD_HEX_LENGTH ? BigInt(returnData.slice(0, WORD_HEX_LENGTH)) : null;

const read = async (
  registry: ChainRegistry,
  chainId: number,
  calls: readonly Call[],
  blockTag: BlockTag,
): Promise<Reading> => {
  const { name, contracts } = registry.get(chainId);
  const target = contracts.multicall3;
  const all = [
    { target, callData: encodeFunctionData({ abi: multicall3Abi, functionName: "getBlockNumber" }) },
    { target, callData: encodeFunctionData({ abi: multicall3Abi, functionName: "getCurrentBlockTimestamp" }) },
    ...calls,
  ].map((call) => ({ ...call, allowFailure: true }));
  const data = encodeFunctionData({ abi: multicall3Abi, functionName: "aggregate3", args: [all] });
  const answer = await chainCall(chainId, () => registry.client(chainId).call({ to: target, data, blockTag }));
  const results =
    answer.data === undefined
      ? []
      : decodeFunctionResult({ abi: multicall3Abi, functionName: "aggregate3", data: answer.data });
  const [blockNumber, timestamp, ...words] = results.map(firstWord);
  if (blockNumber == null || timestamp == null)
    throw new DomainError("chain_unavailable", `${name} did not answer as expected. Try again shortly.`);
  return { words, blockNumber, timestamp };
};

/**
 * Every owner's balance of every token, and the block they are of, in one round trip: one `eth_call`, or a few at once for
 * more than 800 balances, of which the oldest block is told. A token whose contract reverts costs its own answer alone.
 * @throws DomainError `chain_unavailable`, `unsupported_chain`
 */
export const readBalances = async (
  registry: ChainRegistry,
  chainId: number,
  owners: readonly Address[],
  tokens: readonly Token[],
  blockTag: BlockTag = "latest",
): Promise<ChainBalances> => {
  const { multicall3 } = registry.get(chainId).contracts;
  const calls = owners.flatMap((owner) => tokens.map((token) => balanceCall(multicall3, owner, token)));
  const chunks = Array.from({ length: Math.max(1, Math.ceil(calls.length / CALLS_AT_ONCE_MAX)) }, (_, index) =>
    calls.slice(index * CALLS_AT_ONCE_MAX, (index + 1) * CALLS_AT_ONCE_MAX),
  );
  const readings = await Promise.all(chunks.map((chunk) => read(registry, chainId, chunk, blockTag)));
  const oldest = readings.reduce((first, each) => (each.blockNumber < first.blockNumber ? each : first));
  const words = readings.flatMap((reading) => reading.words);
  const ownerIndex = new Map(owners.map((owner, index) => [owner.toLowerCase(), index]));
  const tokenIndex = new Map(tokens.map((token, index) => [token.address.toLowerCase(), index]));
  return {
    blockNumber: oldest.blockNumber,
    at: new Date(Number(oldest.timestamp) * 1000),
    get: (owner, token) => {
      const row = ownerIndex.get(owner.toLowerCase());
      const column = tokenIndex.get(token.address.toLowerCase());
      return row === undefined || column === undefined ? null : (words[row * tokens.length + column] ?? null);
    },
  };
};
