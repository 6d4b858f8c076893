import { erc20Abi } from "viem";
import { encodeCall } from "@/lib/chain/encode-call";
import { probe, type ProbeResult } from "@/lib/chain/probe";
import type { EvmAddress } from "@/lib/core/evm";
import type { LegKind, RouteFee, RouteLeg, RouteStep } from "@/lib/money/ports/routing";
import type { RouteRequest, RouteSource } from "@/lib/core/route-request";
import { askChain, type OnchainDeps } from "./chain-access";
import { DomainError } from "@/lib/core/errors";
import { lessBpsFloor } from "@/lib/core/money";
import type { Token } from "@/lib/core/token";
import { type LegPlan, planToJson, PROVIDER_ID, type SwapPlan } from "./plan";
import type { SwapFinder, SwapQuote } from "./uniswap";

const amountOf = (result: ProbeResult | undefined): bigint | null =>
  result?.success === true && result.returnData !== "0x" ? BigInt(result.returnData) : null;

/**
 * Simulates a plain transfer on the chain's latest state in one unsigned `eth_call`, and returns
 * the amount that the recipient would get. Compares the recipient's balances, because a token may
 * deduct a part of every transfer without showing it in its return value or event. Null when the
 * amount cannot be determined, because the wallet does not hold the amount yet, the token rejects
 * the transfer, or the chain does not answer.
 */
const createTransferProbe =
  (deps: OnchainDeps) =>
  async (
    source: RouteSource,
    recipient: EvmAddress,
    signal: AbortSignal,
  ): Promise<bigint | null> => {
    const { owner, token, amountBase } = source;
    const { address } = token;
    if (address === "native" || owner.toLowerCase() === recipient.toLowerCase()) return null;
    const balance = {
      to: address,
      data: encodeCall({ abi: erc20Abi, functionName: "balanceOf", args: [recipient] }),
    };
    const data = encodeCall({
      abi: erc20Abi,
      functionName: "transfer",
      args: [recipient, amountBase],
    });
    const ask = askChain(deps, token.chainId, signal, (client) =>
      probe(client, owner, [balance, { to: address, data }, balance]),
    );
    const results = await ask.catch(() => []);
    signal.throwIfAborted();
    const [before, after] = [amountOf(results[0]), amountOf(results[2])];
    if (results[1]?.success !== true || before === null || after === null || after <= before)
      return null;
    return after - before;
  };

export const SWAP_VENUE = "Uniswap v3";
const WRAP_VENUE = "WETH";
const WALLET_VENUE = "Wallet";
const FEE_UNIT = 1_000_000n;

export interface LegInput {
  readonly request: RouteRequest;
  readonly sourceIndex: number;
  readonly source: RouteRequest["sources"][number];
}

export const sameToken = (a: Token, b: Token): boolean =>
  a.chainId === b.chainId && a.address.toLowerCase() === b.address.toLowerCase();

/**
 * The ERC-20 token that represents a token in pools and bridges: the token itself, or the wrapped
 * form of the chain's coin.
 */
export const asErc20 = (
  deps: Pick<OnchainDeps, "registry">,
  token: Token,
): Token & { address: `0x${string}` } => {
  const erc20 = token.address === "native" ? deps.registry.wrappedNative(token.chainId) : token;
  if (erc20.address === "native")
    throw new TypeError("The wrapped form of a native coin has to be an ERC-20.");
  return { ...erc20, address: erc20.address };
};

export const planOf = (quote: SwapQuote): SwapPlan => ({
  shares: quote.shares.map(({ path, amountIn, amountOut }) => ({
    amountIn,
    amountOut,
    hops: path.map((hop) => ({
      tokenIn: hop.tokenIn as `0x${string}`,
      tokenOut: hop.tokenOut as `0x${string}`,
      fee: hop.pool.fee,
    })),
  })),
});

/** The fee that the pools take from a trade, in the sold token, rounded up. */
export const swapFee = (quote: SwapQuote, token: Token): RouteFee => {
  const amountBase = quote.shares.reduce((sum, { path, amountIn }) => {
    const kept = path.reduce(
      (amount, { pool }) => (amount * (FEE_UNIT - BigInt(pool.fee))) / FEE_UNIT,
      amountIn,
    );
    return sum + amountIn - kept;
  }, 0n);
  return { kind: "swap", token, amountBase };
};

export const confirmationSeconds = (
  deps: Pick<OnchainDeps, "registry">,
  chainId: number,
): number => {
  const { confirmations, blockTimeMs } = deps.registry.get(chainId);
  return Math.max(1, Math.ceil((confirmations * blockTimeMs) / 1000));
};

const FEE_PERCENT = 10_000;

/**
 * Describes the pools of a trade, such as "USDC → WETH 0.05 %", with each further share after a
 * plus. The shares are sorted, because their order changes with the amounts.
 */
const wayOf = (
  { registry }: Pick<OnchainDeps, "registry">,
  chainId: number,
  { shares }: SwapQuote,
): string => {
  const tokens = registry.tokens(chainId);
  const symbolOf = (address: string): string =>
    tokens.find((token) => token.address.toLowerCase() === address.toLowerCase())?.symbol ??
    address;
  const pathText = ({ path }: SwapQuote["shares"][number]): string =>
    [
      symbolOf(path[0]?.tokenIn ?? ""),
      ...path.map(
        ({ tokenOut, pool }) => `${symbolOf(tokenOut)} ${String(pool.fee / FEE_PERCENT)} %`,
      ),
    ].join(" → ");
  return shares.map(pathText).sort().join(" + ");
};

interface LegParts {
  readonly way?: string;
  readonly kind: LegKind;
  readonly venue: string;
  readonly stepKind: RouteStep["kind"];
  readonly expectedOutBase: bigint;
  readonly minOutBase: bigint;
  readonly fees: readonly RouteFee[];
  readonly priceImpactBps: number;
  readonly plan: LegPlan;
}

export const createSameChainLegs = (deps: OnchainDeps, finder: SwapFinder) => {
  const transferGain = createTransferProbe(deps);

  const legOf = ({ sourceIndex, source, request }: LegInput, parts: LegParts): RouteLeg => ({
    provider: PROVIDER_ID,
    sourceIndex,
    kind: parts.kind,
    expectedOutBase: parts.expectedOutBase,
    minOutBase: parts.minOutBase,
    steps: [
      {
        kind: parts.stepKind,
        venue: parts.venue,
        from: source.token,
        to: request.destination.token,
        amountInBase: source.amountBase,
        amountOutBase: parts.expectedOutBase,
      },
    ],
    ...(parts.way === undefined ? {} : { way: parts.way }),
    fees: parts.fees,
    estimatedSeconds: confirmationSeconds(deps, source.token.chainId),
    priceImpactBps: parts.priceImpactBps,
    plan: planToJson(parts.plan),
  });

  /**
   * A leg without a trade: the sent amount arrives, or `amount` when the token deducts a part of
   * each transfer.
   */
  const oneToOne = (
    input: LegInput,
    parts: Pick<LegParts, "kind" | "venue" | "stepKind" | "plan">,
    amount = input.source.amountBase,
  ): RouteLeg => {
    return legOf(input, {
      ...parts,
      expectedOutBase: amount,
      minOutBase: amount,
      fees: [],
      priceImpactBps: 0,
    });
  };

  return async (input: LegInput, signal: AbortSignal): Promise<readonly RouteLeg[]> => {
    const { source, request } = input;
    const from = source.token;
    const to = request.destination.token;
    if (sameToken(from, to)) {
      const plan: LegPlan = { kind: "transfer" };
      const gain = await transferGain(source, request.destination.recipient, signal);
      const arrives = gain !== null && gain < source.amountBase ? gain : source.amountBase;
      return [
        oneToOne(
          input,
          { kind: "transfer", stepKind: "transfer", venue: WALLET_VENUE, plan },
          arrives,
        ),
      ];
    }
    const [erc20In, erc20Out] = [asErc20(deps, from), asErc20(deps, to)];
    if (sameToken(erc20In, erc20Out)) {
      const { name, contracts } = deps.registry.get(from.chainId);
      const isOwn = request.destination.recipient.toLowerCase() === source.owner.toLowerCase();
      // For another recipient, the router wraps and pays in one call, because the wrapped coin's
      // contract pays only its caller.
      if (!isOwn && contracts.uniswapV3 === undefined)
        throw new DomainError(
          "no_route",
          `On ${name} a coin can be wrapped or unwrapped for the paying wallet alone. Nothing was sent; send it to that wallet, and transfer it from there.`,
        );
      const plan: LegPlan = { kind: from.address === "native" ? "wrap" : "unwrap" };
      return [oneToOne(input, { kind: "swap", stepKind: "swap", venue: WRAP_VENUE, plan })];
    }
    const quotes = await finder.find(
      {
        chainId: from.chainId,
        tokenIn: erc20In.address.toLowerCase(),
        tokenOut: erc20Out.address.toLowerCase(),
        amountIn: source.amountBase,
      },
      signal,
    );
    return quotes.map((quote) =>
      legOf(input, {
        kind: "swap",
        stepKind: "swap",
        venue: SWAP_VENUE,
        expectedOutBase: quote.amountOut,
        minOutBase: lessBpsFloor(quote.amountOut, request.slippageBps),
        way: wayOf(deps, from.chainId, quote),
        fees: [swapFee(quote, from)],
        priceImpactBps: quote.impactBps,
        plan: { kind: "swap", swap: planOf(quote) },
      }),
    );
  };
};
