import { decodeFunctionResult, parseAbi, type Address, type Hex, type PublicClient } from "viem";
import { encodeCall } from "@/lib/chains/encode-call";
import { DomainError } from "@/lib/core/errors";
import type { UserOperation } from "@/lib/ports/bundler";
import { balanceCall, type Watched } from "./wallet-calls";

const multicall3 = parseAbi([
  "struct Call3 { address target; bool allowFailure; bytes callData; }",
  "struct Result { bool success; bytes returnData; }",
  "function aggregate3(Call3[] calls) payable returns (Result[] returnData)",
]);

const balanceRead = (multicall: Address, watched: Watched): Call3 => {
  const { to, data } = balanceCall(multicall, watched);
  return call3(to, data);
};

/** By client, because each belongs to one chain. A contract's code does not change. */
const multicallCodes = new WeakMap<PublicClient, Hex>();

const multicallCode = async (client: PublicClient, address: Address): Promise<Hex> => {
  const known = multicallCodes.get(client);
  if (known !== undefined) return known;
  const code = (await client.getCode({ address })) ?? "0x";
  if (code !== "0x") multicallCodes.set(client, code);
  return code;
};

interface Call3 {
  readonly target: Address;
  readonly allowFailure: boolean;
  readonly callData: Hex;
}

const call3 = (target: Address, callData: Hex): Call3 => ({ target, allowFailure: false, callData });
/** Another operation may have deployed the account since this one was drafted. */
const deploymentCall = (factory: Address, factoryData: Hex): Call3 => ({
  ...call3(factory, factoryData),
  allowFailure: true,
});

/**
 * Reads balances, makes the account's calls, and reads the balances again, in one `eth_call`. Multicall3's code
 * replaces EntryPoint's, from which an account accepts calls without a signature. An account that is not deployed yet
 * is deployed first.
 */
export const balanceChanges = async (
  client: PublicClient,
  contracts: { multicall3: Address; entryPoint: Address },
  { sender, callData, factory, factoryData }: UserOperation,
  watched: readonly Watched[],
): Promise<bigint[]> => {
  const reads = watched.map((each) => balanceRead(contracts.multicall3, each));
  const deployment = factory && factoryData ? [deploymentCall(factory, factoryData)] : [];
  const calls = [...deployment, ...reads, call3(sender, callData), ...reads];
  const code = await multicallCode(client, contracts.multicall3);
  const { data } = await client.call({
    to: contracts.entryPoint,
    data: encodeCall({ abi: multicall3, functionName: "aggregate3", args: [calls] }),
    stateOverride: [{ address: contracts.entryPoint, code }],
  });
  const results = decodeFunctionResult({ abi: multicall3, functionName: "aggregate3", data: data ?? "0x" });
  const value = (index: number): bigint => {
    const answer = results[index]?.returnData;
    if (answer === undefined || answer === "0x")
      throw new DomainError(
        "simulation_failed",
        "A token's contract did not answer with its balance. Nothing was sent; try again shortly, or send another token.",
      );
    return BigInt(answer);
  };
  const first = deployment.length;
  return watched.map((_, index) => value(first + reads.length + 1 + index) - value(first + index));
};
