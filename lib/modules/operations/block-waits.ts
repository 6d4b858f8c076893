import { setTimeout as sleep } from "node:timers/promises";
import type { Head } from "./legs/step";

export interface BlockWaitsDeps {
  /** @throws when the chain does not answer */
  head(chainId: number): Promise<Head>;
  pollIntervalMs(chainId: number): number;
}

/**
 * Wakes all work that waits for a chain when the chain has a new block, all at the same time, so that its reads and writes are made in
 * sets.
 * One loop for each chain asks for its block, while somebody waits. A block may be missed between a look and the wait after it, so each
 * wait also ends by itself.
 */
export const createBlockWaits = ({ head, pollIntervalMs }: BlockWaitsDeps) => {
  const waiting = new Map<number, Set<() => void>>();
  const known = new Map<number, bigint>();

  /** Undefined while the chain does not answer. */
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
    // The watch starts in a later microtask, when the caller has put the first waker into the set.
    void Promise.resolve().then(() => watch(chainId, wakers));
    return wakers;
  };

  /** Resolves with the next block of one of the chains, after `ms` milliseconds, or when `signal` aborts. Never rejects. */
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
