import { decodeFunctionResult, encodeFunctionData, zeroAddress, type Hex } from "viem";
import type { EvmAddress } from "@/lib/ports/routing";
import { uniswapFactoryAbi, uniswapPoolAbi } from "./abis";
import type { ReadCall } from "@/lib/chains/aggregate3";
import { readMany, type OnchainDeps } from "./chain-access";
import type { Pool } from "./paths";
import { createTtlCache } from "./ttl-cache";

type PoolIdentity = Pick<Pool, "token0" | "token1" | "fee"> & { readonly address: EvmAddress };

const SLOT0 = encodeFunctionData({ abi: uniswapPoolAbi, functionName: "slot0" });
const LIQUIDITY = encodeFunctionData({ abi: uniswapPoolAbi, functionName: "liquidity" });
const CALLS_PER_POOL = 2;
const DISCOVERY_CALLS_MAX = 400;

const firstWord = (data: Hex | null | undefined): bigint =>
  data === null || data === undefined || data.length < 66 ? 0n : BigInt(data.slice(0, 66));

/** The pools among a chain's configured tokens, with their prices and depths. */
export interface PoolBook {
  /** At most `poolStatesTtlMs` old. Empty where the chain has no Uniswap. */
  pools(chainId: number, signal: AbortSignal): Promise<readonly Pool[]>;
  /** The calls that refresh the states of known pools, to be sent together with other reads. */
  stateCalls(pools: readonly Pool[]): readonly ReadCall[];
  /** Stores the answers to `stateCalls`, and returns the updated pools. */
  learn(chainId: number, pools: readonly Pool[], answers: readonly (Hex | null)[]): readonly Pool[];
}

/** Every pair of configured ERC-20 tokens with every fee tier. */
const discoveryCalls = (deps: OnchainDeps, chainId: number): readonly { key: PoolIdentity; call: ReadCall }[] => {
  const { uniswapV3, wrappedNative } = deps.registry.get(chainId).contracts;
  if (uniswapV3 === undefined) return [];
  const addresses = deps.registry.tokens(chainId).flatMap(({ address }) => (address === "native" ? [] : [address]));
  const tokens = [...new Set([...addresses, wrappedNative].map((address) => address.toLowerCase()))].sort();
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

const discover = async (deps: OnchainDeps, chainId: number): Promise<readonly PoolIdentity[]> => {
  const wanted = discoveryCalls(deps, chainId);
  const chunks = Array.from({ length: Math.ceil(wanted.length / DISCOVERY_CALLS_MAX) }, (_, index) =>
    wanted.slice(index * DISCOVERY_CALLS_MAX, (index + 1) * DISCOVERY_CALLS_MAX),
  );
  // All waiting callers share this load, so no caller's signal may abort it; only the call's own deadline does.
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
    const address = decodeFunctionResult({ abi: uniswapFactoryAbi, functionName: "getPool", data });
    return address === zeroAddress ? [] : [{ ...key, address: address.toLowerCase() as EvmAddress }];
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
    pools.flatMap(({ address }) => [SLOT0, LIQUIDITY].map((callData) => ({ target: address as EvmAddress, callData })));
  const withStates = (pools: readonly (PoolIdentity | Pool)[], answers: readonly (Hex | null)[]): readonly Pool[] =>
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
