import { encodeFunctionData, isAddressEqual, type Address, type Hex } from "viem";
import { entryPoint07Abi } from "viem/account-abstraction";
import { markedPaymasterAbi } from "@/lib/chains/erc4337/marked-paymaster";
import { hashUserOperation, packUserOperation } from "@/lib/chains/erc4337/user-operation";
import type { UserOperation } from "@/lib/ports/bundler";
import type { Place } from "./place";

/** A transaction of the executor, without its gas. */
export interface BundleCall {
  readonly to: Address;
  readonly data: Hex;
  /** How many operations the paymaster marks in it; without any it goes to EntryPoint directly. */
  readonly marked: number;
}

type Target = Pick<Place, "chainId" | "entryPoint" | "executor" | "paymaster">;

const isPaidBy = (paymaster: Address | null, operation: UserOperation): boolean =>
  paymaster !== null && operation.paymaster !== undefined && isAddressEqual(operation.paymaster, paymaster);

/**
 * The call that brings a bundle on chain. What the project's paymaster is to pay for goes through the paymaster, which marks it for
 * this transaction alone; a bundle that has nothing of that kind goes to EntryPoint.
 */
export const bundleCallOf = (place: Target, operations: readonly UserOperation[]): BundleCall => {
  const { chainId, entryPoint, executor, paymaster } = place;
  const marked = operations
    .filter((operation) => isPaidBy(paymaster, operation))
    .map((operation) => hashUserOperation(operation, chainId, entryPoint));
  const packed = operations.map(packUserOperation);
  if (paymaster === null || marked.length === 0) {
    const data = encodeFunctionData({ abi: entryPoint07Abi, functionName: "handleOps", args: [packed, executor] });
    return { to: entryPoint, data, marked: 0 };
  }
  const data = encodeFunctionData({
    abi: markedPaymasterAbi,
    functionName: "handleMarkedOps",
    args: [packed, executor, marked],
  });
  return { to: paymaster, data, marked: marked.length };
};
