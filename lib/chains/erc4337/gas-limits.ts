import { gasTotalOf, type GasLimits } from "./user-operation";

/** A transaction may use at most 2^24 gas (EIP-7825). */
export const TRANSACTION_GAS_MAX = 16_777_216n;

/** The gas that `innerHandleOp` requires beyond the limits of the operation; with less it aborts the bundle (AA95). */
const INNER_OVERHEAD = 10_000n;
/** Reserve in a bundle's transaction for EntryPoint's work between operations. */
export const SPARE_GAS = 60_000n;

/** The gas that a caller needs so that its call gets this much: at most 63/64 of the remaining gas is passed on (EIP-150). */
const passingOn = (gas: bigint): bigint => (gas * 64n) / 63n;

/**
 * Gas that the operation may use inside a bundle. A 64th is added twice: EntryPoint calls itself for the operation, and
 * that inner call must be able to pass on the whole call gas limit.
 */
export const bundledGasOf = (gas: GasLimits): bigint => passingOn(passingOn(gasTotalOf(gas) + INNER_OVERHEAD));

/**
 * Gas limit of a transaction that contains only this operation. `isSponsored`: it goes through the paymaster's own
 * call. `unusedGas` of the limits is charged without being used, so the transaction does not need it.
 */
export const transactionGasAlone = (
  gas: GasLimits & { readonly unusedGas?: bigint | undefined },
  { isSponsored }: { readonly isSponsored: boolean },
): bigint => {
  const preVerificationGas = gas.preVerificationGas - (gas.unusedGas ?? 0n);
  const bundled = bundledGasOf({ ...gas, preVerificationGas }) + SPARE_GAS;
  return isSponsored ? passingOn(bundled) : bundled;
};
