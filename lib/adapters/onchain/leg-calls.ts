import { erc20Abi } from "viem";
import { encodeCall } from "@/lib/chain/encode-call";
import { DomainError } from "@/lib/core/errors";
import type { BuildOptions, LegTransactions, RouteLeg } from "@/lib/money/ports/routing";
import type { RouteRequest, RouteSource } from "@/lib/core/route-request";
import type { Call, EvmAddress } from "@/lib/core/evm";
import { type BridgePlan, parsePlan, type SwapPlan, wrappedNativeAbi } from "./plan";
import {
  delivery,
  encodeDeposit,
  encodeSwapAndDeposit,
  FILL_DEADLINE_SECONDS_MAX,
  type DepositTerms,
} from "./across";
import { askChain, type OnchainDeps } from "./chain-access";
import { asErc20 } from "./same-chain-legs";
import {
  encodeExactInput,
  encodeSwapForCaller,
  encodeUnwrapFor,
  encodeWrapFor,
} from "./swap-calls";

interface LegContext {
  readonly source: RouteSource;
  readonly request: RouteRequest;
  readonly leg: RouteLeg;
  /** The account that makes the calls. It holds the source's amount when the calls run. */
  readonly payer: EvmAddress;
}

/**
 * Maximum age of a deposit's quote (`depositQuoteTimeBuffer` of every SpokePool). Deposits with an
 * older quote revert.
 */
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
  new DomainError(
    "no_route",
    `${chain} has no ${what} configured any more. Ask for a new quote.`,
  );

const latestTimestamp = async (
  deps: OnchainDeps,
  chainId: number,
  signal: AbortSignal,
): Promise<number> =>
  Number((await askChain(deps, chainId, signal, (client) => client.getBlock())).timestamp);

const routerOf = (deps: OnchainDeps, chainId: number): EvmAddress => {
  const chain = deps.registry.get(chainId);
  const router = chain.contracts.uniswapV3?.swapRouter02;
  if (router === undefined) throw missing("Uniswap router", chain.name);
  return router;
};

/**
 * Approves exactly `amount`. Another application may have left an allowance; it is set to zero
 * first, because tokens like USDT refuse to change an allowance that is not zero.
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
    client.readContract({
      address: token,
      abi: erc20Abi,
      functionName: "allowance",
      args: [payer, spender],
    }),
  );
  return [
    ...(left > 0n && left !== amount ? [approve(token, spender, 0n)] : []),
    approve(token, spender, amount),
  ];
};

/** Wraps or unwraps for the payer itself. The wrapped coin's contract pays only its caller. */
const wrapForPayer = (deps: OnchainDeps, { source }: LegContext): Call => {
  const wrapped = asErc20(deps, source.token).address;
  const amount = source.amountBase;
  if (source.token.address === "native")
    return {
      to: wrapped,
      value: amount,
      data: encodeCall({ abi: wrappedNativeAbi, functionName: "deposit" }),
    };
  return {
    to: wrapped,
    value: 0n,
    data: encodeCall({ abi: wrappedNativeAbi, functionName: "withdraw", args: [amount] }),
  };
};

/**
 * Wraps or unwraps for another recipient through the router, in one call. Otherwise a wallet
 * without batches would send two transactions, and be left with the wrong token if the second one
 * failed.
 */
const wrapForOther = async (
  deps: OnchainDeps,
  context: LegContext,
  signal: AbortSignal,
): Promise<LegTransactions> => {
  const { source, request } = context;
  const { chainId, address } = source.token;
  const router = routerOf(deps, chainId);
  const wrappedNative = asErc20(deps, source.token).address;
  const amount = source.amountBase;
  const [timestamp, allowances] = await Promise.all([
    latestTimestamp(deps, chainId, signal),
    address === "native" ? [] : approvals(deps, context, address, router, amount, signal),
  ]);
  const validUntil = timestamp + deps.tuning.swapDeadlineSeconds;
  const terms = {
    wrappedNative,
    amount,
    recipient: request.destination.recipient,
    deadline: BigInt(validUntil),
  };
  const call =
    address === "native"
      ? { to: router, value: amount, data: encodeWrapFor(terms) }
      : { to: router, value: 0n, data: encodeUnwrapFor(terms) };
  return { calls: [...allowances, call], spendsAll: false, validUntil, fillDeadline: null };
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

interface Deposit {
  readonly calls: readonly Call[];
  readonly spendsAll: boolean;
  readonly validUntil: number;
}

const plainDeposit = async (
  deps: OnchainDeps,
  context: LegContext,
  { spokePool, terms }: { spokePool: EvmAddress; terms: DepositTerms },
  signal: AbortSignal,
): Promise<Deposit> => {
  // A native coin is sent as the call's value. The SpokePool wraps it and needs no allowance.
  const native = context.source.token.address === "native";
  const allowances = native
    ? []
    : await approvals(deps, context, terms.inputToken, spokePool, terms.inputAmount, signal);
  const deposit = {
    to: spokePool,
    value: native ? terms.inputAmount : 0n,
    data: encodeDeposit(terms),
  };
  return {
    calls: [...allowances, deposit],
    spendsAll: !native,
    validUntil: terms.quoteTimestamp + QUOTE_SECONDS_MAX,
  };
};

/**
 * Sells the source's whole amount and deposits the whole output in one call. If a separate deposit
 * failed, the wallet would be left with a token that nobody requested.
 */
const swapAndDeposit = async (
  deps: OnchainDeps,
  context: LegContext,
  { spokePool, terms, swap }: { spokePool: EvmAddress; terms: DepositTerms; swap: SwapPlan },
  signal: AbortSignal,
): Promise<Deposit> => {
  const { token, amountBase } = context.source;
  const chain = deps.registry.get(token.chainId);
  const periphery = chain.contracts.across?.spokePoolPeriphery;
  if (periphery === undefined) throw missing("bridge", chain.name);
  const native = token.address === "native";
  const sold = asErc20(deps, token).address;
  const router = routerOf(deps, token.chainId);
  const allowances = native
    ? []
    : await approvals(deps, context, sold, periphery, amountBase, signal);
  const validUntil = terms.quoteTimestamp + deps.tuning.swapDeadlineSeconds;
  const routerData = encodeSwapForCaller({ swap, deadline: BigInt(validUntil) });
  const data = encodeSwapAndDeposit({
    spokePool,
    soldToken: sold,
    soldAmount: amountBase,
    router,
    routerData,
    deposit: terms,
  });
  return {
    calls: [...allowances, { to: periphery, value: native ? amountBase : 0n, data }],
    spendsAll: !native,
    validUntil,
  };
};

/**
 * The deposit's input and output amounts. Without a swap after the bridge, the deposit enforces the
 * leg's minimum, which may have been raised since the quote. Then the minimum of the swap before
 * the bridge rises in proportion.
 */
const depositAmounts = (
  plan: BridgePlan,
  minimumOut: bigint,
): Pick<DepositTerms, "inputAmount" | "outputAmount"> => {
  const { inputAmount, outputAmount } = plan;
  if (plan.destinationSwap !== null || outputAmount >= minimumOut)
    return { inputAmount, outputAmount };
  if (plan.sourceSwap === null)
    throw new DomainError(
      "quote_price_moved",
      "This leg can no longer deliver its minimum. Ask for a new quote.",
    );
  return {
    inputAmount: (inputAmount * minimumOut + outputAmount - 1n) / outputAmount,
    outputAmount: minimumOut,
  };
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
  const amounts = depositAmounts(plan, leg.minOutBase);
  const [timestamp, destinationTime] = await Promise.all([
    latestTimestamp(deps, origin.id, signal),
    latestTimestamp(deps, destination.id, signal),
  ]);
  // The destination's clock decides whether the fill deadline has passed, and the origin's clock
  // decides how late the deadline may be.
  const fillDeadline = Math.min(
    Math.max(timestamp, destinationTime) + across.fillDeadlineSeconds,
    timestamp + FILL_DEADLINE_SECONDS_MAX,
  );
  const { recipient, message } = delivery({
    handler,
    router: plan.destinationSwap === null ? null : routerOf(deps, destination.id),
    bridgeToken: plan.outputToken,
    wrappedNative: destination.contracts.wrappedNative,
    swap: plan.destinationSwap,
    minimumOut: leg.minOutBase,
    toNative: request.destination.token.address === "native",
    recipient: request.destination.recipient,
    deadline: BigInt(fillDeadline),
  });
  const terms: DepositTerms = {
    depositor: source.owner,
    recipient,
    inputToken: plan.inputToken,
    outputToken: plan.outputToken,
    ...amounts,
    destinationChainId: destination.id,
    quoteTimestamp: timestamp,
    fillDeadline,
    message,
  };
  const { spokePool } = across;
  const deposit = await (plan.sourceSwap === null
    ? plainDeposit(deps, context, { spokePool, terms }, signal)
    : swapAndDeposit(deps, context, { spokePool, terms, swap: plan.sourceSwap }, signal));
  return { ...deposit, fillDeadline };
};

/**
 * Builds the calls of a leg: an atomic batch for its source wallet, with exact allowances that the
 * calls use up.
 */
export const createLegCalls = (deps: OnchainDeps) => {
  return async (
    request: RouteRequest,
    leg: RouteLeg,
    signal: AbortSignal,
    options: BuildOptions = {},
  ): Promise<LegTransactions> => {
    const source = request.sources[leg.sourceIndex];
    if (source === undefined)
      throw new RangeError(`There is no source ${leg.sourceIndex} in this request.`);
    const context = { source, request, leg, payer: options.executor ?? source.owner };
    const plan = parsePlan(leg.plan);
    // A transfer, or wrapping for the payer itself, has no deadline.
    const always = { validUntil: null, fillDeadline: null };
    switch (plan.kind) {
      case "transfer": {
        const calls = [
          transfer(source.token.address, request.destination.recipient, source.amountBase),
        ];
        return { calls, spendsAll: source.token.address !== "native", ...always };
      }
      case "wrap":
      case "unwrap":
        return request.destination.recipient.toLowerCase() === context.payer.toLowerCase()
          ? { calls: [wrapForPayer(deps, context)], spendsAll: false, ...always }
          : wrapForOther(deps, context, signal);
      case "swap":
        return swapCalls(deps, context, plan.swap, signal);
      case "bridge":
        return bridgeCalls(deps, context, plan, signal);
    }
  };
};
