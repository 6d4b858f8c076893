import { setTimeout as sleep } from "node:timers/promises";
import { chainCall, type ChainRegistry } from "@/lib/chains/registry";
import type { HeadRepository } from "./head-repository";
import type { Head } from "./legs/step";

/** An instance that died while it asked, or whose node does not answer, keeps the others waiting for this long. */
const ASK_LEASE_MS = 3000;
const WAIT_MS = 50;

export interface HeadsDeps {
  readonly registry: ChainRegistry;
  readonly repository: HeadRepository;
}

interface Answer {
  readonly head: Head;
  /** Of the database's clock when the answer arrived here. */
  readonly ageMs: number;
}

/**
 * The latest block of each chain, at most half a poll interval old, for any number of operations. Of all instances one asks the chain,
 * and the others read its answer from the database: the load on a node does not grow with the instances.
 */
export const createHeads = ({ registry, repository }: HeadsDeps) => {
  const known = new Map<number, { until: number; readonly head: Promise<Head> }>();

  const ask = async (chainId: number): Promise<Head> => {
    const block = await chainCall(chainId, () => registry.client(chainId).getBlock({ blockTag: "latest" }));
    return { number: block.number, timestamp: block.timestamp };
  };

  const askForAll = async (chainId: number, asker: string): Promise<Answer> => {
    try {
      const head = await ask(chainId);
      await repository.store(chainId, asker, head);
      return { head, ageMs: 0 };
    } catch (error) {
      await repository.release(chainId, asker).catch(() => undefined);
      throw error;
    }
  };

  /** It ends: either the stored answer becomes fresh, or the turn of the instance that asks runs out. */
  const find = async (chainId: number, freshMs: number): Promise<Answer> => {
    for (;;) {
      const asker = crypto.randomUUID();
      if (await repository.claim({ chainId, asker, leaseMs: ASK_LEASE_MS, freshMs })) return askForAll(chainId, asker);
      const answer = await repository.read(chainId);
      if (answer !== null && answer.ageMs < freshMs) return answer;
      await sleep(Math.min(WAIT_MS, freshMs / 2));
    }
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
      const freshMs = registry.get(chainId).pollIntervalMs / 2;
      const found = find(chainId, freshMs);
      const entry = { until: Infinity, head: found.then(({ head }) => head) };
      known.set(chainId, entry);
      found.then(
        ({ ageMs }) => {
          entry.until = performance.now() + freshMs - ageMs;
        },
        () => known.delete(chainId),
      );
      return entry.head;
    },
  };
};
