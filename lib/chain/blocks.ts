import { chainCall, type ChainRegistry } from "./registry";
import type { Clock } from "@/lib/core/clock";
import type { ReadinessProbe } from "@/lib/core/readiness";

const HALVINGS_MAX = 64;

/**
 * The newest block at or before a time; 0 when there is none.
 * @throws DomainError `chain_unavailable`
 */
export const blockBefore = async (
  registry: Pick<ChainRegistry, "client">,
  chainId: number,
  { at, head }: { readonly at: Date; readonly head: bigint },
): Promise<bigint> => {
  const seconds = BigInt(Math.floor(at.getTime() / 1000));
  const timeOf = async (blockNumber: bigint): Promise<bigint> =>
    (await chainCall(chainId, () => registry.client(chainId).getBlock({ blockNumber })))
      .timestamp;
  let [low, high] = [0n, head];
  for (let halvings = 0; low < high && halvings < HALVINGS_MAX; halvings += 1) {
    const middle = (low + high + 1n) / 2n;
    if ((await timeOf(middle)) <= seconds) low = middle;
    else high = middle - 1n;
  }
  return low;
};

/**
 * The newest final block when `latest` is the newest block: the chain's own `safe` or `finalized`
 * block if so configured (`finality`), otherwise the block with `confirmations` confirmations. Null
 * while the chain has no such block.
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

interface HeadProbeDeps {
  readonly registry: ChainRegistry;
  readonly clock: Clock;
  readonly monotonicMs?: () => number;
}

/**
 * A chain counts as stalled when its newest block stays the same for longer than this many block
 * times, and for longer than `STILL_MIN_MS`.
 */
const BLOCKS_MISSED_MAX = 10;
const STILL_MIN_MS = 30_000;

interface Seen {
  readonly number: bigint;
  readonly sinceMs: number;
  /** Whether a probe has seen the newest block change. */
  readonly moved: boolean;
}

/**
 * Reads a chain's newest block and checks that new blocks still arrive, because a node can answer
 * although it no longer follows the chain. Compares the blocks of several probes. Until it has seen
 * a second block, it compares the timestamp of the first with the clock.
 */
export const createHeadProbe = (
  { registry, clock, monotonicMs = () => performance.now() }: HeadProbeDeps,
  chainId: number,
): ReadinessProbe => {
  const { name } = registry.get(chainId);
  let seen: Seen | null = null;
  return {
    name: `chain:${String(chainId)}`,
    check: async () => {
      const { number, timestamp } = await registry
        .client(chainId)
        .getBlock({ blockTag: "latest" });
      const nowMs = monotonicMs();
      const { blockTimeMs } = registry.get(chainId);
      const stillMaxMs = Math.max(STILL_MIN_MS, BLOCKS_MISSED_MAX * blockTimeMs);
      if (seen?.number !== number) seen = { number, sinceMs: nowMs, moved: seen !== null };
      const watchedMs = nowMs - seen.sinceMs;
      const stillMs = seen.moved
        ? watchedMs
        : Math.max(watchedMs, clock.now().getTime() - Number(timestamp) * 1000);
      if (stillMs > stillMaxMs)
        throw new Error(
          `${name} stands still: block ${String(number)} has been the newest for ${String(Math.round(stillMs / 1000))} s. ` +
            `Look at its node, or give RPC_URL_${String(chainId)} another one.`,
        );
      return `${name}, block ${String(number)}`;
    },
  };
};
