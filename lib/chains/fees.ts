import type { PublicClient } from "viem";

/** A base fee grows by at most an eighth per block (EIP-1559): twice the present one lasts for five full blocks. */
const BASE_FEE_FACTOR = 2n;

/** Fees in wei per gas with which a transaction is mined soon. */
export const suggestFees = async (
  client: PublicClient,
): Promise<{ maxFeePerGas: bigint; maxPriorityFeePerGas: bigint }> => {
  const [block, maxPriorityFeePerGas] = await Promise.all([
    client.getBlock({ blockTag: "latest" }),
    client.estimateMaxPriorityFeePerGas(),
  ]);
  return { maxFeePerGas: (block.baseFeePerGas ?? 0n) * BASE_FEE_FACTOR + maxPriorityFeePerGas, maxPriorityFeePerGas };
};
