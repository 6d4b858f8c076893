import { createHash } from "node:crypto";
import type { z } from "zod";
import type { quoteRecord } from "@/lib/contracts/quote-records";
import { parseDecimal, scaledTo, worthOf } from "@/lib/core/decimal";
import { formatAmount } from "@/lib/core/money";
import { toAmountRecord, type Token, toTokenRecord } from "@/lib/core/token";
import type { EvmAddress } from "@/lib/core/evm";
import type { Route, RouteFee, RouteLeg } from "@/lib/money/ports/routing";
import type { RouteRequest } from "@/lib/core/route-request";
import type { Requirement } from "@/lib/trust/decisions/service";
import { expectedOut, minimumOut, type PriceCheck } from "./price-check";
import { routeIdOf, type SourceWallet } from "./request";

export type QuoteRecord = z.output<typeof quoteRecord>;
export type FeePayer = NonNullable<QuoteRecord["from"][number]["networkFeePaidBy"]>;

const SLIPPAGE_WARNING_BPS = 300;
const RATE_DECIMALS = 8;
const ALTERNATIVES_MAX = 3;
const PRICE_DECIMALS = 24;
const USD_DECIMALS = 6;
/** Decimals of a value in US dollars that is not rounded: enough for a token with 36 decimals. */
const WORTH_DECIMALS = PRICE_DECIMALS + 36;

const sum = (values: readonly bigint[]): bigint =>
  values.reduce((total, value) => total + value, 0n);

/**
 * Received amount per sent unit, rounded down to 8 digits. Null when the sources are of different
 * assets.
 */
const rateOf = (request: RouteRequest, out: bigint): string | null => {
  const [first, ...others] = request.sources;
  if (
    first === undefined ||
    others.some((source) => source.token.assetId !== first.token.assetId)
  )
    return null;
  // An asset's decimals may differ between chains, so all amounts are scaled to 18 decimals.
  const sent = sum(
    request.sources.map(
      (source) => source.amountBase * 10n ** BigInt(18 - source.token.decimals),
    ),
  );
  const received = out * 10n ** BigInt(18 - request.destination.token.decimals);
  return formatAmount((received * 10n ** BigInt(RATE_DECIMALS)) / sent, RATE_DECIMALS);
};

const usdOf = (fee: RouteFee, prices: ReadonlyMap<string, string | null>): string | null => {
  const price = prices.get(tokenKey(fee.token));
  if (price === null || price === undefined) return null;
  const of = { amountBase: fee.amountBase, decimals: fee.token.decimals, price };
  return formatAmount(worthOf(of, USD_DECIMALS, "floor"), USD_DECIMALS);
};

/**
 * The exact value of all sources in US dollars at these prices (decimal strings). Null when a
 * source has no price.
 */
export const valueUsd = (
  request: RouteRequest,
  prices: readonly (string | null)[],
): string | null => {
  let total = 0n;
  for (const [index, { token, amountBase }] of request.sources.entries()) {
    const price = prices[index];
    if (price === null || price === undefined) return null;
    const { digits, scale } = parseDecimal(price);
    if (scale > PRICE_DECIMALS) return null;
    total += scaledTo(
      { digits: amountBase * digits, scale: token.decimals + scale },
      WORTH_DECIMALS,
      "ceil",
    );
  }
  return formatAmount(total, WORTH_DECIMALS);
};

export const tokenKey = (token: Token): string => `${String(token.chainId)}:${token.address}`;

/**
 * Warnings about tokens that charge a fee on a transfer: the recipient gets the sent amount minus
 * the fee.
 */
const keptByToken = (request: RouteRequest, route: Route): QuoteRecord["warnings"] =>
  route.legs.flatMap((leg) => {
    const source = request.sources[leg.sourceIndex];
    if (
      leg.kind !== "transfer" ||
      source === undefined ||
      leg.expectedOutBase >= source.amountBase
    )
      return [];
    const { decimals, symbol } = source.token;
    const [sent, arrives] = [
      formatAmount(source.amountBase, decimals),
      formatAmount(leg.expectedOutBase, decimals),
    ];
    const message = `${symbol} keeps a part of every transfer: of ${sent} that are sent ${arrives} arrive.`;
    return [{ code: "fee_on_transfer", path: null, message }];
  });

const warningsOf = (
  request: RouteRequest,
  route: Route,
  check: PriceCheck,
  shortOf: readonly string[],
): QuoteRecord["warnings"] => [
  ...keptByToken(request, route),
  ...(request.slippageBps > SLIPPAGE_WARNING_BPS
    ? [
        {
          code: "high_slippage",
          path: "slippageBps",
          message: `You accept up to ${String(request.slippageBps / 100)} % less than quoted.`,
        },
      ]
    : []),
  ...check.warnings,
  ...shortOf.map((text) => ({
    code: "insufficient_balance",
    path: "from",
    message: `You are short ${text}.`,
  })),
];

const alternativeOf = (
  request: RouteRequest,
  route: Route,
): QuoteRecord["alternatives"][number] => {
  const { decimals } = request.destination.token;
  const venues = [
    ...new Set(
      route.legs.flatMap((leg) =>
        leg.steps.map(
          (step) => `${leg.way ?? `${step.from.symbol} → ${step.to.symbol}`}, ${step.venue}`,
        ),
      ),
    ),
  ];
  return {
    routeId: routeIdOf(route),
    label: venues[0] ?? route.legs[0]?.provider ?? "",
    amount: formatAmount(expectedOut(route), decimals),
    minAmount: formatAmount(minimumOut(route), decimals),
    estimatedSeconds: secondsOf(route),
    steps: venues,
  };
};

const secondsOf = (route: Route): number =>
  Math.ceil(Math.max(...route.legs.map((leg) => leg.estimatedSeconds)));

const stepsOf = (leg: RouteLeg): QuoteRecord["steps"] =>
  leg.steps.map((step) => ({
    sourceIndex: leg.sourceIndex,
    kind: step.kind,
    venue: step.venue,
    from: toTokenRecord(step.from),
    to: toTokenRecord(step.to),
    amountIn: formatAmount(step.amountInBase, step.from.decimals),
    amountOut: formatAmount(step.amountOutBase, step.to.decimals),
  }));

export interface RecordInput {
  quoteId: string;
  expiresAt: Date;
  request: RouteRequest;
  wallets: readonly SourceWallet[];
  route: Route;
  others: readonly Route[];
  check: PriceCheck;
  /** The payer of each leg's network fee, in the order of the legs; null while unknown. */
  feePayers: readonly (FeePayer | null)[];
  prices: ReadonlyMap<string, string | null>;
  /** For each source whose wallet does not have enough now, the missing amount as text. */
  shortOf: readonly string[];
  votes: QuoteRecord["votes"];
}

export const toDestination = (request: RouteRequest, route: Route): QuoteRecord["to"] => {
  const { token, recipient } = request.destination;
  const [out, minimum] = [expectedOut(route), minimumOut(route)];
  return {
    chainId: token.chainId,
    address: recipient,
    token: toTokenRecord(token),
    amount: formatAmount(out, token.decimals),
    amountBase: out.toString(),
    minAmount: formatAmount(minimum, token.decimals),
    minAmountBase: minimum.toString(),
    decimals: token.decimals,
  };
};

export const toVotes = (required: Requirement | null): QuoteRecord["votes"] => {
  if (required === null) return null;
  const { count, roles, excludeMaker } = required;
  return { count, roles: [...roles], excludeMaker };
};

export const toQuoteRecord = (input: RecordInput): QuoteRecord => {
  const { request, route } = input;
  const { decimals } = request.destination.token;
  return {
    id: input.quoteId,
    quoteId: input.quoteId,
    routeId: routeIdOf(route),
    expiresAt: input.expiresAt.toISOString(),
    from: route.legs.map((leg, index) => {
      const source = request.sources[leg.sourceIndex];
      const wallet = input.wallets[leg.sourceIndex];
      if (!source || !wallet) throw new Error("A leg names a source that was not asked for.");
      return {
        ...toAmountRecord(source.token, source.amountBase),
        address: source.owner,
        chainId: source.token.chainId,
        walletId: wallet.id,
        expectedOut: formatAmount(leg.expectedOutBase, decimals),
        minOut: formatAmount(leg.minOutBase, decimals),
        estimatedSeconds: Math.ceil(leg.estimatedSeconds),
        networkFeePaidBy: input.feePayers[index] ?? null,
      };
    }),
    to: toDestination(request, route),
    rate: rateOf(request, expectedOut(route)),
    fees: route.legs
      .flatMap((leg) => leg.fees)
      .map((fee) => ({
        kind: fee.kind,
        amount: formatAmount(fee.amountBase, fee.token.decimals),
        token: toTokenRecord(fee.token),
        usd: usdOf(fee, input.prices),
      })),
    priceImpactBps: input.check.poolImpactBps,
    oracleImpactBps: input.check.oracleImpactBps,
    slippageBps: request.slippageBps,
    estimatedSeconds: secondsOf(route),
    steps: route.legs.flatMap(stepsOf),
    warnings: warningsOf(request, route, input.check, input.shortOf),
    votes: input.votes,
    alternatives: input.others
      .slice(0, ALTERNATIVES_MAX)
      .map((other) => alternativeOf(request, other)),
  };
};

/**
 * SHA-256 of the data that a one-time code approves: sources, amounts, recipient, minimum received.
 */
export const approvalDigest = (
  request: RouteRequest,
  minimumBase: bigint,
): Uint8Array<ArrayBuffer> => {
  const { token, recipient } = request.destination;
  const text = JSON.stringify({
    from: request.sources.map((source) => [
      source.owner,
      source.token.chainId,
      source.token.address,
      source.amountBase.toString(),
    ]),
    to: [token.chainId, token.address, recipient],
    minimum: minimumBase.toString(),
  });
  return new Uint8Array(createHash("sha256").update(text).digest());
};

/**
 * Names for the addresses in the lines of an approval. Each name is shown beside its full address.
 */
export interface ApprovalWords {
  readonly chainName: (chainId: number) => string;
  readonly names: ReadonlyMap<EvmAddress, string>;
}

/** All addresses that the lines of an approval mention, and the chain on which money arrives. */
export const approvalAddresses = ({
  sources,
  destination,
}: RouteRequest): { readonly addresses: readonly EvmAddress[]; readonly chainId: number } => ({
  addresses: [...sources.map(({ owner }) => owner), destination.recipient],
  chainId: destination.token.chainId,
});

/** The approved data as text, for the message that contains the one-time code. */
export const approvalLines = (
  request: RouteRequest,
  minimumBase: bigint,
  { chainName, names }: ApprovalWords,
): string[] => {
  const { token, recipient } = request.destination;
  const named = (address: EvmAddress): string => {
    const name = names.get(address);
    return name === undefined ? address : `${name}, ${address}`;
  };
  return [
    ...request.sources.map(
      (source) =>
        `You send: ${formatAmount(source.amountBase, source.token.decimals)} ${source.token.symbol} on ${chainName(source.token.chainId)} from ${named(source.owner)}`,
    ),
    `Minimum received: ${formatAmount(minimumBase, token.decimals)} ${token.symbol} on ${chainName(token.chainId)}`,
    `To: ${named(recipient)}`,
  ];
};
