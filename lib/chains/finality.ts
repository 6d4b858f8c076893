import type { ChainRegistry } from "./registry";

/**
 * The newest block that counts as final when `latest` is the newest: the chain's own `safe` or `finalized` block where its configuration
 * says so (`finality`), otherwise the block that is `confirmations` deep. Null while the chain has no such block.
 */
export const finalBlockNumber = async (
  registry: Pick<ChainRegistry, "get" | "client">,
  chainId: number,
  latest: bigint,
): Promise<bigint | null> => {
  const { finality, confirmations } = registry.get(chainId);
  if (finality === "confirmations") {
    const number = latest - BigInt(confirmations - 1);
    return number < 0n ? null : number;
  }
  const { number } = await registry.client(chainId).getBlock({ blockTag: finality });
  return number < latest ? number : latest;
};
