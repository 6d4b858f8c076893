import { chainCall, type ChainRegistry } from "@/lib/chains/registry";
import type { Head } from "./legs/step";

/** Caches the latest block of each chain for one poll interval, for any number of operations. */
export const createHeads = (registry: ChainRegistry) => {
  const known = new Map<number, { readonly until: number; readonly head: Promise<Head> }>();

  const ask = async (chainId: number): Promise<Head> => {
    const block = await chainCall(chainId, () => registry.client(chainId).getBlock({ blockTag: "latest" }));
    return { number: block.number, timestamp: block.timestamp };
  };

  return {
    /**
     * A block of the past.
     * @throws DomainError `chain_unavailable`; the node's error when it does not have the block
     */
    block: async (chainId: number, blockNumber: bigint): Promise<Head> => {
      const block = await chainCall(chainId, () => registry.client(chainId).getBlock({ blockNumber }));
      return { number: block.number, timestamp: block.timestamp };
    },

    head: (chainId: number): Promise<Head> => {
      const cached = known.get(chainId);
      if (cached && cached.until > performance.now()) return cached.head;
      const head = ask(chainId);
      known.set(chainId, { until: performance.now() + registry.get(chainId).pollIntervalMs / 2, head });
      head.catch(() => known.delete(chainId));
      return head;
    },
  };
};
