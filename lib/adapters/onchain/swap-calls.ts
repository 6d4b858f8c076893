import { encodeFunctionData, type Hex } from "viem";
import type { EvmAddress } from "@/lib/core/evm";
import { type SwapPlan, swapRouter02Abi, type SwapShare } from "./plan";
import { encodePath, shareMinima } from "./uniswap";

// SwapRouter02 treats this recipient as itself. The next call of the multicall can then unwrap the
// output.
const ROUTER_ITSELF: EvmAddress = "0x0000000000000000000000000000000000000002";
/** SwapRouter02 treats this recipient as its caller. */
const ROUTER_CALLER: EvmAddress = "0x0000000000000000000000000000000000000001";
/** SwapRouter02 treats this amount as its whole balance of the sold token. */
const ROUTER_BALANCE = 0n;

interface SwapTerms {
  readonly swap: SwapPlan;
  readonly recipient: EvmAddress;
  /** In Unix seconds. */
  readonly deadline: bigint;
}

interface ExactInputTerms extends SwapTerms {
  readonly minimumOut: bigint;
  readonly unwrap: boolean;
  /**
   * True when value is sent with the call. The router then refunds value that the pools did not
   * use.
   */
  readonly refundNative: boolean;
}

const routerMulticall = (deadline: bigint, data: readonly Hex[]): Hex =>
  encodeFunctionData({
    abi: swapRouter02Abi,
    functionName: "multicall",
    args: [deadline, data],
  });

const refundNativeCall = (): Hex =>
  encodeFunctionData({ abi: swapRouter02Abi, functionName: "refundETH" });

interface ShareTerms {
  readonly recipient: EvmAddress;
  readonly amountIn: bigint;
  readonly minimumOut: bigint;
}

const exactInput = (
  { hops }: SwapShare,
  { recipient, amountIn, minimumOut }: ShareTerms,
): Hex =>
  encodeFunctionData({
    abi: swapRouter02Abi,
    functionName: "exactInput",
    args: [{ path: encodePath(hops), recipient, amountIn, amountOutMinimum: minimumOut }],
  });

/**
 * Sells the shares' inputs. Each share enforces its part of `minimumOut`, rounded up, so that the
 * shares bring at least `minimumOut` or the whole call reverts.
 */
export const encodeExactInput = (terms: ExactInputTerms): Hex => {
  const { swap, recipient, unwrap, minimumOut } = terms;
  const minima = shareMinima(
    minimumOut,
    swap.shares.map(({ amountOut }) => amountOut),
  );
  const data = swap.shares.map((share, index) =>
    exactInput(share, {
      recipient: unwrap ? ROUTER_ITSELF : recipient,
      amountIn: share.amountIn,
      minimumOut: minima[index] ?? share.amountOut,
    }),
  );
  if (unwrap) {
    data.push(
      encodeFunctionData({
        abi: swapRouter02Abi,
        functionName: "unwrapWETH9",
        args: [minimumOut, recipient],
      }),
    );
  }
  if (terms.refundNative) data.push(refundNativeCall());
  return routerMulticall(terms.deadline, data);
};

/**
 * Sells the shares' inputs for the caller, which receives the whole output and must enforce a
 * minimum itself.
 */
export const encodeSwapForCaller = ({
  swap,
  deadline,
}: Pick<SwapTerms, "swap" | "deadline">): Hex =>
  routerMulticall(
    deadline,
    swap.shares.map((share) =>
      exactInput(share, { recipient: ROUTER_CALLER, amountIn: share.amountIn, minimumOut: 0n }),
    ),
  );

interface ExchangeTerms {
  readonly wrappedNative: EvmAddress;
  readonly amount: bigint;
  readonly recipient: EvmAddress;
  readonly deadline: bigint;
}

/**
 * Call data for SwapRouter02: wraps the coins that are sent with the call, and pays the wrapped
 * token to the recipient.
 */
export const encodeWrapFor = ({
  wrappedNative,
  amount,
  recipient,
  deadline,
}: ExchangeTerms): Hex =>
  routerMulticall(deadline, [
    encodeFunctionData({ abi: swapRouter02Abi, functionName: "wrapETH", args: [amount] }),
    encodeFunctionData({
      abi: swapRouter02Abi,
      functionName: "sweepToken",
      args: [wrappedNative, amount, recipient],
    }),
  ]);

/**
 * Call data for SwapRouter02: takes the wrapped token by an allowance of the caller, unwraps it,
 * and pays the coins to the recipient.
 */
export const encodeUnwrapFor = ({
  wrappedNative,
  amount,
  recipient,
  deadline,
}: ExchangeTerms): Hex =>
  routerMulticall(deadline, [
    encodeFunctionData({
      abi: swapRouter02Abi,
      functionName: "pull",
      args: [wrappedNative, amount],
    }),
    encodeFunctionData({
      abi: swapRouter02Abi,
      functionName: "unwrapWETH9",
      args: [amount, recipient],
    }),
  ]);

interface BalanceSwap {
  /**
   * Sells fixed amounts, which the router takes from its caller, and leaves the output in the
   * router. Null when one path sells the whole balance.
   */
  readonly first: { readonly amountIn: bigint; readonly data: Hex } | null;
  /**
   * Sells the router's whole remaining balance of the token and pays out everything, or reverts
   * below the minimum.
   */
  readonly rest: Hex;
}

/**
 * Sells a balance whose amount is unknown until the swap runs. The largest share sells the amount
 * that the other shares leave. The minimum applies to the sum of all shares, because the largest
 * one brings less than quoted when the balance is lower than expected.
 */
export const encodeBalanceSwap = (
  terms: SwapTerms & Pick<ExactInputTerms, "minimumOut" | "unwrap">,
): BalanceSwap => {
  const { swap, recipient, minimumOut, unwrap, deadline } = terms;
  const [largest, ...others] = swap.shares.toSorted((a, b) =>
    a.amountIn < b.amountIn ? 1 : -1,
  );
  if (largest === undefined) throw new RangeError("A swap without shares sells nothing.");
  const tokenOut = largest.hops.at(-1)?.tokenOut;
  if (tokenOut === undefined) throw new RangeError("A share without hops leads nowhere.");
  if (others.length === 0 && !unwrap) {
    const rest = exactInput(largest, { recipient, amountIn: ROUTER_BALANCE, minimumOut });
    return { first: null, rest: routerMulticall(deadline, [rest]) };
  }
  const keep = (share: SwapShare, amountIn: bigint): Hex =>
    exactInput(share, { recipient: ROUTER_ITSELF, amountIn, minimumOut: 0n });
  const first = {
    amountIn: others.reduce((sum, { amountIn }) => sum + amountIn, 0n),
    data: routerMulticall(
      deadline,
      others.map((share) => keep(share, share.amountIn)),
    ),
  };
  const payOut = unwrap
    ? encodeFunctionData({
        abi: swapRouter02Abi,
        functionName: "unwrapWETH9",
        args: [minimumOut, recipient],
      })
    : encodeFunctionData({
        abi: swapRouter02Abi,
        functionName: "sweepToken",
        args: [tokenOut, minimumOut, recipient],
      });
  return {
    first: others.length === 0 ? null : first,
    rest: routerMulticall(deadline, [keep(largest, ROUTER_BALANCE), payOut]),
  };
};
