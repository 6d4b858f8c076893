import { askChain, type OnchainDeps } from "./chain-access";

interface BlockSpan {
  readonly from: bigint;
  readonly to: bigint;
}

interface Scan<T> {
  readonly chainId: number;
  readonly span: BlockSpan;
  readonly visit: (range: BlockSpan) => Promise<T | null>;
}

/**
 * Calls `visit` for successive ranges of the chain's `logRangeBlocks`, from the start of the span,
 * until a visit finds something or `logRangesMax` ranges were visited. `scannedTo` is the last
 * visited block.
 */
export const scanBlocks = async <T>(
  { registry, tuning }: Pick<OnchainDeps, "registry" | "tuning">,
  { chainId, span, visit }: Scan<T>,
): Promise<{ readonly found: T | null; readonly scannedTo: bigint }> => {
  let from = span.from;
  for (let ranges = 0; ranges < tuning.logRangesMax && from <= span.to; ranges += 1) {
    const end = from + registry.logRangeBlocks(chainId) - 1n;
    const to = end < span.to ? end : span.to;
    const found = await visit({ from, to });
    if (found !== null) return { found, scannedTo: to };
    from = to + 1n;
  }
  return { found: null, scannedTo: from - 1n };
};

/**
 * For each deposit, the block at which its search continues. The positions are lost on restart,
 * and the searches then start over.
 */
export const createPositions = ({
  searchesRememberedMax,
}: Pick<OnchainDeps["tuning"], "searchesRememberedMax">) => {
  const positions = new Map<string, bigint>();
  return {
    get: (key: string): bigint | undefined => positions.get(key),
    forget: (key: string): void => {
      positions.delete(key);
    },
    remember: (key: string, block: bigint): void => {
      positions.delete(key);
      positions.set(key, block);
      const oldest = positions.keys().next();
      if (positions.size > searchesRememberedMax && oldest.done !== true)
        positions.delete(oldest.value);
    },
  };
};

interface TimeSearch {
  readonly chainId: number;
  readonly low: bigint;
  readonly high: bigint;
  /** In Unix seconds. */
  readonly time: number;
}

/** The first block from `low` to `high` at or after `time`, by bisection (at most 64 requests). */
export const blockAtTime = async (
  deps: OnchainDeps,
  { chainId, low, high, time }: TimeSearch,
  signal: AbortSignal,
): Promise<bigint> => {
  let [below, above] = [low, high];
  while (below < above) {
    const middle = (below + above) / 2n;
    const block = await askChain(deps, chainId, signal, (client) =>
      client.getBlock({ blockNumber: middle }),
    );
    if (block.timestamp < BigInt(time)) below = middle + 1n;
    else above = middle;
  }
  return below;
};
