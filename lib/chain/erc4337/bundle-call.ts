import {
  encodeFunctionData,
  isAddressEqual,
  prepareEncodeFunctionData,
  type Address,
  type Hex,
} from "viem";
import { entryPoint07Abi } from "viem/account-abstraction";
import { markedPaymasterAbi } from "./marked-paymaster";
import {
  hashUserOperation,
  packUserOperation,
  type UserOperationFields,
} from "./user-operation";

/**
 * Recipient and call data of the transaction with which the executor sends a bundle. The gas limit
 * is not included.
 */
export interface BundleCall {
  readonly to: Address;
  readonly data: Hex;
  /**
   * Number of operations that the paymaster marks. When it is 0, the call goes directly to
   * EntryPoint.
   */
  readonly marked: number;
}

export interface BundleTarget {
  readonly chainId: number;
  readonly entryPoint: Address;
  readonly paymaster: Address | null;
  /** The account that sends the bundle and is reimbursed for its gas. */
  readonly executor: Address;
}

// The functions are prepared once, so that their selectors are not hashed each time: bundles are
// encoded for their plan, price, simulation and submission.
const HANDLE_OPS = prepareEncodeFunctionData({
  abi: entryPoint07Abi,
  functionName: "handleOps",
});
const HANDLE_MARKED_OPS = prepareEncodeFunctionData({
  abi: markedPaymasterAbi,
  functionName: "handleMarkedOps",
});

export const isPaidBy = (
  paymaster: Address | null,
  operation: Pick<UserOperationFields, "paymaster">,
): boolean =>
  paymaster !== null &&
  operation.paymaster !== undefined &&
  isAddressEqual(operation.paymaster, paymaster);

const callOf = (
  { entryPoint, executor, paymaster }: BundleTarget,
  operations: readonly UserOperationFields[],
  hashOf: (operation: UserOperationFields) => Hex,
): BundleCall => {
  const marked = operations.filter((operation) => isPaidBy(paymaster, operation)).map(hashOf);
  const packed = operations.map(packUserOperation);
  if (paymaster === null || marked.length === 0) {
    const data = encodeFunctionData({ ...HANDLE_OPS, args: [packed, executor] });
    return { to: entryPoint, data, marked: 0 };
  }
  const args = [packed, executor, marked] as const;
  const data = encodeFunctionData({ ...HANDLE_MARKED_OPS, args });
  return { to: paymaster, data, marked: marked.length };
};

/**
 * The call that submits a bundle. A bundle with operations that the project's paymaster pays for
 * goes through the paymaster, which marks them for this transaction only; any other bundle goes to
 * EntryPoint.
 */
export const bundleCallOf = (
  target: BundleTarget,
  operations: readonly UserOperationFields[],
): BundleCall =>
  callOf(target, operations, (operation) =>
    hashUserOperation(operation, target.chainId, target.entryPoint),
  );

const ANY_HASH: Hex = `0x${"ff".repeat(32)}`;

/**
 * Like `bundleCallOf`, for pricing the bundle's data before its operations are final: each hash
 * counts as 32 non-zero bytes.
 */
export const pricedBundleCallOf = (
  target: BundleTarget,
  operations: readonly UserOperationFields[],
): BundleCall => callOf(target, operations, () => ANY_HASH);
