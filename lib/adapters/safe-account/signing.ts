import {
  concatHex,
  encodePacked,
  isHex,
  parseSignature,
  serializeSignature,
  size,
  slice,
  verifyTypedData,
  type Hex,
  type TypedDataDefinition,
} from "viem";
import { DomainError } from "@/lib/core/errors";
import { initCodeOf, paymasterAndDataOf } from "@/lib/chains/erc4337/user-operation";
import type { UserOperation } from "@/lib/ports/bundler";
import type { EvmAddress } from "@/lib/ports/routing";

/** Valid from the epoch on; only the end limits an operation's validity. */
const VALID_AFTER = 0;

const SAFE_OP = [
  { type: "address", name: "safe" },
  { type: "uint256", name: "nonce" },
  { type: "bytes", name: "initCode" },
  { type: "bytes", name: "callData" },
  { type: "uint128", name: "verificationGasLimit" },
  { type: "uint128", name: "callGasLimit" },
  { type: "uint256", name: "preVerificationGas" },
  { type: "uint128", name: "maxPriorityFeePerGas" },
  { type: "uint128", name: "maxFeePerGas" },
  { type: "bytes", name: "paymasterAndData" },
  { type: "uint48", name: "validAfter" },
  { type: "uint48", name: "validUntil" },
  { type: "address", name: "entryPoint" },
] as const;

export const unixSeconds = (date: Date): number => Math.floor(date.getTime() / 1000);

interface SafeOperation {
  readonly chainId: number;
  readonly entryPoint: EvmAddress;
  readonly module4337: EvmAddress;
  readonly operation: UserOperation;
  readonly validUntil: Date;
}

/** EIP-712 `SafeOp` of the 4337 module. It covers every field of the operation but the signature. */
export const safeOperationTypedData = (input: SafeOperation): TypedDataDefinition => ({
  domain: { chainId: input.chainId, verifyingContract: input.module4337 },
  types: { SafeOp: SAFE_OP },
  primaryType: "SafeOp",
  message: {
    safe: input.operation.sender,
    nonce: input.operation.nonce,
    initCode: initCodeOf(input.operation),
    callData: input.operation.callData,
    verificationGasLimit: input.operation.verificationGasLimit,
    callGasLimit: input.operation.callGasLimit,
    preVerificationGas: input.operation.preVerificationGas,
    maxPriorityFeePerGas: input.operation.maxPriorityFeePerGas,
    maxFeePerGas: input.operation.maxFeePerGas,
    paymasterAndData: paymasterAndDataOf(input.operation),
    validAfter: VALID_AFTER,
    validUntil: unixSeconds(input.validUntil),
    entryPoint: input.entryPoint,
  },
});

const ECDSA_BYTES = 65;

/** Safe takes `v` of 27 or 28 for typed data; some wallets answer with 0 or 1. */
const normalised = (signature: Hex): Hex => {
  if (!isHex(signature) || size(signature) !== ECDSA_BYTES) {
    throw new DomainError("invalid_signature", "The signature must be 65 bytes of hex, as a wallet gives it.");
  }
  try {
    return serializeSignature(parseSignature(signature));
  } catch (cause) {
    throw new DomainError("invalid_signature", "The signature is not one of secp256k1.", { cause });
  }
};

/** validAfter (6 bytes) ‖ validUntil (6 bytes) ‖ the owner's signature: `signature` of the user operation. */
export const packSignature = (validUntil: Date, ownerSignature: Hex): Hex =>
  concatHex([encodePacked(["uint48", "uint48"], [VALID_AFTER, unixSeconds(validUntil)]), normalised(ownerSignature)]);

const VALIDITY_BYTES = 12;

/** Whether the operation bears the owner's signature over itself, with this validity. */
export const isSignedBy = async (owner: EvmAddress, input: SafeOperation): Promise<boolean> => {
  const packed = input.operation.signature;
  if (!isHex(packed) || size(packed) !== VALIDITY_BYTES + ECDSA_BYTES) return false;
  const signature = slice(packed, VALIDITY_BYTES);
  try {
    if (packSignature(input.validUntil, signature) !== packed) return false;
    return await verifyTypedData({ ...safeOperationTypedData(input), address: owner, signature });
  } catch {
    // Bytes that are no signature of secp256k1.
    return false;
  }
};

/**
 * A well-formed dummy signature of the highest gas cost that recovers to another address: validation runs to its end
 * and fails with "wrong signature", so that an estimate needs no key.
 */
export const DUMMY_SIGNATURE: Hex = concatHex([
  // validAfter 0, validUntil at its maximum: always valid.
  "0x000000000000ffffffffffff",
  "0xfffffffffffffffffffffffffffffff000000000000000000000000000000000",
  "0x7aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
  "0x1c",
]);
