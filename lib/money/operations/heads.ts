import { finalBlockNumber } from "@/lib/chain/blocks";
import { setTimeout as sleep } from "node:timers/promises";
import { chainCall, type ChainRegistry } from "@/lib/chain/registry";
import type { HeadRepository } from "./head-repository";
import type { Head } from "./legs/step";

/**
 * Milliseconds for which only one instance may query a chain. Other instances wait this long when
 * that instance dies or its node does not answer.
 */
const ASK_LEASE_MS = 3000;
const WAIT_MS = 50;

interface HeadsDeps {
  readonly registry: ChainRegistry;
  readonly repository: HeadRepository;
}

interface Known {
  until: number;
  readonly head: Promise<Head>;
  /** The number of the newest final block; null until first requested. */
  finalNumber: Promise<bigint | null> | null;
}

interface Answer {
  readonly head: Head;
  /**
   * Milliseconds since the head was stored, by the database's clock; 0 when this instance has just
   * queried the chain.
   */
  readonly ageMs: number;
}

/**
 * The latest block of each chain, at most half a poll interval old. One instance queries the chain
 * and the others read the result from the database, so the load on a node does not grow with the
 * number of instances.
 */
export const createHeads = ({ registry, repository }: HeadsDeps) => {
  const known = new Map<number, Known>();

  const ask = async (chainId: number): Promise<Head> => {
    const block = await chainCall(chainId, () =>
      registry.client(chainId).getBlock({ blockTag: "latest" }),
    );
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

  /**
   * Waits until the stored head is fresh, or queries the chain when this instance gets the lease.
   * The loop ends, because the lease of another querying instance expires.
   */
  const find = async (chainId: number, freshMs: number): Promise<Answer> => {
    for (;;) {
      const asker = crypto.randomUUID();
      if (await repository.claim({ chainId, asker, leaseMs: ASK_LEASE_MS, freshMs }))
        return askForAll(chainId, asker);
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
    const asked: Known = {
      until: Infinity,
      head: found.then(({ head }) => head),
      finalNumber: null,
    };
    known.set(chainId, asked);
    found.then(
      ({ ageMs }) => {
        asked.until = performance.now() + freshMs - ageMs;
      },
      () => known.delete(chainId),
    );
    return asked;
  };

  /**
   * Reads the number of the newest final block.
   * @throws DomainError `chain_unavailable`
   */
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

    /**
     * The number of the newest final block, by the chain's `finality`; null while the chain has no
     * final block.
     */
    finalNumber,

    /**
     * The newest final block; null while the chain has none.
     * @throws DomainError `chain_unavailable`; the node's error when the node does not have the
     * block
     */
    finalBlock: async (chainId: number): Promise<Head | null> => {
      const blockNumber = await finalNumber(chainId);
      if (blockNumber === null) return null;
      const block = await chainCall(chainId, () =>
        registry.client(chainId).getBlock({ blockNumber }),
      );
      return { number: block.number, timestamp: block.timestamp };
    },
  };
};

interface BlockWaitsDeps {
  /**
   * Reads the chain's latest block.
   * @throws when the chain does not answer
   */
  head(chainId: number): Promise<Head>;
  pollIntervalMs(chainId: number): number;
}

/**
 * Wakes everything that waits for a chain when the chain has a new block. All waiters wake
 * together, so that their reads and writes can be batched. Each chain is polled by one loop, and
 * only while somebody waits. A waiter can miss a block that arrives just before its wait, so each
 * wait also has a time limit.
 */
export const createBlockWaits = ({ head, pollIntervalMs }: BlockWaitsDeps) => {
  const waiting = new Map<number, Set<() => void>>();
  const known = new Map<number, bigint>();

  const numberOf = async (chainId: number): Promise<bigint | undefined> => {
    try {
      return (await head(chainId)).number;
    } catch {
      return undefined;
    }
  };

  const watch = async (chainId: number, wakers: ReadonlySet<() => void>): Promise<void> => {
    while (wakers.size > 0) {
      await sleep(pollIntervalMs(chainId));
      const number = await numberOf(chainId);
      if (number === undefined || number === known.get(chainId)) continue;
      known.set(chainId, number);
      for (const wake of [...wakers]) wake();
    }
    waiting.delete(chainId);
  };

  const wakersOf = (chainId: number): Set<() => void> => {
    const found = waiting.get(chainId);
    if (found !== undefined) return found;
    const wakers = new Set<() => void>();
    waiting.set(chainId, wakers);
    // The loop ends when the set is empty, so it starts in a later microtask, after the caller has
    // added the first waker to the set.
    void Promise.resolve().then(() => watch(chainId, wakers));
    return wakers;
  };

  /**
   * Resolves with the next block of one of the chains, after `ms` milliseconds, or when `signal`
   * aborts. Never rejects.
   */
  const wait = (chainIds: readonly number[], ms: number, signal: AbortSignal): Promise<void> =>
    new Promise((resolve) => {
      if (signal.aborted) {
        resolve();
        return;
      }
      const sets = [...new Set(chainIds)].map(wakersOf);
      const timer = setTimeout(finish, ms);
      function finish(): void {
        clearTimeout(timer);
        signal.removeEventListener("abort", finish);
        for (const wakers of sets) wakers.delete(finish);
        resolve();
      }
      for (const wakers of sets) wakers.add(finish);
      signal.addEventListener("abort", finish);
    });

  return { wait };
};

export type BlockWaits = ReturnType<typeof createBlockWaits>;
