import { gasTotalOf, type GasLimits } from "./user-operation";

/** A transaction may use at most 2^24 gas (EIP-7825). */
export const TRANSACTION_GAS_MAX = 16_777_216n;

/** The gas that `innerHandleOp` requires beyond the limits of the operation; with less it aborts the bundle (AA95). */
const INNER_OVERHEAD = 10_000n;
/** Left over in a bundle's transaction for what EntryPoint does between operations. */
export const SPARE_GAS = 60_000n;

/** The gas that a caller needs so that its call gets this much: at most 63/64 of the remaining gas is passed on (EIP-150). */
const passingOn = (gas: bigint): bigint => (gas * 64n) / 63n;

/**
 * Gas that the operation may use inside of a bundle. Twice a 64th more: EntryPoint calls itself for it, and wants to be able to pass
 * the whole call gas limit on from there.
 */
export const bundledGasOf = (gas: GasLimits): bigint => passingOn(passingOn(gasTotalOf(gas) + INNER_OVERHEAD));

/** Gas limit of a transaction that carries nothing but this operation. `isSponsored`: by way of the paymaster's own call. */
export const transactionGasAlone = (gas: GasLimits, { isSponsored }: { readonly isSponsored: boolean }): bigint => {
  const bundled = bundledGasOf(gas) + SPARE_GAS;
  return isSponsored ? passingOn(bundled) : bundled;
};
