import { decodeFunctionResult, encodeFunctionData, erc20Abi, parseAbi, type Address, type Hex } from "viem";
import type { Token } from "@/lib/core/token";
import { chainCall, type ChainRegistry } from "./registry";

const multicall3 = parseAbi([
  "struct Call3 { address target; bool allowFailure; bytes callData; }",
  "struct Result { bool success; bytes returnData; }",
  "function aggregate3(Call3[] calls) payable returns (Result[] returnData)",
  "function getEthBalance(address addr) view returns (uint256 balance)",
  "function getBlockNumber() view returns (uint256 blockNumber)",
  "function getCurrentBlockTimestamp() view returns (uint256 timestamp)",
]);

const WORD_HEX_LENGTH = 66;

/** Balances of one chain at one block. */
export interface ChainBalances {
  readonly blockNumber: bigint;
  /** Time of that block. */
  readonly at: Date;
  /** Base units; null where the token's contract did not answer with a number. */
  get(owner: Address, token: Token): bigint | null;
}

const balanceCall = (multicall: Address, owner: Address, token: Token): { target: Address; callData: Hex } =>
  token.address === "native"
    ? {
        target: multicall,
        callData: encodeFunctionData({ abi: multicall3, functionName: "getEthBalance", args: [owner] }),
      }
    : {
        target: token.address,
        callData: encodeFunctionData({ abi: erc20Abi, functionName: "balanceOf", args: [owner] }),
      };

/**
 * Every owner's balance of every token, with the block they are of, in one `eth_call` whatever their number. A token whose
 * contract reverts costs its own answer, not the others'.
 * @throws DomainError `chain_unavailable`
 */
export const readBalances = async (
  registry: ChainRegistry,
  chainId: number,
  owners: readonly Address[],
  tokens: readonly Token[],
): Promise<ChainBalances> => {
  const { multicall3: target } = registry.get(chainId).contracts;
  const calls = [
    { target, callData: encodeFunctionData({ abi: multicall3, functionName: "getBlockNumber" }) },
    { target, callData: encodeFunctionData({ abi: multicall3, functionName: "getCurrentBlockTimestamp" }) },
    ...owners.flatMap((owner) => tokens.map((token) => balanceCall(target, owner, token))),
  ].map((call) => ({ ...call, allowFailure: true }));
  const { data } = await chainCall(chainId, () =>
    registry.client(chainId).call({
      to: target,
      data: encodeFunctionData({ abi: multicall3, functionName: "aggregate3", args: [calls] }),
    }),
  );
  const results = decodeFunctionResult({ abi: multicall3, functionName: "aggregate3", data: data ?? "0x" });
  const word = (index: number): bigint | null => {
    const result = results[index];
    // A contract that answers with less than a word, or none at all, says nothing about a balance.
    if (!result?.success || result.returnData.length < WORD_HEX_LENGTH) return null;
    return BigInt(result.returnData.slice(0, WORD_HEX_LENGTH));
  };
  const ownerIndex = new Map(owners.map((owner, index) => [owner.toLowerCase(), index]));
  const tokenIndex = new Map(tokens.map((token, index) => [token.address, index]));
  return {
    blockNumber: word(0) ?? 0n,
    at: new Date(Number(word(1) ?? 0n) * 1000),
    get: (owner, token) => {
      const [row, column] = [ownerIndex.get(owner.toLowerCase()), tokenIndex.get(token.address)];
      return row === undefined || column === undefined ? null : word(2 + row * tokens.length + column);
    },
  };
};
