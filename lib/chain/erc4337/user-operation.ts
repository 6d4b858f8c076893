import {
  type Address,
  concatHex,
  type Hex,
  keccak256,
  numberToHex,
  slice,
  stringToBytes,
} from "viem";
import { getUserOperationHash, toPackedUserOperation } from "viem/account-abstraction";

const SEQUENCE_BITS = 64n;

/**
 * The nonce key of a leg: the first 192 bits of keccak256 of its id. Every operation of a leg has
 * sequence 0 of this key. So EntryPoint executes at most one operation per leg, even when several
 * are signed or one is sent twice.
 */
export const nonceKeyOf = (legId: string): bigint =>
  BigInt(slice(keccak256(stringToBytes(legId)), 0, 24));

/** The nonce of this key with sequence 0. */
export const firstNonceOf = (nonceKey: bigint): bigint => nonceKey << SEQUENCE_BITS;

/**
 * The sequence in an answer of `getNonce`, which contains key and sequence. It is the number of
 * executed operations of the key.
 */
export const sequenceOf = (nonce: bigint): bigint => nonce & ((1n << SEQUENCE_BITS) - 1n);

/**
 * The unpacked fields of a user operation of EntryPoint v0.7 (ERC-4337). Structurally equal to the
 * bundler port's type.
 */
export interface UserOperationFields {
  readonly sender: Address;
  readonly nonce: bigint;
  readonly factory?: Address;
  readonly factoryData?: Hex;
  readonly callData: Hex;
  readonly callGasLimit: bigint;
  readonly verificationGasLimit: bigint;
  readonly preVerificationGas: bigint;
  readonly maxFeePerGas: bigint;
  readonly maxPriorityFeePerGas: bigint;
  readonly paymaster?: Address;
  readonly paymasterVerificationGasLimit?: bigint;
  readonly paymasterPostOpGasLimit?: bigint;
  readonly paymasterData?: Hex;
  readonly signature: Hex;
}

export const packUserOperation = (
  operation: UserOperationFields,
): ReturnType<typeof toPackedUserOperation> => toPackedUserOperation(operation);

/**
 * For each operation, its hashes by chain and EntryPoint. They are cached, because an operation is
 * hashed for its estimate, its bundle and its submission.
 */
const hashes = new WeakMap<UserOperationFields, Map<string, Hex>>();

/**
 * The hash by which EntryPoint v0.7 identifies the operation. It does not depend on the signature.
 * The operation must not be changed afterwards, because the hash is cached.
 */
export const hashUserOperation = (
  operation: UserOperationFields,
  chainId: number,
  entryPoint: Address,
): Hex => {
  const known = hashes.get(operation) ?? new Map<string, Hex>();
  hashes.set(operation, known);
  const place = `${String(chainId)}:${entryPoint}`;
  const hash =
    known.get(place) ??
    getUserOperationHash({
      chainId,
      entryPointAddress: entryPoint,
      entryPointVersion: "0.7",
      userOperation: operation,
    });
  known.set(place, hash);
  return hash;
};

export const initCodeOf = (operation: UserOperationFields): Hex =>
  operation.factory === undefined
    ? "0x"
    : concatHex([operation.factory, operation.factoryData ?? "0x"]);

/** paymaster ‖ verification gas (16 bytes) ‖ post-operation gas (16 bytes) ‖ data. */
export const paymasterAndDataOf = (operation: UserOperationFields): Hex =>
  operation.paymaster === undefined
    ? "0x"
    : concatHex([
        operation.paymaster,
        numberToHex(operation.paymasterVerificationGasLimit ?? 0n, { size: 16 }),
        numberToHex(operation.paymasterPostOpGasLimit ?? 0n, { size: 16 }),
        operation.paymasterData ?? "0x",
      ]);

type GasLimits = Pick<
  UserOperationFields,
  | "callGasLimit"
  | "verificationGasLimit"
  | "preVerificationGas"
  | "paymasterVerificationGasLimit"
  | "paymasterPostOpGasLimit"
>;

/**
 * Sum of the gas limits. The account or paymaster must be able to pay for it before EntryPoint
 * executes the operation.
 */
export const gasTotalOf = (gas: GasLimits): bigint =>
  gas.callGasLimit +
  gas.verificationGasLimit +
  gas.preVerificationGas +
  (gas.paymasterVerificationGasLimit ?? 0n) +
  (gas.paymasterPostOpGasLimit ?? 0n);

/** Maximum gas of a transaction: 2^24 (EIP-7825). */
export const TRANSACTION_GAS_MAX = 16_777_216n;

/**
 * The gas that `innerHandleOp` requires beyond the operation's limits. With less, it aborts the
 * bundle (AA95).
 */
const INNER_OVERHEAD = 10_000n;
/** Reserve in a bundle's transaction for EntryPoint's work between operations. */
export const SPARE_GAS = 60_000n;

/**
 * The gas that a caller needs to pass on `gas`: at most 63/64 of the remaining gas is passed on
 * (EIP-150).
 */
const passingOn = (gas: bigint): bigint => (gas * 64n) / 63n;

/**
 * Gas that the operation may use inside a bundle. The reserve of a 64th (EIP-150) is added twice:
 * EntryPoint calls itself for the operation, and this inner call must be able to pass on the whole
 * call gas limit.
 */
export const bundledGasOf = (gas: GasLimits): bigint =>
  passingOn(passingOn(gasTotalOf(gas) + INNER_OVERHEAD));

/**
 * Gas limit of a transaction with only this operation. `isSponsored` says whether the transaction
 * goes through the paymaster. `unusedGas` is the part of the limits that is charged but that no
 * transaction uses.
 */
export const transactionGasAlone = (
  gas: GasLimits & { readonly unusedGas?: bigint | undefined },
  { isSponsored }: { readonly isSponsored: boolean },
): bigint => {
  const preVerificationGas = gas.preVerificationGas - (gas.unusedGas ?? 0n);
  const bundled = bundledGasOf({ ...gas, preVerificationGas }) + SPARE_GAS;
  return isSponsored ? passingOn(bundled) : bundled;
};
