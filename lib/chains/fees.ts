import type { PublicClient } from "viem";

/** A base fee grows by at most an eighth per block (EIP-1559): twice the present one lasts for five full blocks. */
const BASE_FEE_FACTOR = 2n;

/** In wei per gas. */
export interface SuggestedFees {
  readonly maxFeePerGas: bigint;
  readonly maxPriorityFeePerGas: bigint;
  /** The price for a transaction in the next block now: base fee and tip. */
  readonly pricePerGas: bigint;
}

/** Fees in wei per gas with which a transaction is mined soon. */
export const suggestFees = async (client: PublicClient): Promise<SuggestedFees> => {
  const [block, maxPriorityFeePerGas] = await Promise.all([
    client.getBlock({ blockTag: "latest" }),
    client.estimateMaxPriorityFeePerGas(),
  ]);
  const baseFee = block.baseFeePerGas ?? 0n;
  return {
    maxFeePerGas: baseFee * BASE_FEE_FACTOR + maxPriorityFeePerGas,
    maxPriorityFeePerGas,
    pricePerGas: baseFee + maxPriorityFeePerGas,
  };
};
