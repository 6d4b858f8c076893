import { finalBlockNumber } from "@/lib/chains/finality";
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

interface Known {
  until: number;
  readonly head: Promise<Head>;
  /** Asked for when it is first needed. */
  finalNumber: Promise<bigint | null> | null;
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
  const known = new Map<number, Known>();

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

  /** The loop ends: either the stored answer becomes fresh, or the turn of the instance that asks runs out. */
  const find = async (chainId: number, freshMs: number): Promise<Answer> => {
    for (;;) {
      const asker = crypto.randomUUID();
      if (await repository.claim({ chainId, asker, leaseMs: ASK_LEASE_MS, freshMs })) return askForAll(chainId, asker);
      const answer = await repository.read(chainId);
      if (answer !== null && answer.ageMs < freshMs) return answer;
      await sleep(Math.min(WAIT_MS, freshMs / 2));
    }
  };

  const latest = (chainId: number): Known => {
    const cached = known.get(chainId);
    if (cached && cached.until > performance.now()) return cached;
    const freshMs = registry.get(chainId).pollIntervalMs / 2;
    const found = find(chainId, freshMs);
    const asked: Known = { until: Infinity, head: found.then(({ head }) => head), finalNumber: null };
    known.set(chainId, asked);
    found.then(
      ({ ageMs }) => {
        asked.until = performance.now() + freshMs - ageMs;
      },
      () => known.delete(chainId),
    );
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
