import { decodeFunctionResult, encodeFunctionData, type Hex } from "viem";
import { DomainError } from "@/lib/core/errors";
import { quoterV2Abi } from "./plan";
import type { ReadCall } from "@/lib/chain/aggregate3";
import { type OnchainDeps, readMany } from "./chain-access";
import {
  disjointSet,
  estimateOut,
  findPaths,
  impactBps,
  isRoundedAway,
  type Path,
  type Pool,
  type PoolBook,
  rankPaths,
  spotOutScaled,
} from "./pool-book";

/**
 * `outputs[i][k]` is the output of path i for k steps of the amount, or null when it was not
 * queried. `outputs[i][0]` counts as 0.
 */
type OutputTable = readonly (readonly (bigint | null)[])[];

/**
 * The best way to distribute `steps` equal steps over the paths, by dynamic programming. Returns
 * the number of steps of each path (they sum to `steps`), or null when the known entries cannot sum
 * to it. If `outputs[i][steps]` is known for every path, the result is never worse than the best
 * single path.
 */
export const bestSplit = (outputs: OutputTable, steps: number): readonly number[] | null => {
  let best: (bigint | null)[] = Array.from({ length: steps + 1 }, (_, used) =>
    used === 0 ? 0n : null,
  );
  const choices: (number | null)[][] = [];
  for (const outs of outputs) {
    const next: (bigint | null)[] = Array.from({ length: steps + 1 }, () => null);
    const choice: (number | null)[] = Array.from({ length: steps + 1 }, () => null);
    for (let used = 0; used <= steps; used += 1) {
      const before = best[used] ?? null;
      if (before === null) continue;
      for (let take = 0; used + take <= steps; take += 1) {
        const out = take === 0 ? 0n : (outs[take] ?? null);
        if (out === null) continue;
        const total = before + out;
        const known = next[used + take] ?? null;
        if (known === null || total > known) {
          next[used + take] = total;
          choice[used + take] = take;
        }
      }
    }
    best = next;
    choices.push(choice);
  }
  return walkBack(choices, steps);
};

const walkBack = (
  choices: readonly (readonly (number | null)[])[],
  steps: number,
): readonly number[] | null => {
  const taken: number[] = [];
  let left = steps;
  for (const choice of choices.toReversed()) {
    const take = choice[left] ?? null;
    if (take === null) return null;
    taken.unshift(take);
    left -= take;
  }
  return left === 0 ? taken : null;
};

/** The amount of `step` of `steps` equal steps, rounded down. */
export const gridAmount = (amount: bigint, step: number, steps: number): bigint =>
  (amount * BigInt(step)) / BigInt(steps);

/**
 * Divides `total` in proportion to `weights`. Each part is rounded down, and the largest part gets
 * the remainder, so that the parts sum to `total` exactly.
 */
export const shareOut = (total: bigint, weights: readonly bigint[]): readonly bigint[] => {
  const sum = weights.reduce((a, b) => a + b, 0n);
  if (sum === 0n) throw new RangeError("Weights that sum to nothing cannot share an amount.");
  const parts = weights.map((weight) => (total * weight) / sum);
  const largest = weights.reduce(
    (best, weight, index) => (weight > (weights[best] ?? 0n) ? index : best),
    0,
  );
  const rest = total - parts.reduce((a, b) => a + b, 0n);
  return parts.map((part, index) => (index === largest ? part + rest : part));
};

/**
 * Divides `minimum` in proportion to the expected outputs, each part rounded up. The parts
 * guarantee at least `minimum`. No part exceeds its expected output unless `minimum` is above the
 * sum of `expected`.
 */
export const shareMinima = (
  minimum: bigint,
  expected: readonly bigint[],
): readonly bigint[] => {
  const sum = expected.reduce((a, b) => a + b, 0n);
  if (sum === 0n)
    throw new RangeError("Expected outputs that sum to nothing cannot share a minimum.");
  return expected.map((out) => (minimum * out + sum - 1n) / sum);
};

/**
 * A trade on one chain, as quoted by the quoter contract. Token addresses are in lower case,
 * amounts in base units.
 */
export interface SwapQuote {
  readonly amountIn: bigint;
  readonly amountOut: bigint;
  readonly shares: readonly SwapQuoteShare[];
  readonly impactBps: number;
}

interface SwapQuoteShare {
  readonly path: Path;
  readonly amountIn: bigint;
  readonly amountOut: bigint;
}

interface SwapWish {
  readonly chainId: number;
  readonly tokenIn: string;
  readonly tokenOut: string;
  readonly amountIn: bigint;
}

export interface SwapFinder {
  /**
   * Possible trades, best first: a split if it is better by enough, then single paths.
   * @throws DomainError `no_route` when no pools connect the tokens or the amount is too small,
   * `insufficient_liquidity` when the pools are too shallow, `chain_unavailable`
   */
  find(wish: SwapWish, signal: AbortSignal): Promise<readonly SwapQuote[]>;
  /** Estimates the output without the quoter; 0 when no path is known. Only for ranking. */
  estimate(wish: SwapWish, signal: AbortSignal): Promise<bigint>;
}

// The bounds of TickMath. A swap that stops at one of the bounds has run out of liquidity before
// its whole input was used.
const SQRT_PRICE_LOWEST = 4295128740n;
const SQRT_PRICE_HIGHEST = 1461446703485210103287273052203988822378723970341n;

/** Packs a path for the router and the quoter: tokenIn, fee, token, fee, … tokenOut. */
export const encodePath = (
  hops: readonly { tokenIn: string; tokenOut: string; fee: number }[],
): Hex => {
  const parts = hops.flatMap(({ tokenIn, tokenOut, fee }, index) => {
    const rest = `${fee.toString(16).padStart(6, "0")}${tokenOut.slice(2)}`;
    return index === 0 ? [tokenIn.slice(2), rest] : [rest];
  });
  return `0x${parts.join("")}`;
};

const hopsOf = (path: Path): { tokenIn: string; tokenOut: string; fee: number }[] =>
  path.map(({ tokenIn, tokenOut, pool }) => ({ tokenIn, tokenOut, fee: pool.fee }));

const decodeQuote = (data: Hex | null | undefined): bigint | null => {
  if (data === null || data === undefined) return null;
  const [amountOut, pricesAfter] = decodeFunctionResult({
    abi: quoterV2Abi,
    functionName: "quoteExactInput",
    data,
  });
  const exhausted = pricesAfter.some(
    (price) => price <= SQRT_PRICE_LOWEST || price >= SQRT_PRICE_HIGHEST - 1n,
  );
  return exhausted || amountOut === 0n ? null : amountOut;
};

interface QuoteBatch {
  readonly outs: readonly (bigint | null)[];
  /** The chain's pools at the block of the quotes. */
  readonly pools: readonly Pool[];
}

interface PathTrade {
  readonly path: Path;
  readonly amountIn: bigint;
}

const noRoute = (chain: string): DomainError =>
  new DomainError(
    "no_route",
    `No pools on ${chain} connect these two tokens. Nothing was sent; choose other tokens or another chain.`,
  );
const tooShallow = (chain: string): DomainError =>
  new DomainError(
    "insufficient_liquidity",
    `The pools on ${chain} are too shallow for this amount. Nothing was sent; try a smaller amount.`,
  );

const tooSmall = (chain: string): DomainError =>
  new DomainError(
    "no_route",
    `The amount is too small: at the price of the pools on ${chain}, next to nothing would arrive. Nothing was sent; send more at once.`,
  );

interface FinderParts extends OnchainDeps {
  readonly book: PoolBook;
}

const chainName = (parts: FinderParts, chainId: number): string =>
  parts.registry.get(chainId).name;

/**
 * Makes one `eth_call` for all trades and the states of all pools, or several in parallel for long
 * lists.
 */
const ask = async (
  parts: FinderParts,
  chainId: number,
  pools: readonly Pool[],
  trades: readonly PathTrade[],
  signal: AbortSignal,
): Promise<QuoteBatch> => {
  const quoter = parts.registry.get(chainId).contracts.uniswapV3?.quoterV2;
  if (quoter === undefined) throw noRoute(chainName(parts, chainId));
  const calls = trades.map(({ path, amountIn }): ReadCall => ({
    target: quoter,
    callData: encodeFunctionData({
      abi: quoterV2Abi,
      functionName: "quoteExactInput",
      args: [encodePath(hopsOf(path)), amountIn],
    }),
  }));
  const states = parts.book.stateCalls(pools);
  const size = parts.tuning.quotesPerCallMax;
  const chunks = Array.from({ length: Math.ceil(calls.length / size) }, (_, index) =>
    calls.slice(index * size, (index + 1) * size),
  );
  const answers = await Promise.all(
    chunks.map((chunk, index) =>
      readMany(parts, chainId, signal, index === 0 ? [...states, ...chunk] : chunk),
    ),
  );
  const flat = answers.flat();
  return {
    outs: flat.slice(states.length).map(decodeQuote),
    pools: parts.book.learn(chainId, pools, flat.slice(0, states.length)),
  };
};

const pathsOf = (parts: FinderParts, pools: readonly Pool[], wish: SwapWish): readonly Path[] =>
  findPaths({ ...parts.tuning, pools, tokenIn: wish.tokenIn, tokenOut: wish.tokenOut });

/**
 * Splits the amount over paths: estimates shares from the pools' depths, queries the quoter at the
 * grid points around them, and chooses by its results. Null when no split was found.
 */
const trySplit = async (
  parts: FinderParts,
  wish: SwapWish,
  pools: readonly Pool[],
  singles: readonly SwapQuoteShare[],
  ranked: readonly Path[],
  signal: AbortSignal,
): Promise<readonly SwapQuoteShare[] | null> => {
  const steps = parts.tuning.splitSteps;
  const known = new Map(singles.map((single) => [single.path, single.amountOut]));
  // A path that cannot take the whole amount may still take a part. So paths without a quote are
  // not dropped but come last.
  const inOrder = [...new Set([...singles.map(({ path }) => path), ...ranked])];
  const paths = disjointSet(inOrder, parts.tuning.splitPathsMax);
  if (paths.length < 2) return null;
  const at = (step: number): bigint => gridAmount(wish.amountIn, step, steps);
  const grid = Array.from({ length: steps + 1 }, (_, step) => step);
  const proposal = bestSplit(
    paths.map((path) => grid.map((step) => estimateOut(path, at(step)))),
    steps,
  );
  if (proposal === null) return null;
  const wanted = paths.flatMap((path, index) => {
    const middle = proposal[index] ?? 0;
    return grid
      .filter(
        (step) =>
          step > 0 && step < steps && Math.abs(step - middle) <= parts.tuning.splitNeighbours,
      )
      .map((step) => ({ index, step, path, amountIn: at(step) }));
  });
  const { outs } = await ask(parts, wish.chainId, pools, wanted, signal);
  const table = paths.map((path) =>
    grid.map((step): bigint | null => (step === steps ? (known.get(path) ?? null) : null)),
  );
  wanted.forEach(({ index, step }, position) => {
    const row = table[index];
    if (row !== undefined) row[step] = outs[position] ?? null;
  });
  return sharesOf(wish.amountIn, paths, table, bestSplit(table, steps));
};

export const createSwapFinder = (deps: OnchainDeps, book: PoolBook): SwapFinder => {
  const { tuning } = deps;
  const parts: FinderParts = { ...deps, book };

  return {
    find: async (wish, signal) => {
      const name = chainName(parts, wish.chainId);
      const pools = await book.pools(wish.chainId, signal);
      const paths = pathsOf(parts, pools, wish);
      if (paths.length === 0) throw noRoute(name);
      const ranked = rankPaths(paths, wish.amountIn, tuning.pathsQuotedMax);
      const refuse = (known: readonly Path[]): DomainError =>
        known.every((path) => isRoundedAway(path, wish.amountIn, tuning.impactMaxBps))
          ? tooSmall(name)
          : tooShallow(name);
      if (ranked.length === 0) throw refuse(paths);
      const first = await ask(
        parts,
        wish.chainId,
        pools,
        ranked.map((path) => ({ path, amountIn: wish.amountIn })),
        signal,
      );
      const fresh = refresh(ranked, first.pools);
      const singles = fresh
        .map((path, index) => ({
          path,
          amountIn: wish.amountIn,
          amountOut: first.outs[index] ?? 0n,
        }))
        .filter(({ amountOut }) => amountOut > 0n)
        .sort((a, b) => (a.amountOut < b.amountOut ? 1 : -1));
      const best = singles[0];
      if (best === undefined) throw refuse(fresh);
      const spot = fresh
        .map((path) => spotOutScaled(path, wish.amountIn))
        .reduce((a, b) => (a > b ? a : b), 0n);
      const quoteOf = (shares: readonly SwapQuoteShare[]): SwapQuote => {
        const amountOut = shares.reduce((sum, share) => sum + share.amountOut, 0n);
        return {
          amountIn: wish.amountIn,
          amountOut,
          shares,
          impactBps: impactBps(spot, amountOut),
        };
      };
      const quotes = singles.map((single) => quoteOf([single]));
      if (impactBps(spot, best.amountOut) > tuning.splitAboveImpactBps) {
        const split = await trySplit(parts, wish, first.pools, singles, fresh, signal);
        const worth =
          best.amountOut + (best.amountOut * BigInt(tuning.splitGainMinBps)) / 10_000n;
        if (split !== null && split.length > 1) {
          const quote = quoteOf(split);
          if (quote.amountOut > worth) quotes.unshift(quote);
        }
      }
      const deep = quotes.filter((quote) => quote.impactBps <= tuning.impactMaxBps);
      if (deep.length === 0) throw refuse(fresh);
      return deep;
    },

    estimate: async (wish, signal) => {
      const pools = await book.pools(wish.chainId, signal);
      return pathsOf(parts, pools, wish)
        .map((path) => estimateOut(path, wish.amountIn))
        .reduce((a, b) => (a > b ? a : b), 0n);
    },
  };
};

const refresh = (paths: readonly Path[], pools: readonly Pool[]): readonly Path[] => {
  const byAddress = new Map(pools.map((pool) => [pool.address, pool]));
  return paths.map((path) =>
    path.map((hop) => ({ ...hop, pool: byAddress.get(hop.pool.address) ?? hop.pool })),
  );
};

/**
 * Divides the amount between the paths. The quoted inputs are rounded down to grid points, so the
 * amount is divided again to sum to the whole amount. Each share gets at least its quoted input,
 * and so returns at least its quoted output.
 */
const sharesOf = (
  amountIn: bigint,
  paths: readonly Path[],
  table: readonly (readonly (bigint | null)[])[],
  taken: readonly number[] | null,
): readonly SwapQuoteShare[] | null => {
  if (taken === null) return null;
  const used = taken.flatMap((step, index) => {
    const path = paths[index];
    const amountOut = table[index]?.[step] ?? null;
    return step === 0 || path === undefined || amountOut === null
      ? []
      : [{ step, path, amountOut }];
  });
  const parts = shareOut(
    amountIn,
    used.map(({ step }) => BigInt(step)),
  );
  return used.map(({ path, amountOut }, index) => ({
    path,
    amountOut,
    amountIn: parts[index] ?? 0n,
  }));
};
