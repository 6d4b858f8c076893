import { isAddressEqual, type Address } from "viem";
import { chainCall, type ChainRegistry } from "@/lib/chains/registry";
import { markedPaymasterAbi } from "./marked-paymaster";

/**
 * Whether an account may call a contract: the chain's paymaster takes bundles and marks from its markers alone, every other contract from
 * everybody. A yes is remembered.
 */
export const createMarkerCheck = (registry: ChainRegistry) => {
  const markers = new Set<string>();
  return async (chainId: number, from: Address, to: Address): Promise<boolean> => {
    const { paymaster } = registry.get(chainId).contracts;
    const key = `${String(chainId)}:${from}`;
    if (paymaster === undefined || !isAddressEqual(to, paymaster) || markers.has(key)) return true;
    const call = { address: paymaster, abi: markedPaymasterAbi, functionName: "isMarker", args: [from] } as const;
    const isMarker = await chainCall(chainId, () => registry.client(chainId).readContract(call));
    if (isMarker) markers.add(key);
    return isMarker;
  };
};
