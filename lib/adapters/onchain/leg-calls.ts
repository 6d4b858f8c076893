import { erc20Abi } from "viem";
import { encodeCall } from "@/lib/chains/encode-call";
import { DomainError } from "@/lib/core/errors";
import type {
  BuildOptions,
  Call,
  EvmAddress,
  LegTransactions,
  RouteLeg,
  RouteRequest,
  RouteSource,
} from "@/lib/ports/routing";
import { wrappedNativeAbi } from "./abis";
import { delivery, encodeDeposit, FILL_DEADLINE_SECONDS_MAX } from "./across";
import { askChain, type OnchainDeps } from "./chain-access";
import { parsePlan, type BridgePlan, type SwapPlan } from "./plan";
import { asErc20 } from "./same-chain-legs";
import { encodeExactInput, encodeExactOutput } from "./swap-calls";

interface LegContext {
  readonly source: RouteSource;
  readonly request: RouteRequest;
  readonly leg: RouteLeg;
  /** The account that makes the calls, and holds the source's amount at that moment. */
  readonly payer: EvmAddress;
}

/** `depositQuoteTimeBuffer` of every SpokePool: a deposit whose quote is older reverts. */
const QUOTE_SECONDS_MAX = 3600;

const approve = (token: EvmAddress, spender: EvmAddress, amount: bigint): Call => ({
  to: token,
  value: 0n,
  data: encodeCall({ abi: erc20Abi, functionName: "approve", args: [spender, amount] }),
});

const transfer = (token: EvmAddress | "native", to: EvmAddress, amount: bigint): Call =>
  token === "native"
    ? { to, value: amount, data: "0x" }
    : {
        to: token,
        value: 0n,
        data: encodeCall({ abi: erc20Abi, functionName: "transfer", args: [to, amount] }),
      };

const missing = (what: string, chain: string): DomainError =>
  new DomainError("no_route", `${chain} has no ${what} configured any more. Ask for a new quote.`);

const latestTimestamp = async (deps: OnchainDeps, chainId: number, signal: AbortSignal): Promise<number> =>
  Number((await askChain(deps, chainId, signal, (client) => client.getBlock())).timestamp);

const routerOf = (deps: OnchainDeps, chainId: number): EvmAddress => {
  const chain = deps.registry.get(chainId);
  const router = chain.contracts.uniswapV3?.swapRouter02;
  if (router === undefined) throw missing("Uniswap router", chain.name);
  return router;
};

/**
 * Tokens like USDT refuse to change an allowance that is not zero. Our calls always end with zero, but another
 * application may have left one.
 */
const approvals = async (
  deps: OnchainDeps,
  { source, payer }: LegContext,
  token: EvmAddress,
  spender: EvmAddress,
  amount: bigint,
  signal: AbortSignal,
): Promise<readonly Call[]> => {
  const left = await askChain(deps, source.token.chainId, signal, (client) =>
    client.readContract({ address: token, abi: erc20Abi, functionName: "allowance", args: [payer, spender] }),
  );
  return [...(left > 0n && left !== amount ? [approve(token, spender, 0n)] : []), approve(token, spender, amount)];
};

const wrapCalls = (deps: OnchainDeps, { source, request, payer }: LegContext): readonly Call[] => {
  const { recipient, token } = request.destination;
  const wrapped = asErc20(deps, source.token).address;
  const amount = source.amountBase;
  const exchange: Call =
    source.token.address === "native"
      ? { to: wrapped, value: amount, data: encodeCall({ abi: wrappedNativeAbi, functionName: "deposit" }) }
      : {
          to: wrapped,
          value: 0n,
          data: encodeCall({ abi: wrappedNativeAbi, functionName: "withdraw", args: [amount] }),
        };
  const stays = recipient.toLowerCase() === payer.toLowerCase();
  return stays ? [exchange] : [exchange, transfer(token.address, recipient, amount)];
};

const swapCalls = async (
  deps: OnchainDeps,
  context: LegContext,
  swap: SwapPlan,
  signal: AbortSignal,
): Promise<LegTransactions> => {
  const { source, request, leg } = context;
  const router = routerOf(deps, source.token.chainId);
  const native = source.token.address === "native";
  const token = asErc20(deps, source.token).address;
  const [timestamp, allowances] = await Promise.all([
    latestTimestamp(deps, source.token.chainId, signal),
    native ? [] : approvals(deps, context, token, router, source.amountBase, signal),
  ]);
  const validUntil = timestamp + deps.tuning.swapDeadlineSeconds;
  const data = encodeExactInput({
    swap,
    recipient: request.destination.recipient,
    minimumOut: leg.minOutBase,
    unwrap: request.destination.token.address === "native",
    refundNative: native,
    deadline: BigInt(validUntil),
  });
  const calls = [...allowances, { to: router, value: native ? source.amountBase : 0n, data }];
  return { calls, spendsAll: !native, validUntil, fillDeadline: null };
};

/**
 * The swap that pays for a deposit: buys exactly the deposit's amount, then revokes the unused part of its allowance.
 */
const payingSwap = async (
  deps: OnchainDeps,
  context: LegContext,
  swap: SwapPlan,
  timestamp: Promise<number>,
  signal: AbortSignal,
): Promise<readonly Call[]> => {
  const { source, payer } = context;
  const router = routerOf(deps, source.token.chainId);
  const native = source.token.address === "native";
  const token = asErc20(deps, source.token).address;
  const allowances = native ? [] : await approvals(deps, context, token, router, source.amountBase, signal);
  const data = encodeExactOutput({
    swap,
    recipient: payer,
    refundNative: native,
    deadline: BigInt((await timestamp) + deps.tuning.swapDeadlineSeconds),
  });
  const swapCall: Call = { to: router, value: native ? source.amountBase : 0n, data };
  return native ? [swapCall] : [...allowances, swapCall, approve(token, router, 0n)];
};

const bridgeCalls = async (
  deps: OnchainDeps,
  context: LegContext,
  plan: BridgePlan,
  signal: AbortSignal,
): Promise<LegTransactions> => {
  const { source, request, leg } = context;
  const [origin, destination] = [
    deps.registry.get(source.token.chainId),
    deps.registry.get(request.destination.token.chainId),
  ];
  const across = origin.contracts.across;
  const handler = destination.contracts.across?.multicallHandler;
  if (across === undefined) throw missing("bridge", origin.name);
  if (handler === undefined) throw missing("bridge", destination.name);
  if (plan.destinationSwap === null && plan.outputAmount < leg.minOutBase) {
    throw new DomainError("quote_price_moved", "This leg can no longer deliver its minimum. Ask for a new quote.");
  }
  const originTime = latestTimestamp(deps, origin.id, signal);
  // A native coin that is bridged without a swap is sent as the call's value: the SpokePool wraps it, and no allowance
  // is needed.
  const asValue = source.token.address === "native" && plan.sourceSwap === null;
  const [timestamp, destinationTime, paying, allowances] = await Promise.all([
    originTime,
    latestTimestamp(deps, destination.id, signal),
    plan.sourceSwap === null ? [] : payingSwap(deps, context, plan.sourceSwap, originTime, signal),
    asValue ? [] : approvals(deps, context, plan.inputToken, across.spokePool, plan.inputAmount, signal),
  ]);
  // The fill deadline is compared with the destination's clock, and its maximum is enforced by the origin's clock.
  const fillDeadline = Math.min(
    Math.max(timestamp, destinationTime) + across.fillDeadlineSeconds,
    timestamp + FILL_DEADLINE_SECONDS_MAX,
  );
  const { recipient, message } = delivery({
    handler,
    router: destination.contracts.uniswapV3?.swapRouter02 ?? null,
    bridgeToken: plan.outputToken,
    wrappedNative: destination.contracts.wrappedNative,
    amount: plan.outputAmount,
    swap: plan.destinationSwap,
    minimumOut: leg.minOutBase,
    toNative: request.destination.token.address === "native",
    recipient: request.destination.recipient,
    deadline: BigInt(fillDeadline),
  });
  const data = encodeDeposit({
    depositor: source.owner,
    recipient,
    inputToken: plan.inputToken,
    outputToken: plan.outputToken,
    inputAmount: plan.inputAmount,
    outputAmount: plan.outputAmount,
    destinationChainId: destination.id,
    quoteTimestamp: timestamp,
    fillDeadline,
    message,
  });
  const deposit: Call = { to: across.spokePool, value: asValue ? plan.inputAmount : 0n, data };
  return {
    calls: [...paying, ...allowances, deposit],
    spendsAll: !asValue && plan.sourceSwap === null,
    validUntil: timestamp + QUOTE_SECONDS_MAX,
    fillDeadline,
  };
};

/** Builds the calls of legs: one atomic batch per source wallet, with exact allowances that the calls use up. */
export const createLegCalls = (deps: OnchainDeps) => {
  return async (
    request: RouteRequest,
    leg: RouteLeg,
    signal: AbortSignal,
    options: BuildOptions = {},
  ): Promise<LegTransactions> => {
    const source = request.sources[leg.sourceIndex];
    if (source === undefined) throw new RangeError(`There is no source ${leg.sourceIndex} in this request.`);
    const context = { source, request, leg, payer: options.executor ?? source.owner };
    const plan = parsePlan(leg.plan);
    // Transfers and wrapping have no deadline.
    const always = { validUntil: null, fillDeadline: null };
    switch (plan.kind) {
      case "transfer": {
        const calls = [transfer(source.token.address, request.destination.recipient, source.amountBase)];
        return { calls, spendsAll: source.token.address !== "native", ...always };
      }
      case "wrap":
      case "unwrap":
        return { calls: wrapCalls(deps, context), spendsAll: false, ...always };
      case "swap":
        return swapCalls(deps, context, plan.swap, signal);
      case "bridge":
        return bridgeCalls(deps, context, plan, signal);
    }
  };
};
