import { decodeFunctionResult, parseAbi, type Address, type Hex } from "viem";
import { encodeCall } from "@/lib/chain/encode-call";
import { decodeAggregate, encodeAggregate } from "@/lib/chain/aggregate3";
import { chainCall, type ChainRegistry } from "@/lib/chain/registry";
import type { Clock } from "@/lib/core/clock";
import { withDeadline } from "@/lib/core/deadline";
import { formatAmount } from "@/lib/core/money";
import type { OraclePrice, PricedAsset, PriceOracle } from "@/lib/books/ports/price-oracle";

const feedAbi = parseAbi([
  "function latestRoundData() view returns (uint80 roundId, int256 answer, uint256 startedAt, uint256 updatedAt, uint80 answeredInRound)",
  "function decimals() view returns (uint8)",
]);
const ROUND = encodeCall({ abi: feedAbi, functionName: "latestRoundData" });
const DECIMALS = encodeCall({ abi: feedAbi, functionName: "decimals" });
const DECIMALS_MAX = 36;
/**
 * Time limit for reading the prices of one chain. It is shorter than the time that a quote waits
 * for its route, so a chain that does not answer costs the quote only its price check.
 */
const TIMEOUT_MS = 2000;

interface Feed {
  readonly chainId: number;
  readonly address: Address;
  readonly maxAgeSeconds: number;
}

interface Round {
  readonly answer: bigint;
  readonly decimals: number;
  /** Time of the price, in Unix seconds. */
  readonly updatedAt: bigint;
}

const roundOf = (
  round: Hex | null | undefined,
  decimals: Hex | null | undefined,
): Round | null => {
  if (round == null || decimals == null) return null;
  try {
    const [, answer, , updatedAt] = decodeFunctionResult({
      abi: feedAbi,
      functionName: "latestRoundData",
      data: round,
    });
    const places = decodeFunctionResult({
      abi: feedAbi,
      functionName: "decimals",
      data: decimals,
    });
    return answer > 0n && places <= DECIMALS_MAX
      ? { answer, decimals: places, updatedAt }
      : null;
  } catch {
    return null;
  }
};

/** Reads prices from the configured feeds (`priceFeeds`), with one `eth_call` per chain. */
export const createChainlinkOracle = ({
  registry,
  clock,
}: {
  readonly registry: ChainRegistry;
  readonly clock: Clock;
}): PriceOracle => {
  /** The feed on the token's chain, or else the first feed of the asset. */
  const feedOf = (token: PricedAsset): Feed | null => {
    const feeds = registry
      .list()
      .flatMap(({ id, priceFeeds }) =>
        priceFeeds
          .filter(({ assetIds }) => assetIds.includes(token.assetId))
          .map(({ address, maxAgeSeconds }) => ({ chainId: id, address, maxAgeSeconds })),
      );
    return feeds.find(({ chainId }) => chainId === token.chainId) ?? feeds[0] ?? null;
  };

  const readChain = async (
    chainId: number,
    feeds: readonly Address[],
  ): Promise<readonly (Round | null)[]> => {
    const to = registry.get(chainId).contracts.multicall3;
    const calls = feeds.flatMap((target) =>
      [ROUND, DECIMALS].map((callData) => ({ target, callData })),
    );
    const asked = chainCall(chainId, () =>
      registry.client(chainId).call({ to, data: encodeAggregate(calls) }),
    );
    const { data } = await withDeadline(asked, {
      timeoutMs: TIMEOUT_MS,
      message: "The price feeds did not answer.",
    });
    const answers = decodeAggregate(data ?? "0x");
    return feeds.map((_, index) => roundOf(answers[index * 2], answers[index * 2 + 1]));
  };

  const priceOf = (feed: Feed, round: Round | null): OraclePrice => {
    if (round === null) return { state: "unavailable" };
    // The age is measured with the service's clock. A node that stopped following its chain returns
    // an old block, whose time would make an old price look fresh.
    const ageSeconds = clock.now().getTime() / 1000 - Number(round.updatedAt);
    if (ageSeconds > feed.maxAgeSeconds) return { state: "stale" };
    return {
      state: "known",
      usd: formatAmount(round.answer, round.decimals),
      at: new Date(Number(round.updatedAt) * 1000),
    };
  };

  return {
    prices: async (tokens, signal) => {
      const feeds = tokens.map(feedOf);
      const known = feeds.filter((feed) => feed !== null);
      const rounds = new Map<string, Round | null>();
      await Promise.all(
        [...new Set(known.map(({ chainId }) => chainId))].map(async (chainId) => {
          const own = known
            .filter((feed) => feed.chainId === chainId)
            .map(({ address }) => address);
          const addresses = [...new Set(own)];
          const read = await readChain(chainId, addresses).catch(() => []);
          addresses.forEach((address, index) =>
            rounds.set(`${String(chainId)}:${address}`, read[index] ?? null),
          );
        }),
      );
      signal.throwIfAborted();
      return feeds.map((feed): OraclePrice =>
        feed === null
          ? { state: "no_feed" }
          : priceOf(feed, rounds.get(`${String(feed.chainId)}:${feed.address}`) ?? null),
      );
    },
  };
};
