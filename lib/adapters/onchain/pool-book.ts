import { decodeFunctionResult, encodeFunctionData, type Hex, zeroAddress } from "viem";
import type { EvmAddress } from "@/lib/core/evm";
import { uniswapFactoryAbi, uniswapPoolAbi } from "./plan";
import type { ReadCall } from "@/lib/chain/aggregate3";
import { createTtlCache, type OnchainDeps, readMany } from "./chain-access";

/**
 * A Uniswap v3 pool with its price and depth. Addresses in this folder are compared in lower case.
 */
export interface Pool {
  readonly address: string;
  readonly token0: string;
  readonly token1: string;
  /** In hundredths of a basis point. */
  readonly fee: number;
  /** √(token1 per token0) · 2^96. */
  readonly sqrtPriceX96: bigint;
  readonly liquidity: bigint;
}

interface Hop {
  readonly pool: Pool;
  readonly tokenIn: string;
  readonly tokenOut: string;
}

export type Path = readonly Hop[];

interface PathSearch {
  readonly pools: readonly Pool[];
  readonly tokenIn: string;
  readonly tokenOut: string;
  readonly hopsMax: number;
  readonly poolsPerPairMax: number;
  readonly pathsMax: number;
}

const FEE_UNIT = 1_000_000n;
const Q96 = 1n << 96n;
const SPOT_SCALE = 10n ** 18n;
const BPS = 10_000n;

/** Keeps only the deepest pools of each pair, to limit the number of paths. */
const deepestPerPair = (pools: readonly Pool[], poolsPerPairMax: number): readonly Pool[] => {
  const pairs = new Map<string, Pool[]>();
  for (const pool of pools) {
    if (pool.liquidity === 0n || pool.sqrtPriceX96 === 0n) continue;
    const key = `${pool.token0}-${pool.token1}`;
    pairs.set(key, [...(pairs.get(key) ?? []), pool]);
  }
  return [...pairs.values()].flatMap((pair) =>
    pair.toSorted((a, b) => (a.liquidity < b.liquidity ? 1 : -1)).slice(0, poolsPerPairMax),
  );
};

/**
 * Paths from one token to another that visit no token twice, shortest first, at most `pathsMax`.
 */
export const findPaths = (search: PathSearch): readonly Path[] => {
  const hopsFrom = new Map<string, Hop[]>();
  for (const pool of deepestPerPair(search.pools, search.poolsPerPairMax)) {
    const forward: Hop = { pool, tokenIn: pool.token0, tokenOut: pool.token1 };
    const backward: Hop = { pool, tokenIn: pool.token1, tokenOut: pool.token0 };
    for (const hop of [forward, backward])
      hopsFrom.set(hop.tokenIn, [...(hopsFrom.get(hop.tokenIn) ?? []), hop]);
  }
  const found: Path[] = [];
  let frontier: readonly { readonly at: string; readonly path: Path }[] = [
    { at: search.tokenIn, path: [] },
  ];
  for (let length = 1; length <= search.hopsMax; length += 1) {
    const next: { at: string; path: Path }[] = [];
    for (const { at, path } of frontier) {
      for (const hop of hopsFrom.get(at) ?? []) {
        if (
          hop.tokenOut === search.tokenIn ||
          path.some((earlier) => earlier.tokenOut === hop.tokenOut)
        )
          continue;
        if (hop.tokenOut === search.tokenOut) found.push([...path, hop]);
        else next.push({ at: hop.tokenOut, path: [...path, hop] });
        if (found.length >= search.pathsMax || next.length >= search.pathsMax) break;
      }
    }
    if (found.length >= search.pathsMax) break;
    frontier = next;
  }
  return found.slice(0, search.pathsMax);
};

/**
 * Whether the paths share no pool. Paths with a common pool change each other's price, so they
 * cannot be parts of one split trade.
 */
export const disjoint = (a: Path, b: Path): boolean =>
  a.every((hop) => b.every((other) => other.pool.address !== hop.pool.address));

/**
 * The output of a path if its pools had the current depth at every price. Used only to rank paths
 * and propose splits; quoted amounts come from the quoter.
 */
export const estimateOut = (path: Path, amountIn: bigint): bigint => {
  let amount = amountIn;
  for (const { pool, tokenIn } of path) {
    const afterFee = (amount * (FEE_UNIT - BigInt(pool.fee))) / FEE_UNIT;
    const reserve0 = (pool.liquidity * Q96) / pool.sqrtPriceX96;
    const reserve1 = (pool.liquidity * pool.sqrtPriceX96) / Q96;
    const [reserveIn, reserveOut] =
      tokenIn === pool.token0 ? [reserve0, reserve1] : [reserve1, reserve0];
    if (reserveIn === 0n || reserveOut === 0n) return 0n;
    amount = (reserveOut * afterFee) / (reserveIn + afterFee);
  }
  return amount;
};

/**
 * Output of each hop at the current price for an infinitesimal amount, times 10^18 and times
 * `amountIn`.
 */
const spotStepsScaled = (
  path: Path,
  amountIn: bigint,
  includeFees: boolean,
): readonly bigint[] => {
  let amount = amountIn * SPOT_SCALE;
  return path.map(({ pool, tokenIn }) => {
    const { sqrtPriceX96 } = pool;
    amount =
      tokenIn === pool.token0
        ? (amount * sqrtPriceX96 * sqrtPriceX96) >> 192n
        : (amount << 192n) / (sqrtPriceX96 * sqrtPriceX96);
    if (includeFees) amount = (amount * (FEE_UNIT - BigInt(pool.fee))) / FEE_UNIT;
    return amount;
  });
};

/**
 * Output per input at the current price for an infinitesimal amount, times 10^18 and times
 * `amountIn`.
 */
export const spotOutScaled = (path: Path, amountIn: bigint, includeFees = true): bigint =>
  spotStepsScaled(path, amountIn, includeFees).at(-1) ?? amountIn * SPOT_SCALE;

/**
 * Whether a hop has so few base units that rounding down to whole units may lose more than
 * `lossBps`, even in deep pools.
 */
export const isRoundedAway = (path: Path, amountIn: bigint, lossBps: number): boolean =>
  spotStepsScaled(path, amountIn, true).some(
    (amount) => amount * BigInt(lossBps) < SPOT_SCALE * BPS,
  );

/**
 * Loss of `amountOut` relative to the spot output, in whole basis points, rounded up, never below
 * zero.
 */
export const impactBps = (spotScaled: bigint, amountOut: bigint): number => {
  const loss = spotScaled - amountOut * SPOT_SCALE;
  return loss <= 0n || spotScaled === 0n
    ? 0
    : Number((loss * BPS + spotScaled - 1n) / spotScaled);
};

/**
 * The paths for which the quoter is queried. They are the best paths by estimate, and further
 * paths that share no pool with the best ones, because only such paths can take a part of a large
 * trade.
 */
export const rankPaths = (
  paths: readonly Path[],
  amountIn: bigint,
  countMax: number,
): readonly Path[] => {
  const ranked = paths
    .map((path) => ({ path, out: estimateOut(path, amountIn) }))
    .filter(({ out }) => out > 0n)
    .sort((a, b) => (a.out < b.out ? 1 : a.out > b.out ? -1 : a.path.length - b.path.length))
    .map(({ path }) => path);
  const chosen = ranked.slice(0, Math.ceil(countMax / 2));
  for (const path of ranked) {
    if (chosen.length >= countMax) break;
    if (!chosen.includes(path) && chosen.every((other) => disjoint(path, other)))
      chosen.push(path);
  }
  for (const path of ranked) {
    if (chosen.length >= countMax) break;
    if (!chosen.includes(path)) chosen.push(path);
  }
  return chosen;
};

/** Selects paths in order that share no pool with already selected ones. */
export const disjointSet = (paths: readonly Path[], countMax: number): readonly Path[] => {
  const chosen: Path[] = [];
  for (const path of paths) {
    if (chosen.length >= countMax) break;
    if (chosen.every((other) => disjoint(path, other))) chosen.push(path);
  }
  return chosen;
};

type PoolIdentity = Pick<Pool, "token0" | "token1" | "fee"> & { readonly address: EvmAddress };

const SLOT0 = encodeFunctionData({ abi: uniswapPoolAbi, functionName: "slot0" });
const LIQUIDITY = encodeFunctionData({ abi: uniswapPoolAbi, functionName: "liquidity" });
const CALLS_PER_POOL = 2;
const DISCOVERY_CALLS_MAX = 400;

const firstWord = (data: Hex | null | undefined): bigint =>
  data === null || data === undefined || data.length < 66 ? 0n : BigInt(data.slice(0, 66));

export interface PoolBook {
  /**
   * The chain's pools with states that are at most `poolStatesTtlMs` old. Empty for a chain
   * without Uniswap.
   */
  pools(chainId: number, signal: AbortSignal): Promise<readonly Pool[]>;
  /** Calls that read the current states of pools, so that they can be sent with other reads. */
  stateCalls(pools: readonly Pool[]): readonly ReadCall[];
  learn(
    chainId: number,
    pools: readonly Pool[],
    answers: readonly (Hex | null)[],
  ): readonly Pool[];
}

const discoveryCalls = (
  deps: OnchainDeps,
  chainId: number,
): readonly { key: PoolIdentity; call: ReadCall }[] => {
  const { uniswapV3, wrappedNative } = deps.registry.get(chainId).contracts;
  if (uniswapV3 === undefined) return [];
  const addresses = deps.registry
    .tokens(chainId)
    .flatMap(({ address }) => (address === "native" ? [] : [address]));
  const tokens = [
    ...new Set([...addresses, wrappedNative].map((address) => address.toLowerCase())),
  ].sort();
  return tokens.flatMap((token0, index) =>
    tokens.slice(index + 1).flatMap((token1) =>
      uniswapV3.feeTiers.map((fee) => ({
        key: { address: zeroAddress, token0, token1, fee },
        call: {
          target: uniswapV3.factory,
          callData: encodeFunctionData({
            abi: uniswapFactoryAbi,
            functionName: "getPool",
            args: [token0 as EvmAddress, token1 as EvmAddress, fee],
          }),
        },
      })),
    ),
  );
};

const discover = async (
  deps: OnchainDeps,
  chainId: number,
): Promise<readonly PoolIdentity[]> => {
  const wanted = discoveryCalls(deps, chainId);
  const chunks = Array.from(
    { length: Math.ceil(wanted.length / DISCOVERY_CALLS_MAX) },
    (_, index) => wanted.slice(index * DISCOVERY_CALLS_MAX, (index + 1) * DISCOVERY_CALLS_MAX),
  );
  // All waiting callers share this load, so no caller's signal may abort it. Only the deadline of
  // the call applies.
  const { signal } = new AbortController();
  const answers = await Promise.all(
    chunks.map((chunk) =>
      readMany(
        deps,
        chainId,
        signal,
        chunk.map(({ call }) => call),
      ),
    ),
  );
  return answers.flat().flatMap((data, index) => {
    const key = wanted[index]?.key;
    if (key === undefined || data === null) return [];
    const address = decodeFunctionResult({
      abi: uniswapFactoryAbi,
      functionName: "getPool",
      data,
    });
    return address === zeroAddress
      ? []
      : [{ ...key, address: address.toLowerCase() as EvmAddress }];
  });
};

export const createPoolBook = (deps: OnchainDeps): PoolBook => {
  const { clock, tuning } = deps;
  const identities = createTtlCache({
    clock,
    ttlMs: tuning.poolsTtlMs,
    load: (chainId: number) => discover(deps, chainId),
  });

  const stateCalls: PoolBook["stateCalls"] = (pools) =>
    pools.flatMap(({ address }) =>
      [SLOT0, LIQUIDITY].map((callData) => ({ target: address as EvmAddress, callData })),
    );
  const withStates = (
    pools: readonly (PoolIdentity | Pool)[],
    answers: readonly (Hex | null)[],
  ): readonly Pool[] =>
    pools.map((pool, index) => ({
      ...pool,
      sqrtPriceX96: firstWord(answers[index * CALLS_PER_POOL]),
      liquidity: firstWord(answers[index * CALLS_PER_POOL + 1]),
    }));

  const states = createTtlCache({
    clock,
    ttlMs: tuning.poolStatesTtlMs,
    load: async (chainId: number) => {
      const { signal } = new AbortController();
      const known = await identities.get(chainId, signal);
      const pools = withStates(known, []);
      return withStates(pools, await readMany(deps, chainId, signal, stateCalls(pools)));
    },
  });

  return {
    pools: (chainId, signal) => states.get(chainId, signal),
    stateCalls,
    learn: (chainId, pools, answers) => {
      const learnt = withStates(pools, answers);
      states.set(chainId, learnt);
      return learnt;
    },
  };
};
