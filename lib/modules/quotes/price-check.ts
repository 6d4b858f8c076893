/** Compares what a route brings with what it takes, at prices that the pools of the route do not set. */
import type { z } from "zod";
import type { quoteRecord } from "@/lib/contracts/quote-records";
import { divide, parseDecimal, scaledTo, worthOf } from "@/lib/core/decimal";
import { DomainError } from "@/lib/core/errors";
import type { Token } from "@/lib/core/token";
import type { OraclePrice } from "@/lib/ports/price-oracle";
import type { Route, RouteRequest } from "@/lib/ports/routing";
import { expectedOut } from "./minimum";

type Warning = z.output<typeof quoteRecord>["warnings"][number];

const WARNING_BPS = 300;
export const PRICE_IMPACT_BPS_DEFAULT = 1_500;
/** A stablecoin further from one dollar than this is named. */
const DEPEG_BPS = 100n;
const BPS = 10_000n;
const WORTH_SCALE = 72;
const USD_SCALE = 18;
const USD_ONE = 10n ** 18n;

export interface PriceCheck {
  /** Price impact of the pools, in basis points: against a very small trade in them. */
  readonly poolImpactBps: number;
  /**
   * How much less arrives than leaves, fees included, in basis points of its worth at the prices of the feeds, rounded
   * up; below zero when more arrives. Null when a price is not known.
   */
  readonly oracleImpactBps: number | null;
  readonly warnings: readonly Warning[];
}

/** Price impact of all legs, weighted by their outputs, rounded up. */
const poolImpactOf = (route: Route): number => {
  const total = expectedOut(route);
  if (total === 0n) return 0;
  const weighted = route.legs.reduce(
    (sum, leg) => sum + leg.expectedOutBase * BigInt(Math.max(0, Math.ceil(leg.priceImpactBps))),
    0n,
  );
  return Number((weighted + total - 1n) / total);
};

const usdOf = (price: OraclePrice | undefined): string | null => (price?.state === "known" ? price.usd : null);

/** Where one asset moves and none is traded, its price does not matter. */
const isOneAsset = ({ sources, destination }: RouteRequest): boolean =>
  sources.every(({ token }) => token.assetId === destination.token.assetId);

const oracleImpactOf = (request: RouteRequest, route: Route, prices: readonly OraclePrice[]): number | null => {
  const same = isOneAsset(request);
  const worth = (token: Token, amountBase: bigint, price: OraclePrice | undefined): bigint | null => {
    const usd = same ? "1" : usdOf(price);
    return usd === null ? null : worthOf({ amountBase, decimals: token.decimals, price: usd }, WORTH_SCALE, "floor");
  };
  const sent = request.sources.map(({ token, amountBase }, index) => worth(token, amountBase, prices[index]));
  const received = worth(request.destination.token, expectedOut(route), prices[request.sources.length]);
  const known = sent.filter((value) => value !== null);
  if (received === null || known.length < sent.length) return null;
  const total = known.reduce((sum, value) => sum + value, 0n);
  return total === 0n ? null : Number(divide((total - received) * BPS, total, "ceil"));
};

const percent = (bps: number): string => `${String(bps / 100)} %`;

/** Each token of the request once, with its price. */
const pricedTokens = ({ sources, destination }: RouteRequest, prices: readonly OraclePrice[]) => {
  const tokens = [...sources.map(({ token }) => token), destination.token];
  const byAsset = new Map(tokens.map((token, index) => [token.assetId, { token, price: prices[index] }]));
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
    return [{ code, message: `${token.symbol} ${why}, so the price of this trade was not checked independently.` }];
  });

const depegged = (request: RouteRequest, prices: readonly OraclePrice[]): Warning[] =>
  pricedTokens(request, prices).flatMap(({ token, price }) => {
    const usd = usdOf(price);
    if (!token.usdPegged || usd === null) return [];
    const off = scaledTo(parseDecimal(usd), USD_SCALE, "floor") - USD_ONE;
    if ((off < 0n ? -off : off) * BPS <= USD_ONE * DEPEG_BPS) return [];
    return [{ code: "depegged", message: `${token.symbol} is worth ${usd} US dollars by its price feed, not 1.` }];
  });

const impactWarnings = (poolImpactBps: number, oracleImpactBps: number | null): Warning[] => {
  if (oracleImpactBps !== null && oracleImpactBps > WARNING_BPS) {
    const message = `${percent(oracleImpactBps)} less arrives than the sent amount is worth, by prices that are independent of the pools, fees included.`;
    return [{ code: "high_price_impact", message }];
  }
  if (poolImpactBps <= WARNING_BPS) return [];
  return [
    { code: "high_price_impact", message: `The trade moves the price by ${percent(poolImpactBps)} against you.` },
  ];
};

/** @param prices of the tokens of the sources, then of the destination */
export const checkPrice = (request: RouteRequest, route: Route, prices: readonly OraclePrice[]): PriceCheck => {
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
 * Refuses a route that costs more than the caller accepts. Without a feed the pools' own price impact decides.
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
