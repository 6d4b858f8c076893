import { getAddress } from "viem";
import type { Clock } from "@/lib/core/clock";
import { DomainError } from "@/lib/core/errors";
import { bpsOfCeil, lessBpsFloor, rescaleFloor } from "@/lib/core/money";
import type { Token } from "@/lib/core/token";
import type { BridgeProgress, RouteLeg, RoutingProvider, SourceReceipt } from "../routing";
import type { RouteRequest, RouteSource } from "@/lib/core/route-request";
import type { Call, EvmAddress, ReceiptLog } from "@/lib/core/evm";

const VENUE: EvmAddress = "0x00000000000000000000000000000000000000fa";
const TOPIC = `0x${"fa".repeat(32)}` as const;
const BRIDGE_FEE_BPS = 5;
const SWAP_FEE_BPS = 30;
const USD_SCALE = 1_000_000n;
const DEFAULT_LIQUIDITY_USD = 10_000_000n;

interface FakeDeposit {
  readonly depositId: string;
  readonly originChainId: number;
  readonly fillDeadline: number;
}

/**
 * The data of one call of the fake, and of the log that the call emits. Amounts are decimal integer
 * strings.
 */
interface FakeAction {
  readonly sourceIndex: number;
  readonly kind: RouteLeg["kind"];
  readonly spent: string;
  readonly delivered: string;
  readonly fillDeadline: number | null;
  readonly depositId?: string;
}

export interface FakeRoutingOptions {
  readonly clock: Clock;
  /**
   * Whole US dollars by asset id. A pegged token is worth one dollar; any other token without an
   * entry has no route.
   */
  readonly usdByAsset?: Readonly<Record<string, bigint>>;
  /** US dollars above which a leg fails with `insufficient_liquidity`. */
  readonly liquidityUsd?: bigint;
  readonly fillDeadlineSeconds?: number;
}

export interface FakeRouting extends RoutingProvider {
  mine(request: RouteRequest, leg: RouteLeg, calls: readonly Call[]): SourceReceipt;
  /**
   * Simulates that a relayer filled the deposit.
   * @throws RangeError after the deposit's deadline
   */
  fill(deposit: unknown): void;
  refund(deposit: unknown): void;
  failNext(error: DomainError): void;
}

const toHex = (value: unknown): `0x${string}` =>
  `0x${Buffer.from(JSON.stringify(value)).toString("hex")}`;
const fromHex = (hex: `0x${string}`): unknown =>
  JSON.parse(Buffer.from(hex.slice(2), "hex").toString());

interface FakePrices {
  readonly usdByAsset: Readonly<Record<string, bigint>>;
  readonly liquidityUsd: bigint;
}

const usdOf = (prices: FakePrices, token: Token): bigint | null =>
  token.usdPegged ? 1n : (prices.usdByAsset[token.assetId] ?? null);

const convert = (prices: FakePrices, from: Token, to: Token, amountBase: bigint): bigint => {
  const [fromUsd, toUsd] = [usdOf(prices, from), usdOf(prices, to)];
  if (from.assetId === to.assetId) return rescaleFloor(amountBase, from.decimals, to.decimals);
  if (fromUsd === null || toUsd === null)
    throw new DomainError("no_route", "Nothing connects these two tokens.");
  return (
    rescaleFloor(amountBase * fromUsd * USD_SCALE, from.decimals, to.decimals) /
    (toUsd * USD_SCALE)
  );
};

const legOf = (
  prices: FakePrices,
  request: RouteRequest,
  source: RouteSource,
  sourceIndex: number,
): RouteLeg => {
  const { token: to } = request.destination;
  const crosses = source.token.chainId !== to.chainId;
  const swaps = source.token.assetId !== to.assetId;
  const worth = (usdOf(prices, source.token) ?? 0n) * source.amountBase;
  if (worth > prices.liquidityUsd * 10n ** BigInt(source.token.decimals)) {
    throw new DomainError(
      "insufficient_liquidity",
      "The pools are too shallow for this amount.",
    );
  }
  const bridgeFee = crosses ? bpsOfCeil(source.amountBase, BRIDGE_FEE_BPS) : 0n;
  const swapFee = swaps ? bpsOfCeil(source.amountBase, SWAP_FEE_BPS) : 0n;
  const expectedOutBase = convert(
    prices,
    source.token,
    to,
    source.amountBase - bridgeFee - swapFee,
  );
  if (expectedOutBase <= 0n)
    throw new DomainError("no_route", "The amount is too small to move.");
  const kind = crosses ? "bridge" : swaps ? "swap" : "transfer";
  const fee = (feeKind: "bridge" | "swap", amountBase: bigint) => ({
    kind: feeKind,
    token: source.token,
    amountBase,
  });
  return {
    provider: "fake",
    sourceIndex,
    kind,
    expectedOutBase,
    minOutBase: swaps ? lessBpsFloor(expectedOutBase, request.slippageBps) : expectedOutBase,
    steps: [
      {
        kind,
        venue: "Fake",
        from: source.token,
        to,
        amountInBase: source.amountBase,
        amountOutBase: expectedOutBase,
      },
    ],
    fees: [
      ...(crosses ? [fee("bridge", bridgeFee)] : []),
      ...(swaps ? [fee("swap", swapFee)] : []),
    ],
    estimatedSeconds: crosses ? 2 : 1,
    priceImpactBps: 0,
    plan: { fake: true },
  };
};

const sourceOf = (request: RouteRequest, leg: RouteLeg): RouteSource => {
  const source = request.sources[leg.sourceIndex];
  if (source === undefined)
    throw new RangeError(`There is no source ${leg.sourceIndex} in this request.`);
  return source;
};

const createFakeChain = (nowSeconds: () => number) => {
  const settled = new Map<string, BridgeProgress>();
  const spentBy = new Map<string, RouteSource>();
  let deposits = 0;
  let transactions = 0;
  const nextTransaction = () => {
    transactions += 1;
    const txHash = `0x${transactions.toString(16).padStart(64, "0")}` as const;
    return { txHash, blockNumber: BigInt(transactions) };
  };

  const mine: FakeRouting["mine"] = (request, leg, calls) => {
    const [call] = calls;
    if (call === undefined) throw new RangeError("There is nothing to mine.");
    const action = fromHex(call.data) as FakeAction;
    const source = sourceOf(request, leg);
    if (action.kind === "bridge") deposits += 1;
    const depositId = deposits.toString();
    if (action.kind === "bridge") spentBy.set(depositId, source);
    const told: FakeAction = action.kind === "bridge" ? { ...action, depositId } : action;
    const log: ReceiptLog = { address: VENUE, topics: [TOPIC], data: toHex(told), logIndex: 0 };
    return { chainId: source.token.chainId, ...nextTransaction(), logs: [log] };
  };

  const fill: FakeRouting["fill"] = (deposit) => {
    const { depositId, fillDeadline } = deposit as FakeDeposit;
    if (nowSeconds() > fillDeadline)
      throw new RangeError("The deadline of this deposit has passed.");
    // Chain and amount are placeholders. `fill` does not get the leg, so `track` sets them.
    settled.set(depositId, {
      state: "filled",
      chainId: 0,
      ...nextTransaction(),
      receivedBase: 0n,
    });
  };

  const refund: FakeRouting["refund"] = (deposit) => {
    const { depositId, originChainId: chainId, fillDeadline } = deposit as FakeDeposit;
    const source = spentBy.get(depositId);
    if (source === undefined || nowSeconds() <= fillDeadline)
      throw new RangeError("There is nothing to refund.");
    const { token, amountBase: refundedBase } = source;
    const paid = { paidBase: refundedBase, refundedBase, token, logIndex: 0 };
    settled.set(depositId, { state: "refunded", chainId, ...nextTransaction(), ...paid });
  };

  const progressOf = (deposit: unknown): BridgeProgress => {
    const { depositId, fillDeadline } = deposit as FakeDeposit;
    return (
      settled.get(depositId) ??
      (nowSeconds() > fillDeadline ? { state: "expired" } : { state: "waiting" })
    );
  };

  return { mine, fill, refund, progressOf };
};

const readSource: RoutingProvider["readSource"] = (request, leg, receipt) => {
  const log = receipt.logs.find(({ address }) => address === VENUE);
  if (log === undefined)
    throw new DomainError("provider_error", "The transaction did nothing for this leg.");
  const action = fromHex(log.data) as FakeAction;
  const spentBase = BigInt(action.spent);
  if (action.depositId === undefined || action.fillDeadline === null) {
    return {
      spentBase,
      receivedBase: BigInt(action.delivered),
      deposit: null,
      depositedBase: null,
    };
  }
  const deposit: FakeDeposit = {
    depositId: action.depositId,
    originChainId: sourceOf(request, leg).token.chainId,
    fillDeadline: action.fillDeadline,
  };
  return { spentBase, receivedBase: null, deposit, depositedBase: spentBase };
};

/**
 * A routing provider without chains, for tests of code that uses the port. Prices come from a
 * table, so equal requests always get equal answers. Nothing moves before the test triggers it.
 */
export const createFakeRouting = ({
  clock,
  usdByAsset = {},
  liquidityUsd = DEFAULT_LIQUIDITY_USD,
  fillDeadlineSeconds = 600,
}: FakeRoutingOptions): FakeRouting => {
  let failure: DomainError | null = null;

  const nowSeconds = (): number => Math.floor(clock.now().getTime() / 1000);
  const { progressOf, ...chain } = createFakeChain(nowSeconds);
  const prices: FakePrices = { usdByAsset, liquidityUsd };
  const begin = (signal?: AbortSignal): void => {
    signal?.throwIfAborted();
    const error = failure;
    failure = null;
    if (error !== null) throw error;
  };
  const priceUsd: RoutingProvider["priceUsd"] = async (tokens, signal) => {
    await Promise.resolve();
    begin(signal);
    return tokens.map((token) => usdOf(prices, token)?.toString() ?? null);
  };

  return {
    id: "fake",
    ...chain,
    quote: async (request, signal) => {
      await Promise.resolve();
      begin(signal);
      return [
        { legs: request.sources.map((source, index) => legOf(prices, request, source, index)) },
      ];
    },
    build: async (request, leg, signal) => {
      await Promise.resolve();
      begin(signal);
      const source = sourceOf(request, leg);
      const fillDeadline = leg.kind === "bridge" ? nowSeconds() + fillDeadlineSeconds : null;
      const action: FakeAction = {
        sourceIndex: leg.sourceIndex,
        kind: leg.kind,
        spent: source.amountBase.toString(),
        delivered: leg.expectedOutBase.toString(),
        fillDeadline,
      };
      const value = source.token.address === "native" ? source.amountBase : 0n;
      return {
        calls: [{ to: VENUE, data: toHex(action), value }],
        spendsAll: value === 0n,
        validUntil: null,
        fillDeadline,
      };
    },
    readSource,
    track: async (request, leg, deposit, signal) => {
      await Promise.resolve();
      begin(signal);
      const progress = progressOf(deposit);
      if (progress.state === "filled") {
        return {
          ...progress,
          chainId: request.destination.token.chainId,
          receivedBase: leg.expectedOutBase,
        };
      }
      return progress;
    },
    refundsIn: async (_request, _leg, deposit, { txHash }, signal) => {
      await Promise.resolve();
      begin(signal);
      const progress = progressOf(deposit);
      return progress.state === "refunded" && progress.txHash === txHash ? [progress] : [];
    },
    contracts: () => [getAddress(VENUE)],
    priceUsd,
    highestPriceUsd: priceUsd,
    failNext: (error) => {
      failure = error;
    },
  };
};
