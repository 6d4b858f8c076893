import { abortable } from "@/lib/core/abortable";
import type { Clock } from "@/lib/core/clock";
import { createFreshCache } from "@/lib/core/fresh-cache";
import type { Hex, PublicClient } from "viem";
import { isStateMissing } from "@/lib/chain/node-errors";
import { chainCall, type ChainRegistry } from "@/lib/chain/registry";
import { withDeadline } from "@/lib/core/deadline";
import { DomainError, isDomainError } from "@/lib/core/errors";
import { decodeAggregate, encodeAggregate, type ReadCall } from "@/lib/chain/aggregate3";

interface TtlCacheOptions<K, V> {
  readonly clock: Clock;
  readonly ttlMs: number;
  /** Runs once for all concurrent callers, so a caller's signal does not abort it. */
  readonly load: (key: K) => Promise<V>;
}

interface TtlCache<K, V> {
  get(key: K, signal: AbortSignal): Promise<V>;
  /** Stores a value that was not obtained by `load`. */
  set(key: K, value: V): void;
}

/**
 * A cache with one value per key for `ttlMs`, for readers that can be aborted. Failures are not
 * cached.
 */
export const createTtlCache = <K extends string | number, V>({
  clock,
  ttlMs,
  load,
}: TtlCacheOptions<K, V>): TtlCache<K, V> => {
  const cache = createFreshCache<V, K>({
    load,
    refreshAfterMs: ttlMs,
    expireAfterMs: ttlMs,
    monotonicMs: () => clock.now().getTime(),
  });
  return {
    get: (key, signal) => abortable(Promise.resolve(cache.get(key)), signal),
    set: cache.set,
  };
};

export interface Tuning {
  /** Deadline of one call to a chain, in addition to the transport's own. */
  readonly callTimeoutMs: number;
  readonly readAttemptsMax: number;
  /** How long the list of a chain's pools is cached. New pools are found only after this time. */
  readonly poolsTtlMs: number;
  /**
   * How long cached prices and depths may be used to rank paths. Quotes always come from the chain.
   */
  readonly poolStatesTtlMs: number;
  readonly priceTtlMs: number;
  readonly gasPriceTtlMs: number;
  /** How long a cached block number may be used as the start of a later log search. */
  readonly blockNumberTtlMs: number;
  readonly hopsMax: number;
  /** Number of pools between two tokens that are searched, the deepest first. */
  readonly poolsPerPairMax: number;
  readonly pathsMax: number;
  readonly pathsQuotedMax: number;
  /** Number of quoter calls in one `eth_call`. Several `eth_call`s are made in parallel. */
  readonly quotesPerCallMax: number;
  readonly splitAboveImpactBps: number;
  /** Minimum gain of a split. Below it, the simpler route is used. */
  readonly splitGainMinBps: number;
  /**
   * Number of equal steps into which a split divides the amount. With 20, each share is a multiple
   * of 5 %.
   */
  readonly splitSteps: number;
  readonly splitPathsMax: number;
  /**
   * Number of grid points on either side of the estimated share for which the quoter is queried.
   */
  readonly splitNeighbours: number;
  /** Above this price impact, a trade is refused as `insufficient_liquidity`. */
  readonly impactMaxBps: number;
  readonly bridgeAssetsMax: number;
  readonly alternativesMax: number;
  /** Alternatives that deliver less than this share of the best route are left out. */
  readonly alternativeFloorBps: number;
  /**
   * Maximum slippage of the swap before a bridge. The swap uses the lower of this value and half of
   * the request's slippage.
   */
  readonly sourceToleranceMaxBps: number;
  /**
   * Seconds within which a swap has to be mined. Until then, its minimum output protects it against
   * a worse price.
   */
  readonly swapDeadlineSeconds: number;
  /**
   * Maximum number of ranges in one search, each of the chain's `logRangeBlocks`. The next call
   * continues after them.
   */
  readonly logRangesMax: number;
  /**
   * Number of blocks before a deposit in which other deposits of the same depositor are searched,
   * because the id of a refund's leaf may be the number of one of them.
   */
  readonly siblingDepositBlocks: bigint;
  /**
   * Maximum number of ranges of a search that must complete in one call, such as the search for all
   * deposits of a bundle.
   */
  readonly wholeSearchRangesMax: number;
  /**
   * The search for bundle proposals begins this long before the fill deadline of a deposit. So the
   * search also finds the bundle before the one that refunds the deposit.
   */
  readonly bundleLookbackSeconds: number;
  /** Number of blocks that a reorganisation may remove. Searches start this many blocks earlier. */
  readonly reorgBlocks: bigint;
  /** How far the clocks of two chains may differ. */
  readonly clockSkewSeconds: number;
  /**
   * Number of deposits whose search position is cached. A search whose position is not cached
   * starts over.
   */
  readonly searchesRememberedMax: number;
  /**
   * Maximum number of deposits of one depositor that are compared with a refund. With more, a
   * person has to decide.
   */
  readonly siblingDepositsMax: number;
}

export const DEFAULT_TUNING: Tuning = {
  callTimeoutMs: 8_000,
  readAttemptsMax: 3,
  poolsTtlMs: 300_000,
  poolStatesTtlMs: 10_000,
  priceTtlMs: 15_000,
  gasPriceTtlMs: 5_000,
  blockNumberTtlMs: 30_000,
  hopsMax: 3,
  poolsPerPairMax: 3,
  pathsMax: 600,
  pathsQuotedMax: 4,
  quotesPerCallMax: 24,
  splitAboveImpactBps: 30,
  splitGainMinBps: 1,
  splitSteps: 20,
  splitPathsMax: 4,
  splitNeighbours: 2,
  impactMaxBps: 3_000,
  bridgeAssetsMax: 3,
  alternativesMax: 3,
  alternativeFloorBps: 9_500,
  sourceToleranceMaxBps: 10,
  swapDeadlineSeconds: 1_800,
  logRangesMax: 20,
  siblingDepositBlocks: 2_500n,
  wholeSearchRangesMax: 200,
  bundleLookbackSeconds: 86_400,
  reorgBlocks: 64n,
  clockSkewSeconds: 300,
  searchesRememberedMax: 1_000,
  siblingDepositsMax: 500,
};

export interface OnchainDeps {
  readonly registry: ChainRegistry;
  readonly clock: Clock;
  readonly tuning: Tuning;
}

const chainUnavailable = (message: string): DomainError =>
  new DomainError("chain_unavailable", message);

/**
 * Retries a read after any error except an outage. A node may lack the block of the read, because
 * the block was pruned or because another node behind the load balancer has not received it yet.
 * The reads cannot revert for another reason.
 */
const readAgain = async <T>(
  registry: ChainRegistry,
  chainId: number,
  attemptsMax: number,
  ask: (client: PublicClient) => Promise<T>,
): Promise<T> => {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await chainCall(chainId, () => ask(registry.client(chainId)));
    } catch (cause) {
      if (isDomainError(cause) && !isStateMissing(cause)) throw cause;
      if (attempt < attemptsMax) continue;
      const message = `${registry.get(chainId).name} refuses to be read. Nothing was sent; try again shortly.`;
      throw new DomainError("chain_unavailable", message, { cause });
    }
  }
};

/**
 * Makes one call to a chain, with a deadline.
 * @throws DomainError `chain_unavailable` when the chain cannot be reached or is too slow; the
 * reason of `signal`
 */
export const askChain = async <T>(
  { registry, tuning }: Pick<OnchainDeps, "registry" | "tuning">,
  chainId: number,
  signal: AbortSignal,
  ask: (client: PublicClient) => Promise<T>,
): Promise<T> => {
  const { callTimeoutMs: timeoutMs } = tuning;
  const message = `${registry.get(chainId).name} did not answer within ${timeoutMs} ms. Nothing was sent; try again shortly.`;
  const answer = readAgain(registry, chainId, tuning.readAttemptsMax, ask);
  return withDeadline(abortable(answer, signal), {
    timeoutMs,
    message,
    errorOf: chainUnavailable,
  });
};

/** Makes many reads in one `eth_call` through Multicall3. Reverted reads return null. */
export const readMany = async (
  deps: OnchainDeps,
  chainId: number,
  signal: AbortSignal,
  calls: readonly ReadCall[],
): Promise<readonly (Hex | null)[]> => {
  if (calls.length === 0) return [];
  const data = encodeAggregate(calls);
  const to = deps.registry.get(chainId).contracts.multicall3;
  const answer = await askChain(deps, chainId, signal, (client) => client.call({ to, data }));
  if (answer.data === undefined) {
    throw new DomainError("chain_unavailable", `Chain ${chainId} has no Multicall3 at ${to}.`);
  }
  return decodeAggregate(answer.data);
};
