import { encodeFunctionData, type Hex } from "viem";
import type { EvmAddress } from "@/lib/ports/routing";
import { swapRouter02Abi } from "./abis";
import type { SwapPlan, SwapShare } from "./plan";
import { shareMinima } from "./split";
import { encodePath } from "./uniswap";

// SwapRouter02 reads this as "keep it here": the next call of the same multicall unwraps it.
const ROUTER_ITSELF: EvmAddress = "0x0000000000000000000000000000000000000002";

interface SwapTerms {
  readonly swap: SwapPlan;
  readonly recipient: EvmAddress;
  /** Unix seconds on the chain of the swap. */
  readonly deadline: bigint;
}

interface ExactInputTerms extends SwapTerms {
  readonly minimumOut: bigint;
  /** The router unwraps what it got and sends the chain's own coin. */
  readonly unwrap: boolean;
  /** True when value was sent with the call: the router refunds the value that the pools did not use. */
  readonly refundNative: boolean;
}

const routerMulticall = (deadline: bigint, data: readonly Hex[]): Hex =>
  encodeFunctionData({ abi: swapRouter02Abi, functionName: "multicall", args: [deadline, data] });

const refundNativeCall = (): Hex => encodeFunctionData({ abi: swapRouter02Abi, functionName: "refundETH" });

const reversed = (share: SwapShare): Hex =>
  encodePath(
    share.hops.toReversed().map(({ tokenIn, tokenOut, fee }) => ({ tokenIn: tokenOut, tokenOut: tokenIn, fee })),
  );

/**
 * Sells the shares' inputs. Each share carries its part of `minimumOut`, rounded up, so that together they give at least
 * `minimumOut` or the whole call reverts.
 */
export const encodeExactInput = (terms: ExactInputTerms): Hex => {
  const { swap, recipient, unwrap, minimumOut } = terms;
  const minima = shareMinima(
    minimumOut,
    swap.shares.map(({ amountOut }) => amountOut),
  );
  const data = swap.shares.map((share, index) =>
    encodeFunctionData({
      abi: swapRouter02Abi,
      functionName: "exactInput",
      args: [
        {
          path: encodePath(share.hops),
          recipient: unwrap ? ROUTER_ITSELF : recipient,
          amountIn: share.amountIn,
          amountOutMinimum: minima[index] ?? share.amountOut,
        },
      ],
    }),
  );
  if (unwrap) {
    data.push(encodeFunctionData({ abi: swapRouter02Abi, functionName: "unwrapWETH9", args: [minimumOut, recipient] }));
  }
  if (terms.refundNative) data.push(refundNativeCall());
  return routerMulticall(terms.deadline, data);
};

/** Buys exactly the shares' outputs for at most their inputs. */
export const encodeExactOutput = ({
  swap,
  recipient,
  deadline,
  refundNative,
}: SwapTerms & { refundNative: boolean }): Hex => {
  const data = swap.shares.map((share) =>
    encodeFunctionData({
      abi: swapRouter02Abi,
      functionName: "exactOutput",
      args: [
        {
          // The router expects the path of an exact-output swap in reverse order.
          path: reversed(share),
          recipient,
          amountOut: share.amountOut,
          amountInMaximum: share.amountIn,
        },
      ],
    }),
  );
  if (refundNative) data.push(refundNativeCall());
  return routerMulticall(deadline, data);
};
