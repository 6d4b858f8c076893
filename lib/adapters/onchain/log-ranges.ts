import { askChain, type OnchainDeps } from "./chain-access";

interface BlockSpan {
  readonly from: bigint;
  readonly to: bigint;
}

interface Scan<T> {
  readonly span: BlockSpan;
  readonly visit: (range: BlockSpan) => Promise<T | null>;
}

/**
 * Calls `visit` on ranges of `logRangeBlocks` blocks from the lower end of the span until a visit finds something, for
 * at most `logRangesMax` ranges. `scannedTo` is the last block that was visited.
 */
export const scanBlocks = async <T>(
  { tuning }: Pick<OnchainDeps, "tuning">,
  { span, visit }: Scan<T>,
): Promise<{ readonly found: T | null; readonly scannedTo: bigint }> => {
  let from = span.from;
  for (let ranges = 0; ranges < tuning.logRangesMax && from <= span.to; ranges += 1) {
    const end = from + tuning.logRangeBlocks - 1n;
    const to = end < span.to ? end : span.to;
    const found = await visit({ from, to });
    if (found !== null) return { found, scannedTo: to };
    from = to + 1n;
  }
  return { found: null, scannedTo: from - 1n };
};

interface TimeSearch {
  readonly chainId: number;
  readonly low: bigint;
  readonly high: bigint;
  /** Unix seconds. */
  readonly time: number;
}

/** The first block between `low` and `high` whose time is at or after `time`, by bisection (at most 64 requests). */
export const blockAtTime = async (
  deps: OnchainDeps,
  { chainId, low, high, time }: TimeSearch,
  signal: AbortSignal,
): Promise<bigint> => {
  let [below, above] = [low, high];
  while (below < above) {
    const middle = (below + above) / 2n;
    const block = await askChain(deps, chainId, signal, (client) => client.getBlock({ blockNumber: middle }));
    if (block.timestamp < BigInt(time)) below = middle + 1n;
    else above = middle;
  }
  return below;
};
