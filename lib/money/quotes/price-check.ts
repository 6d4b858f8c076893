import type { Route, RouteLeg } from "@/lib/money/ports/routing";
import type { RouteRequest } from "@/lib/core/route-request";
import type { z } from "zod";
import type { quoteRecord } from "@/lib/contracts/quote-records";
import { divide, parseDecimal, scaledTo, worthOf } from "@/lib/core/decimal";
import { DomainError } from "@/lib/core/errors";
import type { Token } from "@/lib/core/token";
import type { OraclePrice } from "@/lib/books/ports/price-oracle";

/**
 * Margin in basis points by which a route that is priced again must exceed the promised minimum, so
 * that a small price move does not revert the route.
 */
const TOLERANCE_MIN_BPS = 10;
const BPS = 10_000n;

const sum = (values: readonly bigint[]): bigint =>
  values.reduce((total, value) => total + value, 0n);

export const expectedOut = (route: Route): bigint =>
  sum(route.legs.map((leg) => leg.expectedOutBase));
export const minimumOut = (route: Route): bigint =>
  sum(route.legs.map((leg) => leg.minOutBase));

/**
 * The margin for a price move, rounded up. Only legs whose output may still change need a margin.
 */
const toleranceOf = (route: Route, slippageBps: number): bigint => {
  // With less than 20 basis points of slippage a margin of 10 is too large, so half of the slippage
  // is used.
  const bps = BigInt(Math.min(TOLERANCE_MIN_BPS, Math.floor(slippageBps / 2)));
  const open = sum(
    route.legs.map((leg) => (leg.minOutBase < leg.expectedOutBase ? leg.expectedOutBase : 0n)),
  );
  return (open * bps + BPS - 1n) / BPS;
};

/**
 * Raises the minima of the legs so that they sum to at least `minimumBase`, the promised minimum.
 * Each leg's share is rounded up and never exceeds its expected output. Null when the route no
 * longer reaches the minimum with the required margin.
 */
export const withMinimum = (
  route: Route,
  minimumBase: bigint,
  slippageBps: number,
): Route | null => {
  const total = expectedOut(route);
  if (total === 0n || total - toleranceOf(route, slippageBps) < minimumBase) return null;
  const legs = route.legs.map((leg): RouteLeg => {
    const share = (minimumBase * leg.expectedOutBase + total - 1n) / total;
    return { ...leg, minOutBase: share > leg.minOutBase ? share : leg.minOutBase };
  });
  return { ...route, legs };
};

// Compares a route's output with its input, at prices that are independent of the route's pools.

type Warning = z.output<typeof quoteRecord>["warnings"][number];

const WARNING_BPS = 300;
const PRICE_IMPACT_BPS_DEFAULT = 1_500;
/** Maximum deviation of a stablecoin from one dollar, in basis points, that causes no warning. */
const DEPEG_BPS = 100n;
const WORTH_SCALE = 72;
const USD_SCALE = 18;
const USD_ONE = 10n ** 18n;

export interface PriceCheck {
  /** Price impact of the pools in basis points, compared with a very small trade in these pools. */
  readonly poolImpactBps: number;
  /**
   * The part of the sent value that does not arrive, fees included, in basis points at the prices
   * of the feeds, rounded up. Negative when more arrives; null when a price is missing.
   */
  readonly oracleImpactBps: number | null;
  readonly warnings: readonly Warning[];
}

const poolImpactOf = (route: Route): number => {
  const total = expectedOut(route);
  if (total === 0n) return 0;
  const weighted = route.legs.reduce(
    (sum, leg) =>
      sum + leg.expectedOutBase * BigInt(Math.max(0, Math.ceil(leg.priceImpactBps))),
    0n,
  );
  return Number((weighted + total - 1n) / total);
};

const usdOf = (price: OraclePrice | undefined): string | null =>
  price?.state === "known" ? price.usd : null;

/**
 * Whether all tokens are of one asset. Nothing is traded then, so the asset's price does not
 * matter.
 */
const isOneAsset = ({ sources, destination }: RouteRequest): boolean =>
  sources.every(({ token }) => token.assetId === destination.token.assetId);

const oracleImpactOf = (
  request: RouteRequest,
  route: Route,
  prices: readonly OraclePrice[],
): number | null => {
  const same = isOneAsset(request);
  const worth = (
    token: Token,
    amountBase: bigint,
    price: OraclePrice | undefined,
  ): bigint | null => {
    const usd = same ? "1" : usdOf(price);
    return usd === null
      ? null
      : worthOf({ amountBase, decimals: token.decimals, price: usd }, WORTH_SCALE, "floor");
  };
  const sent = request.sources.map(({ token, amountBase }, index) =>
    worth(token, amountBase, prices[index]),
  );
  const received = worth(
    request.destination.token,
    expectedOut(route),
    prices[request.sources.length],
  );
  const known = sent.filter((value) => value !== null);
  if (received === null || known.length < sent.length) return null;
  const total = known.reduce((sum, value) => sum + value, 0n);
  return total === 0n ? null : Number(divide((total - received) * BPS, total, "ceil"));
};

const percent = (bps: number): string => `${String(bps / 100)} %`;

/** Returns, for each asset of the request, one token of the asset and the price of that token. */
const pricedTokens = (
  { sources, destination }: RouteRequest,
  prices: readonly OraclePrice[],
) => {
  const tokens = [...sources.map(({ token }) => token), destination.token];
  const byAsset = new Map(
    tokens.map((token, index) => [token.assetId, { token, price: prices[index] }]),
  );
  return [...byAsset.values()];
};

const NO_PRICE = {
  no_feed: { code: "no_price_feed", why: "has no price feed" },
  stale: { code: "stale_price_feed", why: "has a price feed whose last price is too old" },
  unavailable: { code: "price_feed_unavailable", why: "has a price feed that does not answer" },
} as const;

const unchecked = (request: RouteRequest, prices: readonly OraclePrice[]): Warning[] =>
  pricedTokens(request, prices).flatMap(({ token, price }) => {
    if (price === undefined || price.state === "known") return [];
    const { code, why } = NO_PRICE[price.state];
    return [
      {
        code,
        path: null,
        message: `${token.symbol} ${why}, so the price of this trade was not checked independently.`,
      },
    ];
  });

const depegged = (request: RouteRequest, prices: readonly OraclePrice[]): Warning[] =>
  pricedTokens(request, prices).flatMap(({ token, price }) => {
    const usd = usdOf(price);
    if (!token.usdPegged || usd === null) return [];
    const off = scaledTo(parseDecimal(usd), USD_SCALE, "floor") - USD_ONE;
    if ((off < 0n ? -off : off) * BPS <= USD_ONE * DEPEG_BPS) return [];
    return [
      {
        code: "depegged",
        path: null,
        message: `${token.symbol} is worth ${usd} US dollars by its price feed, not 1.`,
      },
    ];
  });

const impactWarnings = (poolImpactBps: number, oracleImpactBps: number | null): Warning[] => {
  if (oracleImpactBps !== null && oracleImpactBps > WARNING_BPS) {
    const message = `${percent(oracleImpactBps)} less arrives than the sent amount is worth, by prices that are independent of the pools, fees included.`;
    return [{ code: "high_price_impact", path: null, message }];
  }
  if (poolImpactBps <= WARNING_BPS) return [];
  return [
    {
      code: "high_price_impact",
      path: null,
      message: `The trade moves the price by ${percent(poolImpactBps)} against you.`,
    },
  ];
};

/**
 * Computes the price impact of a route, and the warnings about its price.
 * @param prices prices of the sources' tokens in the order of the sources, then the price of the
 * destination's token
 */
export const checkPrice = (
  request: RouteRequest,
  route: Route,
  prices: readonly OraclePrice[],
): PriceCheck => {
  const poolImpactBps = poolImpactOf(route);
  const oracleImpactBps = oracleImpactOf(request, route, prices);
  return {
    poolImpactBps,
    oracleImpactBps,
    warnings: [
      ...(isOneAsset(request) ? [] : unchecked(request, prices)),
      ...depegged(request, prices),
      ...impactWarnings(poolImpactBps, oracleImpactBps),
    ],
  };
};

/**
 * Throws an error when a route costs more than the caller accepts. The impact at the feeds' prices
 * is compared, or the impact of the pools when a price feed is missing.
 * @throws DomainError `price_impact_too_high`
 */
export const requireFairPrice = (request: RouteRequest, check: PriceCheck): void => {
  const impactBps = check.oracleImpactBps ?? check.poolImpactBps;
  const maxBps = request.limits?.maxPriceImpactBps ?? PRICE_IMPACT_BPS_DEFAULT;
  if (impactBps <= maxBps) return;
  throw new DomainError(
    "price_impact_too_high",
    `${percent(impactBps)} less would arrive than the sent amount is worth, and at most ${percent(maxBps)} is accepted. Nothing was sent. To go on all the same send \`maxPriceImpactBps\` of at least ${String(impactBps)}.`,
    { extra: { priceImpactBps: impactBps } },
  );
};
