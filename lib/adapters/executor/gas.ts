import { size, type Hex } from "viem";
import { bundledGasOf, SPARE_GAS } from "@/lib/chains/erc4337/gas-limits";
import type { UserOperation } from "@/lib/ports/bundler";
import { pricedBundleCallOf, type BundleCall } from "@/lib/chains/erc4337/bundle-call";
import { parentGasOf } from "@/lib/chains/parent-fee";
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

/** The call that carries the operation alone. Quantities that are not known yet are priced as if they were wide numbers. */
const pricedCall = (operation: UserOperation, chain: ChainContext): BundleCall => {
  const priced = {
    ...operation,
    callGasLimit: WIDE,
    verificationGasLimit: WIDE,
    preVerificationGas: WIDE,
    ...(operation.paymaster === undefined
      ? {}
      : { paymasterVerificationGasLimit: WIDE, paymasterPostOpGasLimit: WIDE }),
  };
  return pricedBundleCallOf(chain, [priced]);
};

/** Gas of the transaction that the operation causes but EntryPoint does not measure, without the fee of a parent chain. */
export const preVerificationGasOf = (operation: UserOperation, chain: ChainContext): bigint => {
  const { data, marked } = pricedCall(operation, chain);
  return (
    TRANSACTION_GAS +
    UNMEASURED_GAS +
    (marked > 0 ? MARKING_GAS : 0n) +
    dataGas(data, GAS_PER_ZERO_BYTE, GAS_PER_BYTE) +
    UNMEASURED_GAS_PER_WORD * BigInt(Math.ceil(size(data) / 32))
  );
};

/**
 * Gas that stands for the fee of the operation's data on the parent chain; 0 where there is none.
 * @throws viem's error when the rollup's contract does not answer
 */
export const parentGasOfOperation = async (operation: UserOperation, chain: ChainContext): Promise<bigint> => {
  const { chainId, rollup } = chain;
  if (rollup === undefined) return 0n;
  const { to, data } = pricedCall(operation, chain);
  return parentGasOf(chain.client, { chainId, rollup, to, data, maxFeePerGas: operation.maxFeePerGas });
};

/**
 * The part of `preVerificationGas` that no transaction uses: on the OP stack the fee for data is taken beside the gas, so the gas that
 * stands for it must not fill up transactions. On Arbitrum it is used.
 */
export const unusedGasOf = (operation: UserOperation, chain: ChainContext): bigint => {
  if (chain.rollup !== "op-stack") return 0n;
  const unused = operation.preVerificationGas - preVerificationGasOf(operation, chain);
  return unused > 0n ? unused : 0n;
};

/** Gas that the operation may use inside a bundle. */
export const usedGasOf = (operation: UserOperation, chain: ChainContext): bigint =>
  bundledGasOf({
    ...operation,
    preVerificationGas: operation.preVerificationGas - unusedGasOf(operation, chain),
  });

/** Gas limit of the transaction: all limits of its operations, and for the paymaster's call to EntryPoint a 64th more (EIP-150). */
export const transactionGasOf = (
  chain: ChainContext,
  operations: readonly UserOperation[],
  { data, marked }: BundleCall,
): bigint => {
  const limits = operations.reduce((sum, operation) => sum + usedGasOf(operation, chain), SPARE_GAS);
  const passedOn = marked > 0 ? (limits * 64n) / 63n : limits;
  const floor = TRANSACTION_GAS + dataGas(data, FLOOR_PER_ZERO_BYTE, FLOOR_PER_BYTE);
  return passedOn > floor ? passedOn : floor;
};
