import {
  BaseError,
  decodeFunctionResult,
  encodeFunctionData,
  encodePacked,
  ExecutionRevertedError,
  parseAbi,
  type Address,
  type Hex,
} from "viem";
import { chainCall, type ChainRegistry } from "@/lib/chain/registry";
import type { Token } from "@/lib/core/token";
import type { PrivateSwapPrice } from "@/lib/money/ports/privacy";

const quoterAbi = parseAbi([
  "function quoteExactInput(bytes path, uint256 amountIn) returns (uint256 amountOut, uint160[] sqrtPriceX96AfterList, uint32[] initializedTicksCrossedList, uint256 gasEstimate)",
]);

const pairs = (tiers: readonly number[]): [number, number][] =>
  tiers.flatMap((one) => tiers.map((other): [number, number] => [one, other]));

const candidates = (
  from: Address,
  to: Address,
  middles: readonly Address[],
  tiers: readonly number[],
): Hex[] => [
  ...tiers.map((fee) => encodePacked(["address", "uint24", "address"], [from, fee, to])),
  ...middles
    .filter((middle) => middle !== from && middle !== to)
    .flatMap((middle) =>
      pairs(tiers).map(([one, other]) =>
        encodePacked(
          ["address", "uint24", "address", "uint24", "address"],
          [from, one, middle, other, to],
        ),
      ),
    ),
];

/**
 * Finds the path with the highest output, direct or through the wrapped coin. The path is not
 * split, because the proof contains one path.
 */
export const createSwapPaths =
  (registry: ChainRegistry) =>
  async ({
    from,
    to,
    amountBase,
  }: {
    from: Token;
    to: Token;
    amountBase: bigint;
  }): Promise<PrivateSwapPrice | null> => {
    const { contracts } = registry.get(from.chainId);
    const { uniswapV3, wrappedNative } = contracts;
    if (uniswapV3 === undefined) return null;
    const addressOf = ({ address }: Token): Address =>
      address === "native" ? wrappedNative : address;
    const paths = candidates(
      addressOf(from),
      addressOf(to),
      [wrappedNative],
      uniswapV3.feeTiers,
    );
    const prices = await chainCall(from.chainId, () =>
      Promise.all(
        paths.map(async (path): Promise<PrivateSwapPrice | null> => {
          const data = encodeFunctionData({
            abi: quoterAbi,
            functionName: "quoteExactInput",
            args: [path, amountBase],
          });
          // A revert means that the pool is missing or has too little liquidity.
          const answer = await registry
            .client(from.chainId)
            .call({ to: uniswapV3.quoterV2, data })
            .catch((error: unknown) =>
              isRevert(error) ? null : Promise.reject(error as Error),
            );
          if (!answer?.data || answer.data === "0x") return null;
          const [outBase] = decodeFunctionResult({
            abi: quoterAbi,
            functionName: "quoteExactInput",
            data: answer.data,
          });
          return { path, outBase };
        }),
      ),
    );
    return prices.reduce(
      (best, price) =>
        price !== null && (best === null || price.outBase > best.outBase) ? price : best,
      null,
    );
  };

const isRevert = (error: unknown): boolean =>
  error instanceof BaseError &&
  error.walk((cause) => cause instanceof ExecutionRevertedError) !== null;
