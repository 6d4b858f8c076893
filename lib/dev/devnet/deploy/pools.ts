import {
  encodeFunctionData,
  erc20Abi,
  maxUint256,
  parseAbi,
  parseUnits,
  type Address,
} from "viem";
import { devAddress } from "../accounts";
import type { DevnetContracts } from "../contracts";
import type { SetupTransaction } from "./transactions";

type Symbol = "usdc" | "usdt" | "dai" | "weth";

const DECIMALS: Readonly<Record<Symbol, number>> = { usdc: 6, usdt: 6, dai: 18, weth: 18 };

/** Tick spacing by fee tier (in hundredths of a basis point), as in the factory. */
const TICK_SPACING = { 100: 1, 500: 10, 3000: 60, 10_000: 200 } as const;
type FeeTier = keyof typeof TICK_SPACING;
/** The fee tier that the deployment adds to the factory, which has the other three built in. */
export const EXTRA_FEE_TIER = 100 satisfies FeeTier;
export const FEE_TIERS: readonly FeeTier[] = [100, 500, 3000, 10_000];
const MAX_TICK = 887_272;
const FAR_FUTURE_S = 4_102_444_800n;

/** Price of ETH by chain, in US cents. It differs a little between chains, as in reality. */
const ETH_PRICE_CENTS: readonly bigint[] = [300_000n, 300_300n, 299_800n];

/**
 * The pools: two tokens, the fee tier, and the worth of each side in whole US dollars. Some pairs
 * have pools in several tiers, so that splitting a large trade gives a better price.
 */
const POOLS: readonly (readonly [Symbol, Symbol, FeeTier, bigint])[] = [
  ["usdc", "usdt", 100, 50_000_000n],
  ["usdc", "usdt", 500, 10_000_000n],
  ["usdc", "dai", 100, 50_000_000n],
  ["usdt", "dai", 100, 10_000_000n],
  ["usdc", "weth", 500, 20_000_000n],
  ["usdc", "weth", 3000, 15_000_000n],
  ["usdc", "weth", 10_000, 3_000_000n],
  ["usdt", "weth", 500, 8_000_000n],
  ["usdt", "weth", 3000, 5_000_000n],
  ["dai", "weth", 3000, 5_000_000n],
];

export const mintableAbi = parseAbi([
  "function mint(address to, uint256 amount) returns (bool)",
]);
export const weth9Abi = parseAbi(["function deposit() payable"]);
const factoryAbi = parseAbi(["function enableFeeAmount(uint24 fee, int24 tickSpacing)"]);
const positionManagerAbi = parseAbi([
  "function createAndInitializePoolIfNecessary(address token0, address token1, uint24 fee, uint160 sqrtPriceX96) payable returns (address pool)",
  "struct MintParams { address token0; address token1; uint24 fee; int24 tickLower; int24 tickUpper; uint256 amount0Desired; uint256 amount1Desired; uint256 amount0Min; uint256 amount1Min; address recipient; uint256 deadline; }",
  "function mint(MintParams params) payable returns (uint256 tokenId, uint128 liquidity, uint256 amount0, uint256 amount1)",
]);

/** Largest integer whose square is at most `value` (Newton). */
export const integerSqrt = (value: bigint): bigint => {
  if (value < 2n) return value;
  let current = 1n << BigInt(Math.ceil(value.toString(2).length / 2));
  for (;;) {
    const next = (current + value / current) / 2n;
    if (next >= current) return current;
    current = next;
  }
};

const amountFor = (token: Symbol, usd: bigint, ethPriceCents: bigint): bigint =>
  (usd * 100n * 10n ** BigInt(DECIMALS[token])) / (token === "weth" ? ethPriceCents : 100n);

const createPool = (
  contracts: DevnetContracts,
  [a, b, fee, usd]: (typeof POOLS)[number],
  ethPriceCents: bigint,
): SetupTransaction[] => {
  const sides = ([a, b] as const).map((token) => ({
    address: contracts[token],
    amount: amountFor(token, usd, ethPriceCents),
  }));
  const [first, second] = sides.sort((x, y) =>
    x.address.toLowerCase() < y.address.toLowerCase() ? -1 : 1,
  );
  if (!first || !second) return [];
  const spacing = TICK_SPACING[fee];
  const tickUpper = Math.floor(MAX_TICK / spacing) * spacing;
  const what = `the pool ${a}/${b} ${String(fee)}`;
  const to = contracts.positionManager;
  const create = encodeFunctionData({
    abi: positionManagerAbi,
    functionName: "createAndInitializePoolIfNecessary",
    args: [
      first.address,
      second.address,
      fee,
      integerSqrt((second.amount << 192n) / first.amount),
    ],
  });
  const mint = encodeFunctionData({
    abi: positionManagerAbi,
    functionName: "mint",
    args: [
      {
        token0: first.address,
        token1: second.address,
        fee,
        tickLower: -tickUpper,
        tickUpper,
        amount0Desired: first.amount,
        amount1Desired: second.amount,
        amount0Min: 0n,
        amount1Min: 0n,
        recipient: devAddress("deployer"),
        deadline: FAR_FUTURE_S,
      },
    ],
  });
  return [
    { what, to, data: create },
    { what: `liquidity of ${what}`, to, data: mint },
  ];
};

const fund = (token: Address, spender: Address, mint: SetupTransaction): SetupTransaction[] => [
  mint,
  {
    what: "an approval of liquidity",
    to: token,
    data: encodeFunctionData({
      abi: erc20Abi,
      functionName: "approve",
      args: [spender, maxUint256],
    }),
  },
];

/**
 * The transactions that mint the deployer's tokens, create the pools at the chain's price (by its
 * index), and add full-range liquidity.
 */
export const poolTransactions = (
  contracts: DevnetContracts,
  chainIndex: number,
): SetupTransaction[] => {
  const ethPriceCents = ETH_PRICE_CENTS[chainIndex % ETH_PRICE_CENTS.length] ?? 300_000n;
  const minted = (["usdc", "usdt", "dai"] as const).flatMap((token) =>
    fund(contracts[token], contracts.positionManager, {
      what: `minting ${token}`,
      to: contracts[token],
      data: encodeFunctionData({
        abi: mintableAbi,
        functionName: "mint",
        args: [devAddress("deployer"), parseUnits("1000000000", DECIMALS[token])],
      }),
    }),
  );
  const wrapped = fund(contracts.weth, contracts.positionManager, {
    what: "wrapping ETH",
    to: contracts.weth,
    data: encodeFunctionData({ abi: weth9Abi, functionName: "deposit" }),
    value: parseUnits("50000", 18),
  });
  const enableTier: SetupTransaction = {
    what: "enabling the fee tier 100",
    to: contracts.uniswapFactory,
    data: encodeFunctionData({
      abi: factoryAbi,
      functionName: "enableFeeAmount",
      args: [EXTRA_FEE_TIER, TICK_SPACING[EXTRA_FEE_TIER]],
    }),
  };
  const pools = POOLS.flatMap((pool) => createPool(contracts, pool, ethPriceCents));
  return [enableTier, ...minted, ...wrapped, ...pools];
};
