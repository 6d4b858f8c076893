/** The highest network fee that the service pays on a chain. */
import { parseGwei } from "viem";
import type { ChainConfig } from "@/lib/config/chains";
import type { CappedFees } from "@/lib/core/capped-fees";
import { suggestFees, type SuggestedFees } from "./fees";
import { chainCall, type ChainRegistry } from "./registry";

const lower = (one: bigint, other: bigint): bigint => (one < other ? one : other);

/**
 * Limits fees to the chain's cap. The maximum may be cut while the price of now is below the cap: EIP-1559 charges the base
 * fee and the tip, and the rest of the maximum is only room for the next blocks.
 */
export const capFees = ({ feeCapGwei }: Pick<ChainConfig, "feeCapGwei">, suggested: SuggestedFees): CappedFees => {
  const { maxFeePerGas, maxPriorityFeePerGas, pricePerGas } = suggested;
  if (feeCapGwei === undefined) return { maxFeePerGas, maxPriorityFeePerGas, aboveCap: null };
  const capPerGas = parseGwei(feeCapGwei);
  return {
    maxFeePerGas: lower(maxFeePerGas, capPerGas),
    maxPriorityFeePerGas: lower(maxPriorityFeePerGas, capPerGas),
    aboveCap: pricePerGas > capPerGas ? { pricePerGas, capPerGas } : null,
  };
};

/** The chain's fees of now, up to its cap. @throws DomainError `chain_unavailable` */
export const feesWithinCap = async (
  registry: Pick<ChainRegistry, "get" | "client">,
  chainId: number,
): Promise<CappedFees> =>
  capFees(registry.get(chainId), await chainCall(chainId, () => suggestFees(registry.client(chainId))));
