import { concatHex, numberToHex, type Address, type Hex } from "viem";
import { getUserOperationHash, toPackedUserOperation } from "viem/account-abstraction";

/**
 * The fields of a user operation of EntryPoint v0.7 (ERC-4337), unpacked. The type has the same structure as the
 * bundler port's.
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

/** `PackedUserOperation` of EntryPoint v0.7, as its ABI takes it. */
export const packUserOperation = (operation: UserOperationFields): ReturnType<typeof toPackedUserOperation> =>
  toPackedUserOperation(operation);

/** Hashes by operation, then by chain and EntryPoint. An operation is hashed for its estimate, its bundle and its submission. */
const hashes = new WeakMap<UserOperationFields, Map<string, Hex>>();

/** Hash by which EntryPoint v0.7 names the operation; independent of the signature. The operation must not be changed afterwards. */
export const hashUserOperation = (operation: UserOperationFields, chainId: number, entryPoint: Address): Hex => {
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
  operation.factory === undefined ? "0x" : concatHex([operation.factory, operation.factoryData ?? "0x"]);

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

/** The gas limits of an operation. */
export type GasLimits = Pick<
  UserOperationFields,
  | "callGasLimit"
  | "verificationGasLimit"
  | "preVerificationGas"
  | "paymasterVerificationGasLimit"
  | "paymasterPostOpGasLimit"
>;

/** Sum of the gas limits. The account or paymaster must be able to pay for it before anything runs. */
export const gasTotalOf = (gas: GasLimits): bigint =>
  gas.callGasLimit +
  gas.verificationGasLimit +
  gas.preVerificationGas +
  (gas.paymasterVerificationGasLimit ?? 0n) +
  (gas.paymasterPostOpGasLimit ?? 0n);
