import { finalBlockNumber } from "@/lib/chains/finality";
import { chainCall, type ChainRegistry } from "@/lib/chains/registry";
import type { Head } from "./legs/step";

interface Known {
  readonly until: number;
  readonly head: Promise<Head>;
  /** Asked for when it is first needed. */
  finalNumber: Promise<bigint | null> | null;
}

/** Caches the latest block of each chain for one poll interval, for any number of operations. */
export const createHeads = (registry: ChainRegistry) => {
  const known = new Map<number, Known>();

  const ask = async (chainId: number): Promise<Head> => {
    const block = await chainCall(chainId, () => registry.client(chainId).getBlock({ blockTag: "latest" }));
    return { number: block.number, timestamp: block.timestamp };
  };

  const latest = (chainId: number): Known => {
    const cached = known.get(chainId);
    if (cached && cached.until > performance.now()) return cached;
    const head = ask(chainId);
    const until = performance.now() + registry.get(chainId).pollIntervalMs / 2;
    const asked: Known = { until, head, finalNumber: null };
    known.set(chainId, asked);
    head.catch(() => known.delete(chainId));
    return asked;
  };

  /** @throws DomainError `chain_unavailable` */
  const finalNumber = (chainId: number): Promise<bigint | null> => {
    const asked = latest(chainId);
    asked.finalNumber ??= asked.head.then(({ number }) =>
      chainCall(chainId, () => finalBlockNumber(registry, chainId, number)),
    );
    asked.finalNumber.catch(() => known.delete(chainId));
    return asked.finalNumber;
  };

  return {
    head: (chainId: number): Promise<Head> => latest(chainId).head,

    /** The newest block that is final, by the chain's `finality`; null while there is none. */
    finalNumber,

    /**
     * The same with its time.
     * @throws DomainError `chain_unavailable`; the node's error when it does not have the block
     */
    finalBlock: async (chainId: number): Promise<Head | null> => {
      const blockNumber = await finalNumber(chainId);
      if (blockNumber === null) return null;
      const block = await chainCall(chainId, () => registry.client(chainId).getBlock({ blockNumber }));
      return { number: block.number, timestamp: block.timestamp };
    },
  };
};
