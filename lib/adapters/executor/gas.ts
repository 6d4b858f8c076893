import { size, type Hex } from "viem";
import { bundledGasOf, SPARE_GAS } from "@/lib/chains/erc4337/gas-limits";
import type { UserOperation } from "@/lib/ports/bundler";
import { bundleCallOf, type BundleCall } from "@/lib/chains/erc4337/bundle-call";
import type { ChainContext } from "./chain-context";

const TRANSACTION_GAS = 21_000n;
const GAS_PER_ZERO_BYTE = 4n;
const GAS_PER_BYTE = 16n;
/** Minimum price of call data (EIP-7623), which applies to transactions with little execution. */
const FLOOR_PER_ZERO_BYTE = 10n;
const FLOOR_PER_BYTE = 40n;
/** Gas that EntryPoint spends on an operation outside of its own measurement: loop, events, payment of the executor. */
const UNMEASURED_GAS = 22_000n;
const UNMEASURED_GAS_PER_WORD = 5n;
/**
 * Gas that the paymaster uses before it calls EntryPoint: checking the marker, marking, and forwarding the call data.
 */
const MARKING_GAS = 6_000n;

const dataGas = (data: Hex, perZeroByte: bigint, perByte: bigint): bigint => {
  let zeros = 0n;
  for (let index = 2; index < data.length; index += 2) if (data.startsWith("00", index)) zeros += 1n;
  return zeros * perZeroByte + (BigInt(size(data)) - zeros) * perByte;
};

const WIDE = 2n ** 64n - 1n;

/**
 * Gas of the transaction that the operation causes but EntryPoint does not measure. Quantities that are not known yet
 * are priced as if they were wide numbers.
 */
export const preVerificationGasOf = (operation: UserOperation, chain: ChainContext): bigint => {
  const priced = {
    ...operation,
    callGasLimit: WIDE,
    verificationGasLimit: WIDE,
    preVerificationGas: WIDE,
    ...(operation.paymaster === undefined
      ? {}
      : { paymasterVerificationGasLimit: WIDE, paymasterPostOpGasLimit: WIDE }),
  };
  const { data, marked } = bundleCallOf(chain, [priced]);
  return (
    TRANSACTION_GAS +
    UNMEASURED_GAS +
    (marked > 0 ? MARKING_GAS : 0n) +
    dataGas(data, GAS_PER_ZERO_BYTE, GAS_PER_BYTE) +
    UNMEASURED_GAS_PER_WORD * BigInt(Math.ceil(size(data) / 32))
  );
};

/** Gas limit of the transaction: all limits of its operations, and for the paymaster's call to EntryPoint a 64th more (EIP-150). */
export const transactionGasOf = (operations: readonly UserOperation[], { data, marked }: BundleCall): bigint => {
  const limits = operations.reduce((sum, operation) => sum + bundledGasOf(operation), SPARE_GAS);
  const passedOn = marked > 0 ? (limits * 64n) / 63n : limits;
  const floor = TRANSACTION_GAS + dataGas(data, FLOOR_PER_ZERO_BYTE, FLOOR_PER_BYTE);
  return passedOn > floor ? passedOn : floor;
};
