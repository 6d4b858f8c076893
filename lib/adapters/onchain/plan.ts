import { type Hex, isAddress, isHex, parseAbi } from "viem";
import { z } from "zod";
import { DomainError } from "@/lib/core/errors";
import type { EvmAddress } from "@/lib/core/evm";

export const uniswapFactoryAbi = parseAbi([
  "function getPool(address tokenA, address tokenB, uint24 fee) view returns (address pool)",
]);

export const uniswapPoolAbi = parseAbi([
  "function slot0() view returns (uint160 sqrtPriceX96, int24 tick, uint16, uint16, uint16, uint8, bool)",
  "function liquidity() view returns (uint128)",
]);

export const quoterV2Abi = parseAbi([
  "function quoteExactInput(bytes path, uint256 amountIn) returns (uint256 amountOut, uint160[] sqrtPriceX96AfterList, uint32[] initializedTicksCrossedList, uint256 gasEstimate)",
]);

export const swapRouter02Abi = parseAbi([
  "struct ExactInputParams { bytes path; address recipient; uint256 amountIn; uint256 amountOutMinimum; }",
  "function exactInput(ExactInputParams params) payable returns (uint256 amountOut)",
  "function unwrapWETH9(uint256 amountMinimum, address recipient) payable",
  "function sweepToken(address token, uint256 amountMinimum, address recipient) payable",
  "function refundETH() payable",
  "function wrapETH(uint256 value) payable",
  "function pull(address token, uint256 value) payable",
  "function multicall(uint256 deadline, bytes[] data) payable returns (bytes[])",
]);

export const wrappedNativeAbi = parseAbi([
  "function deposit() payable",
  "function withdraw(uint256 wad)",
  "event Deposit(address indexed dst, uint256 wad)",
  "event Withdrawal(address indexed src, uint256 wad)",
]);

export const erc20TransferAbi = parseAbi([
  "event Transfer(address indexed from, address indexed to, uint256 value)",
]);

export const spokePoolAbi = parseAbi([
  "function depositV3(address depositor, address recipient, address inputToken, address outputToken, uint256 inputAmount, uint256 outputAmount, uint256 destinationChainId, address exclusiveRelayer, uint32 quoteTimestamp, uint32 fillDeadline, uint32 exclusivityParameter, bytes message) payable",
  "function fillStatuses(bytes32 relayHash) view returns (uint256)",
  "function rootBundles(uint256 index) view returns (bytes32 slowRelayRoot, bytes32 relayerRefundRoot)",
  "function getCurrentTime() view returns (uint256)",
  "event FundsDeposited(bytes32 inputToken, bytes32 outputToken, uint256 inputAmount, uint256 outputAmount, uint256 indexed destinationChainId, uint256 indexed depositId, uint32 quoteTimestamp, uint32 fillDeadline, uint32 exclusivityDeadline, bytes32 indexed depositor, bytes32 recipient, bytes32 exclusiveRelayer, bytes message)",
  "struct RelayExecutionInfo { bytes32 updatedRecipient; bytes32 updatedMessageHash; uint256 updatedOutputAmount; uint8 fillType; }",
  "event FilledRelay(bytes32 inputToken, bytes32 outputToken, uint256 inputAmount, uint256 outputAmount, uint256 repaymentChainId, uint256 indexed originChainId, uint256 indexed depositId, uint32 fillDeadline, uint32 exclusivityDeadline, bytes32 exclusiveRelayer, bytes32 indexed relayer, bytes32 depositor, bytes32 recipient, bytes32 messageHash, RelayExecutionInfo relayExecutionInfo)",
  "event ExecutedRelayerRefundRoot(uint256 amountToReturn, uint256 indexed chainId, uint256[] refundAmounts, uint32 indexed rootBundleId, uint32 indexed leafId, address l2TokenAddress, address[] refundAddresses, bool deferredRefunds, address caller)",
]);

/** The events of Across' HubPool that show which proposed bundles are valid. */
export const hubPoolAbi = parseAbi([
  "event ProposeRootBundle(uint32 challengePeriodEndTimestamp, uint8 poolRebalanceLeafCount, uint256[] bundleEvaluationBlockNumbers, bytes32 indexed poolRebalanceRoot, bytes32 indexed relayerRefundRoot, bytes32 slowRelayRoot, address indexed proposer)",
  "event RootBundleDisputed(address indexed disputer, uint256 requestTime)",
  "event RootBundleCanceled(address indexed disputer, uint256 requestTime)",
  "event EmergencyRootBundleDeleted(bytes32 indexed poolRebalanceRoot, bytes32 indexed relayerRefundRoot, bytes32 slowRelayRoot, address indexed proposer)",
]);

export const configStoreAbi = parseAbi([
  "function globalConfig(bytes32 key) view returns (string value)",
]);

export const multicallHandlerAbi = parseAbi([
  "struct Replacement { address token; uint256 offset; }",
  "function drainLeftoverTokens(address token, address destination)",
  "function makeCallWithBalance(address target, bytes callData, uint256 value, Replacement[] replacement)",
]);

export const spokePoolPeripheryAbi = parseAbi([
  "struct Fees { uint256 amount; address recipient; }",
  "struct BaseDepositData { address inputToken; bytes32 outputToken; uint256 outputAmount; address depositor; bytes32 recipient; uint256 destinationChainId; bytes32 exclusiveRelayer; uint32 quoteTimestamp; uint32 fillDeadline; uint32 exclusivityParameter; bytes message; }",
  "struct SwapAndDepositData { Fees submissionFees; BaseDepositData depositData; address swapToken; address exchange; uint8 transferType; uint256 swapTokenAmount; uint256 minExpectedInputTokenAmount; bytes routerCalldata; bool enableProportionalAdjustment; address spokePool; uint256 nonce; }",
  "function swapAndBridge(SwapAndDepositData swapAndDepositData) payable",
]);

/** Stored legs contain this id. If the id changed, no provider would match the stored legs. */
export const PROVIDER_ID = "onchain";

// Plans and deposits are stored as JSON with quotes and legs, so their amounts are decimal integer
// strings.
const amount = z
  .string()
  .regex(/^\d{1,78}$/)
  .transform((text) => BigInt(text));
const address = z.custom<EvmAddress>(
  (value) => typeof value === "string" && isAddress(value, { strict: false }),
);
const hex = z.custom<Hex>((value) => isHex(value));
const bytes32 = z.custom<Hex>((value) => isHex(value) && value.length === 66);

const hop = z.object({ tokenIn: address, tokenOut: address, fee: z.int().positive() });

const swapPlan = z.object({
  /** No pool is in two shares. */
  shares: z
    .array(z.object({ hops: z.array(hop).min(1), amountIn: amount, amountOut: amount }))
    .min(1),
});

const legPlan = z.discriminatedUnion("kind", [
  z.object({ kind: z.literal("transfer") }),
  z.object({ kind: z.literal("wrap") }),
  z.object({ kind: z.literal("unwrap") }),
  z.object({ kind: z.literal("swap"), swap: swapPlan }),
  z.object({
    kind: z.literal("bridge"),
    inputToken: address,
    outputToken: address,
    /**
     * The amount that is deposited into the bridge. With a swap before the bridge, it is the
     * minimum: the whole output of the swap is deposited, which may be more.
     */
    inputAmount: amount,
    /**
     * The amount that a relayer delivers for exactly `inputAmount`. For a larger deposit the
     * delivered amount rises in proportion.
     */
    outputAmount: amount,
    /**
     * The swap before the bridge; null when there is none. The sum of `amountIn` over its shares is
     * the whole amount of the source.
     */
    sourceSwap: swapPlan.nullable(),
    /**
     * The swap after the bridge; null when there is none. The sum of `amountIn` over its shares is
     * the amount that the bridge is expected to deliver.
     */
    destinationSwap: swapPlan.nullable(),
    /**
     * The destination's block number when the plan was made. A fill can only be in a later block.
     */
    destinationBlock: amount,
  }),
]);

const depositRecord = z.object({
  originChainId: z.int().positive(),
  destinationChainId: z.int().positive(),
  depositId: amount,
  depositor: bytes32,
  recipient: bytes32,
  exclusiveRelayer: bytes32,
  inputToken: bytes32,
  outputToken: bytes32,
  inputAmount: amount,
  outputAmount: amount,
  fillDeadline: z.int().nonnegative(),
  exclusivityDeadline: z.int().nonnegative(),
  message: hex,
  originBlock: amount,
  destinationBlock: amount,
  txHash: bytes32,
});

export type SwapPlan = z.output<typeof swapPlan>;
export type SwapShare = SwapPlan["shares"][number];
export type LegPlan = z.output<typeof legPlan>;
export type BridgePlan = Extract<LegPlan, { kind: "bridge" }>;
export type DepositRecord = z.output<typeof depositRecord>;

export const depositKey = ({ originChainId, depositId }: DepositRecord): string =>
  `${originChainId}:${depositId}`;

type Json<T> = T extends bigint
  ? string
  : T extends readonly (infer E)[]
    ? Json<E>[]
    : { [K in keyof T]: Json<T[K]> };

const toJson = (value: unknown): unknown => {
  if (typeof value === "bigint") return value.toString();
  if (Array.isArray(value)) return value.map(toJson);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, entry]) => [key, toJson(entry)]));
};

export const planToJson = (plan: LegPlan): Json<LegPlan> => toJson(plan) as Json<LegPlan>;
export const depositToJson = (deposit: DepositRecord): Json<DepositRecord> =>
  toJson(deposit) as Json<DepositRecord>;

const parse = <T>(schema: z.ZodType<T>, value: unknown, what: string): T => {
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  throw new DomainError(
    "internal_error",
    `The stored ${what} is not one that this routing provider made.`,
    {
      cause: result.error,
    },
  );
};

/**
 * Reads a stored plan of this provider. @throws DomainError `internal_error` for any other value
 */
export const parsePlan = (value: unknown): LegPlan => parse(legPlan, value, "plan");
/**
 * Reads a stored deposit of this provider. @throws DomainError `internal_error` for any other
 * value
 */
export const parseDeposit = (value: unknown): DepositRecord =>
  parse(depositRecord, value, "deposit");
