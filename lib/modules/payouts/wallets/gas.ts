/** Estimates of a batch's gas before the batch is simulated. */
import type { UserOperationGas } from "@/lib/ports/bundler";

/** Gas of a batch without its rows, including the account's deployment. */
const BATCH_GAS = 250_000n;
/** Gas of a row whose recipient never held the token, including its share of the call data. */
const ROW_GAS = 32_000n;
const VERIFICATION_GAS = 600_000n;
const PRE_VERIFICATION_GAS = 80_000n;
/** Gas of a row's call data: 32 bytes, most of them not zero. */
const ROW_DATA_GAS = 1_300n;
const PAYMASTER_GAS = 80_000n;

/** Bytes of a batch's transaction without its rows, and of a row. */
const BATCH_BYTES = 1_600;
const ROW_BYTES = 32;

export const batchBytesOf = (rows: number): number => BATCH_BYTES + ROW_BYTES * rows;

/**
 * Upper limits of the gas of a batch, for reserving before it is simulated. The signed operation has measured limits.
 * @param parentGas what stands for the fee of its bytes on a rollup's parent chain
 */
export const batchGasOf = (rows: number, parentGas: bigint): UserOperationGas => ({
  callGasLimit: BATCH_GAS + ROW_GAS * BigInt(rows),
  verificationGasLimit: VERIFICATION_GAS,
  preVerificationGas: PRE_VERIFICATION_GAS + ROW_DATA_GAS * BigInt(rows) + parentGas,
  paymasterVerificationGasLimit: PAYMASTER_GAS,
  paymasterPostOpGasLimit: 0n,
});

/** The gas that a batch is expected to use. A recipient that already holds the token costs a third of a new one. */
const EXPECTED_BATCH_GAS = 180_000n;
const EXPECTED_ROW_GAS = 27_000n;

export const expectedGasOf = (rows: number): bigint => EXPECTED_BATCH_GAS + EXPECTED_ROW_GAS * BigInt(rows);
