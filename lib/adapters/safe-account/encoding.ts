import {
  concatHex,
  encodePacked,
  erc20Abi,
  getContractAddress,
  type Hex,
  isHex,
  keccak256,
  parseAbi,
  parseSignature,
  serializeSignature,
  size,
  slice,
  type TypedDataDefinition,
  verifyTypedData,
} from "viem";
import { encodeCall } from "@/lib/chain/encode-call";
import { distributeData } from "@/lib/chain/distributor";
import type { SafeContracts } from "@/lib/chain/chain-contracts";
import type { Call, EvmAddress } from "@/lib/core/evm";
import type { AccountPayout } from "@/lib/chain/ports/smart-accounts";
import { DomainError } from "@/lib/core/errors";
import { initCodeOf, paymasterAndDataOf } from "@/lib/chain/erc4337/user-operation";
import type { UserOperation } from "@/lib/chain/ports/bundler";

/**
 * Init code hash for CREATE2: keccak256 of the proxy's creation code followed by the canonical
 * singleton.
 */
export const CANONICAL_INIT_CODE_HASH: Hex =
  "0x76733d705f71b79841c0ee960a0ca880f779cde7ef446c989e6d23efc0a4adfb";

export const SALT_NONCE = 0n;
const THRESHOLD = 1n;
const NOBODY = "0x0000000000000000000000000000000000000000";
const OPERATION_CALL = 0;
const OPERATION_DELEGATECALL = 1;

const abi = parseAbi([
  "function enableModules(address[] modules)",
  "function multiSend(bytes transactions)",
  "function setup(address[] owners, uint256 threshold, address to, bytes data, address fallbackHandler, address paymentToken, uint256 payment, address paymentReceiver)",
  "function createProxyWithNonce(address singleton, bytes initializer, uint256 saltNonce)",
  "function executeUserOpWithErrorString(address to, uint256 value, bytes data, uint8 operation)",
]);

const packed = (call: Call, operation: number): Hex =>
  encodePacked(
    ["uint8", "address", "uint256", "uint256", "bytes"],
    [operation, call.to, call.value, BigInt((call.data.length - 2) / 2), call.data],
  );

const multiSend = (transactions: readonly Hex[]): Hex =>
  encodeCall({ abi, functionName: "multiSend", args: [concatHex(transactions)] });

/**
 * The `setup` call of a Safe with one owner and the 4337 module as module and fallback handler.
 * Encoded as in permissionless.
 */
const initializerOf = (owner: EvmAddress, contracts: SafeContracts): Hex => {
  const enableModules = encodeCall({
    abi,
    functionName: "enableModules",
    args: [[contracts.module4337]],
  });
  const setupCalls = multiSend([
    packed(
      { to: contracts.moduleSetup, data: enableModules, value: 0n },
      OPERATION_DELEGATECALL,
    ),
  ]);
  return encodeCall({
    abi,
    functionName: "setup",
    args: [
      [owner],
      THRESHOLD,
      contracts.multiSend,
      setupCalls,
      contracts.module4337,
      NOBODY,
      0n,
      NOBODY,
    ],
  });
};

export const deploymentOf = (owner: EvmAddress, contracts: SafeContracts): Call => ({
  to: contracts.proxyFactory,
  data: encodeCall({
    abi,
    functionName: "createProxyWithNonce",
    args: [contracts.singleton, initializerOf(owner, contracts), SALT_NONCE],
  }),
  value: 0n,
});

/** The account's address before and after its deployment (CREATE2, EIP-1014). */
export const addressOf = (
  owner: EvmAddress,
  contracts: SafeContracts,
  initCodeHash: Hex,
): EvmAddress => {
  const initializerHash = keccak256(initializerOf(owner, contracts));
  const salt = keccak256(encodePacked(["bytes32", "uint256"], [initializerHash, SALT_NONCE]));
  return getContractAddress({
    opcode: "CREATE2",
    from: contracts.proxyFactory,
    salt,
    bytecodeHash: initCodeHash,
  });
};

/**
 * Call data of the account: a direct call for one call, MultiSendCallOnly for several, which
 * reverts all of them when one reverts. The variant "WithErrorString" passes on the revert reason.
 */
export const encodeCalls = (calls: readonly Call[], contracts: SafeContracts): Hex => {
  const [first, ...rest] = calls;
  if (first === undefined) throw new Error("An operation needs at least one call.");
  const batch = (): Hex => multiSend(calls.map((call) => packed(call, OPERATION_CALL)));
  return encodeCall({
    abi,
    functionName: "executeUserOpWithErrorString",
    args:
      rest.length === 0
        ? [first.to, first.value, first.data, OPERATION_CALL]
        : [contracts.multiSendCallOnly, 0n, batch(), OPERATION_DELEGATECALL],
  });
};

const paymentCall = (
  token: AccountPayout["token"],
  { recipient, amountBase }: AccountPayout["rows"][number],
): Call =>
  token === "native"
    ? { to: recipient, value: amountBase, data: "0x" }
    : {
        to: token,
        value: 0n,
        data: encodeCall({
          abi: erc20Abi,
          functionName: "transfer",
          args: [recipient, amountBase],
        }),
      };

/**
 * Call data of the account for a payout: one delegated call to the chain's distributor, or plain
 * calls on a chain without one. The distributor's code runs as the account, so the caller must have
 * verified it (`distributorFault`).
 */
export const encodePayout = (
  { token, rows }: AccountPayout,
  contracts: SafeContracts,
  distributor: EvmAddress | undefined,
): Hex => {
  if (rows.length === 0 || rows.some(({ amountBase }) => amountBase <= 0n))
    throw new Error("A payout needs at least one row, and each row an amount above zero.");
  if (distributor === undefined)
    return encodeCalls(
      rows.map((row) => paymentCall(token, row)),
      contracts,
    );
  return encodeCall({
    abi,
    functionName: "executeUserOpWithErrorString",
    args: [distributor, 0n, distributeData(token, rows), OPERATION_DELEGATECALL],
  });
};

/** Start of every operation's validity: the epoch. Only the end limits the validity. */
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

const unixSeconds = (date: Date): number => Math.floor(date.getTime() / 1000);

interface SafeOperation {
  readonly chainId: number;
  readonly entryPoint: EvmAddress;
  readonly module4337: EvmAddress;
  readonly operation: UserOperation;
  readonly validUntil: Date;
}

/**
 * EIP-712 `SafeOp` of the 4337 module. It covers every field of the operation except the signature.
 */
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

/** Safe requires `v` to be 27 or 28 for typed data, but some wallets return 0 or 1. */
const normalised = (signature: Hex): Hex => {
  if (!isHex(signature) || size(signature) !== ECDSA_BYTES) {
    throw new DomainError(
      "invalid_signature",
      "The signature must be 65 bytes of hex, as a wallet gives it.",
    );
  }
  try {
    return serializeSignature(parseSignature(signature));
  } catch (cause) {
    throw new DomainError("invalid_signature", "The signature is not one of secp256k1.", {
      cause,
    });
  }
};

/**
 * `signature` of the user operation: validAfter (6 bytes) ‖ validUntil (6 bytes) ‖ the owner's
 * signature.
 */
export const packSignature = (validUntil: Date, ownerSignature: Hex): Hex =>
  concatHex([
    encodePacked(["uint48", "uint48"], [VALID_AFTER, unixSeconds(validUntil)]),
    normalised(ownerSignature),
  ]);

const VALIDITY_BYTES = 12;

export const isSignedBy = async (owner: EvmAddress, input: SafeOperation): Promise<boolean> => {
  const packed = input.operation.signature;
  if (!isHex(packed) || size(packed) !== VALIDITY_BYTES + ECDSA_BYTES) return false;
  const signature = slice(packed, VALIDITY_BYTES);
  try {
    if (packSignature(input.validUntil, signature) !== packed) return false;
    return await verifyTypedData({
      ...safeOperationTypedData(input),
      address: owner,
      signature,
    });
  } catch {
    // The bytes are not a secp256k1 signature.
    return false;
  }
};

/**
 * A well-formed dummy signature with the highest gas cost, which recovers to another address.
 * Validation then runs to its end and fails with "wrong signature", so an estimate needs no key.
 */
export const DUMMY_SIGNATURE: Hex = concatHex([
  // Always valid: validAfter 0, validUntil at its maximum.
  "0x000000000000ffffffffffff",
  "0xfffffffffffffffffffffffffffffff000000000000000000000000000000000",
  "0x7aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
  "0x1c",
]);
