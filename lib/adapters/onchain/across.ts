import {
  encodeAbiParameters,
  encodeFunctionData,
  erc20Abi,
  keccak256,
  pad,
  zeroAddress,
  zeroHash,
  type Address,
  type Hex,
} from "viem";
import type { EvmAddress } from "@/lib/core/evm";
import {
  type DepositRecord,
  multicallHandlerAbi,
  spokePoolAbi,
  spokePoolPeripheryAbi,
  type SwapPlan,
  wrappedNativeAbi,
} from "./plan";
import { encodeBalanceSwap } from "./swap-calls";

/**
 * Maximum seconds between a deposit and its fill deadline: the `fillDeadlineBuffer` of every
 * SpokePool, six hours. The SpokePool refuses a deposit whose fill deadline is later.
 */
export const FILL_DEADLINE_SECONDS_MAX = 21_600;

interface HandlerCall {
  readonly target: Address;
  readonly callData: Hex;
  readonly value: bigint;
}

export interface DeliveryTerms {
  readonly handler: EvmAddress;
  readonly router: EvmAddress | null;
  readonly bridgeToken: EvmAddress;
  readonly wrappedNative: EvmAddress;
  readonly swap: SwapPlan | null;
  readonly minimumOut: bigint;
  readonly toNative: boolean;
  readonly recipient: EvmAddress;
  readonly deadline: bigint;
}

const sameAddress = (a: string, b: string): boolean => a.toLowerCase() === b.toLowerCase();

/**
 * Whether the handler contract must receive the fill. A SpokePool pays the wrapped native token as
 * coins to an account without code, and as a token to a contract. The handler ensures the form that
 * the caller requested.
 */
export const needsHandler = ({
  swaps,
  toNative,
  bridgeToken,
  wrappedNative,
}: Pick<DeliveryTerms, "toNative" | "bridgeToken" | "wrappedNative"> & {
  readonly swaps: boolean;
}): boolean => swaps || toNative || sameAddress(bridgeToken, wrappedNative);

const handlerCall = (target: Address, callData: Hex, value = 0n): HandlerCall => ({
  target,
  callData,
  value,
});

/**
 * Makes the handler send its whole balance of a token to a recipient. The zero address means the
 * chain's coin.
 */
const sendAll = ({ handler }: DeliveryTerms, token: Address, to: Address): HandlerCall =>
  handlerCall(
    handler,
    encodeFunctionData({
      abi: multicallHandlerAbi,
      functionName: "drainLeftoverTokens",
      args: [token, to],
    }),
  );

const swapAll = (terms: DeliveryTerms, swap: SwapPlan, router: EvmAddress): HandlerCall[] => {
  const { bridgeToken, toNative } = terms;
  const { first, rest } = encodeBalanceSwap({ ...terms, swap, unwrap: toNative });
  const fixed =
    first === null
      ? []
      : [
          // Reset to zero first: anybody may leave an allowance in the handler, and tokens such as
          // USDT refuse to change an allowance that is not zero.
          ...[0n, first.amountIn].map((amount) =>
            handlerCall(
              bridgeToken,
              encodeFunctionData({
                abi: erc20Abi,
                functionName: "approve",
                args: [router, amount],
              }),
            ),
          ),
          handlerCall(router, first.data),
        ];
  return [...fixed, sendAll(terms, bridgeToken, router), handlerCall(router, rest)];
};

const SELECTOR_BYTES = 4n;

/**
 * Makes the handler unwrap its whole balance. The handler replaces the argument, which must be 0,
 * by its balance.
 */
const unwrapAll = ({ handler, bridgeToken }: DeliveryTerms): HandlerCall =>
  handlerCall(
    handler,
    encodeFunctionData({
      abi: multicallHandlerAbi,
      functionName: "makeCallWithBalance",
      args: [
        bridgeToken,
        encodeFunctionData({ abi: wrappedNativeAbi, functionName: "withdraw", args: [0n] }),
        0n,
        [{ token: bridgeToken, offset: SELECTOR_BYTES }],
      ],
    }),
  );

const deliveryCalls = (terms: DeliveryTerms): HandlerCall[] => {
  const { swap, router, bridgeToken, recipient } = terms;
  if (swap !== null && router !== null) return swapAll(terms, swap, router);
  if (terms.toNative) return [unwrapAll(terms), sendAll(terms, zeroAddress, recipient)];
  return [sendAll(terms, bridgeToken, recipient)];
};

/**
 * Returns the recipient of the fill, and the calls that the handler then makes. No call contains
 * the filled amount, because the deposit may be the output of a swap, and a slow fill may pay more
 * than requested. Instead, calls pass on the handler's whole balance, since anybody could withdraw
 * tokens that stay there. The handler has no fallback recipient: when one of its calls fails, the
 * fill reverts, so nobody fills and the deposit is refunded.
 */
export const delivery = (
  terms: DeliveryTerms,
): { readonly recipient: EvmAddress; readonly message: Hex } => {
  if (!needsHandler({ ...terms, swaps: terms.swap !== null }))
    return { recipient: terms.recipient, message: "0x" };
  return {
    recipient: terms.handler,
    message: encodeAbiParameters(INSTRUCTIONS, [
      { calls: deliveryCalls(terms), fallbackRecipient: zeroAddress },
    ]),
  };
};

const INSTRUCTIONS = [
  {
    type: "tuple",
    components: [
      {
        name: "calls",
        type: "tuple[]",
        components: [
          { name: "target", type: "address" },
          { name: "callData", type: "bytes" },
          { name: "value", type: "uint256" },
        ],
      },
      { name: "fallbackRecipient", type: "address" },
    ],
  },
] as const;

export interface DepositTerms {
  readonly depositor: EvmAddress;
  readonly recipient: EvmAddress;
  readonly inputToken: EvmAddress;
  readonly outputToken: EvmAddress;
  readonly inputAmount: bigint;
  readonly outputAmount: bigint;
  readonly destinationChainId: number;
  readonly quoteTimestamp: number;
  readonly fillDeadline: number;
  readonly message: Hex;
}

export const encodeDeposit = (terms: DepositTerms): Hex =>
  encodeFunctionData({
    abi: spokePoolAbi,
    functionName: "depositV3",
    args: [
      terms.depositor,
      terms.recipient,
      terms.inputToken,
      terms.outputToken,
      terms.inputAmount,
      terms.outputAmount,
      BigInt(terms.destinationChainId),
      zeroAddress,
      terms.quoteTimestamp,
      terms.fillDeadline,
      0,
      terms.message,
    ],
  });

export interface SwapAndDepositTerms {
  readonly spokePool: EvmAddress;
  readonly soldToken: EvmAddress;
  readonly soldAmount: bigint;
  readonly router: EvmAddress;
  /** Sells all of `soldAmount` and sends the output to the router's caller. */
  readonly routerData: Hex;
  /**
   * `inputAmount` is the minimum output of the swap, and `outputAmount` the amount that the bridge
   * delivers for it.
   */
  readonly deposit: DepositTerms;
}

/**
 * The periphery's transfer type for a swap: it approves exactly the sold amount for the exchange.
 */
const TRANSFER_BY_APPROVAL = 0;

/**
 * `swapAndBridge`: sells the whole amount and deposits the whole output. If the output is above
 * `inputAmount`, `outputAmount` rises in proportion. If it is below, everything reverts.
 */
export const encodeSwapAndDeposit = (terms: SwapAndDepositTerms): Hex => {
  const { deposit } = terms;
  return encodeFunctionData({
    abi: spokePoolPeripheryAbi,
    functionName: "swapAndBridge",
    args: [
      {
        submissionFees: { amount: 0n, recipient: zeroAddress },
        depositData: {
          inputToken: deposit.inputToken,
          outputToken: pad(deposit.outputToken),
          outputAmount: deposit.outputAmount,
          depositor: deposit.depositor,
          recipient: pad(deposit.recipient),
          destinationChainId: BigInt(deposit.destinationChainId),
          exclusiveRelayer: zeroHash,
          quoteTimestamp: deposit.quoteTimestamp,
          fillDeadline: deposit.fillDeadline,
          exclusivityParameter: 0,
          message: deposit.message,
        },
        swapToken: terms.soldToken,
        exchange: terms.router,
        transferType: TRANSFER_BY_APPROVAL,
        swapTokenAmount: terms.soldAmount,
        minExpectedInputTokenAmount: deposit.inputAmount,
        routerCalldata: terms.routerData,
        enableProportionalAdjustment: true,
        spokePool: terms.spokePool,
        nonce: 0n,
      },
    ],
  });
};

const RELAY_DATA = [
  {
    type: "tuple",
    components: [
      { name: "depositor", type: "bytes32" },
      { name: "recipient", type: "bytes32" },
      { name: "exclusiveRelayer", type: "bytes32" },
      { name: "inputToken", type: "bytes32" },
      { name: "outputToken", type: "bytes32" },
      { name: "inputAmount", type: "uint256" },
      { name: "outputAmount", type: "uint256" },
      { name: "originChainId", type: "uint256" },
      { name: "depositId", type: "uint256" },
      { name: "fillDeadline", type: "uint32" },
      { name: "exclusivityDeadline", type: "uint32" },
      { name: "message", type: "bytes" },
    ],
  },
  { type: "uint256" },
] as const;

/** The deposit's key in `fillStatuses` of the destination's SpokePool (`getV3RelayHash`). */
export const relayHash = (deposit: DepositRecord): Hex =>
  keccak256(
    encodeAbiParameters(RELAY_DATA, [
      { ...deposit, originChainId: BigInt(deposit.originChainId) },
      BigInt(deposit.destinationChainId),
    ]),
  );
