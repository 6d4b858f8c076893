import type { Clock } from "@/lib/core/clock";
import type { ReadinessProbe } from "@/lib/core/readiness";
import type { ChainRegistry } from "./registry";

interface HeadProbeDeps {
  readonly registry: ChainRegistry;
  readonly clock: Clock;
  readonly monotonicMs?: () => number;
}

/** When this many expected blocks are missing, the chain counts as stalled. */
const BLOCKS_MISSED_MAX = 10;
const STILL_MIN_MS = 30_000;

interface Seen {
  readonly number: bigint;
  readonly sinceMs: number;
  /** Whether the newest block changed since the first probe. */
  readonly moved: boolean;
}

/**
 * Reads a chain's newest block, and tells whether new blocks still arrive: a node that answers but stands still is
 * useless. It compares the blocks seen so far; when it has seen only one block, it compares that block's timestamp with
 * the clock.
 */
export const createHeadProbe = (
  { registry, clock, monotonicMs = () => performance.now() }: HeadProbeDeps,
  chainId: number,
): ReadinessProbe => {
  const { name, blockTimeMs } = registry.get(chainId);
  const stillMaxMs = Math.max(STILL_MIN_MS, BLOCKS_MISSED_MAX * blockTimeMs);
  let seen: Seen | null = null;
  return {
    name: `chain:${String(chainId)}`,
    check: async () => {
      const { number, timestamp } = await registry.client(chainId).getBlock({ blockTag: "latest" });
      const nowMs = monotonicMs();
      if (seen?.number !== number) seen = { number, sinceMs: nowMs, moved: seen !== null };
      const watchedMs = nowMs - seen.sinceMs;
      const stillMs = seen.moved ? watchedMs : Math.max(watchedMs, clock.now().getTime() - Number(timestamp) * 1000);
      if (stillMs > stillMaxMs)
        throw new Error(
          `${name} stands still: block ${String(number)} has been the newest for ${String(Math.round(stillMs / 1000))} s. ` +
            `Look at its node, or give RPC_URL_${String(chainId)} another one.`,
        );
      return `${name}, block ${String(number)}`;
    },
  };
};
