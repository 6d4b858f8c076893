import {
  encodeAbiParameters,
  encodeFunctionData,
  erc20Abi,
  keccak256,
  zeroAddress,
  type Address,
  type Hex,
} from "viem";
import type { EvmAddress } from "@/lib/ports/routing";
import { multicallHandlerAbi, spokePoolAbi, wrappedNativeAbi } from "./abis";
import type { DepositRecord, SwapPlan } from "./plan";
import { encodeExactInput } from "./swap-calls";

/** Deposits with a deadline further away are refused by every SpokePool (`fillDeadlineBuffer`, six hours). */
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
  readonly amount: bigint;
  readonly swap: SwapPlan | null;
  readonly minimumOut: bigint;
  /** True when the recipient wants the chain's own coin. */
  readonly toNative: boolean;
  readonly recipient: EvmAddress;
  readonly deadline: bigint;
}

const sameAddress = (a: string, b: string): boolean => a.toLowerCase() === b.toLowerCase();

/**
 * Whether the fill has to go through the handler contract. A SpokePool pays the wrapped native token as native coin to
 * an account without code, and as a token to a contract. The caller asked for one of the two forms, so the handler
 * converts to that form.
 */
export const needsHandler = ({
  swaps,
  toNative,
  bridgeToken,
  wrappedNative,
}: Pick<DeliveryTerms, "toNative" | "bridgeToken" | "wrappedNative"> & { readonly swaps: boolean }): boolean =>
  swaps || toNative || sameAddress(bridgeToken, wrappedNative);

const deliveryCalls = (terms: DeliveryTerms): HandlerCall[] => {
  const { swap, router, bridgeToken, amount, recipient } = terms;
  if (swap !== null && router !== null) {
    return [
      {
        target: bridgeToken,
        value: 0n,
        callData: encodeFunctionData({ abi: erc20Abi, functionName: "approve", args: [router, amount] }),
      },
      {
        target: router,
        value: 0n,
        callData: encodeExactInput({ ...terms, swap, unwrap: terms.toNative, refundNative: false }),
      },
    ];
  }
  if (terms.toNative) {
    return [
      {
        target: bridgeToken,
        value: 0n,
        callData: encodeFunctionData({ abi: wrappedNativeAbi, functionName: "withdraw", args: [amount] }),
      },
      { target: recipient, value: amount, callData: "0x" },
    ];
  }
  return [
    {
      target: bridgeToken,
      value: 0n,
      callData: encodeFunctionData({ abi: erc20Abi, functionName: "transfer", args: [recipient, amount] }),
    },
  ];
};

/**
 * Returns who receives the fill and the calls that the handler then makes. The handler has no fallback recipient: when
 * one of its calls fails the fill reverts, nobody fills, and the deposit is refunded. After the calls the rest of the
 * bridged token (a slow fill may pay more than requested) is sent to the recipient unchanged, because anybody can
 * withdraw tokens that stay in the handler.
 */
export const delivery = (terms: DeliveryTerms): { readonly recipient: EvmAddress; readonly message: Hex } => {
  if (!needsHandler({ ...terms, swaps: terms.swap !== null })) return { recipient: terms.recipient, message: "0x" };
  const calls = [
    ...deliveryCalls(terms),
    {
      target: terms.handler,
      value: 0n,
      callData: encodeFunctionData({
        abi: multicallHandlerAbi,
        functionName: "drainLeftoverTokens",
        args: [terms.bridgeToken, terms.recipient],
      }),
    },
  ];
  return {
    recipient: terms.handler,
    message: encodeAbiParameters(INSTRUCTIONS, [{ calls, fallbackRecipient: zeroAddress }]),
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

/** `depositV3` without an exclusive relayer. */
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

/** The deposit's key in `fillStatuses` on the destination's SpokePool, equal to its `getV3RelayHash`. */
export const relayHash = (deposit: DepositRecord): Hex =>
  keccak256(
    encodeAbiParameters(RELAY_DATA, [
      { ...deposit, originChainId: BigInt(deposit.originChainId) },
      BigInt(deposit.destinationChainId),
    ]),
  );
