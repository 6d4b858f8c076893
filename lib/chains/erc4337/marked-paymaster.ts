import { parseAbi, toFunctionSelector, type Address } from "viem";
import { DomainError } from "@/lib/core/errors";
import { revertDataOf } from "./revert-reason";

const PACKED_USER_OPERATION =
  "struct PackedUserOperation { address sender; uint256 nonce; bytes initCode; bytes callData; bytes32 accountGasLimits; uint256 preVerificationGas; bytes32 gasFees; bytes paymasterAndData; bytes signature; }";

/** ABI of `lib/chains/solidity/MarkedPaymaster.sol`. */
export const markedPaymasterAbi = parseAbi([
  PACKED_USER_OPERATION,
  "constructor(address entryPoint, address owner, address[] markers, uint32 unstakeDelaySec) payable",
  "function handleMarkedOps(PackedUserOperation[] ops, address beneficiary, bytes32[] userOpHashes)",
  "function mark(bytes32[] userOpHashes, uint48 until)",
  "function unmark(bytes32[] userOpHashes)",
  "function markedUntil(bytes32 userOpHash) view returns (uint48)",
  "function isMarker(address account) view returns (bool)",
  "function setMarker(address marker, bool allowed)",
  "function owner() view returns (address)",
  "function pendingOwner() view returns (address)",
  "function transferOwnership(address newOwner)",
  "function acceptOwnership()",
  "function entryPoint() view returns (address)",
  "function deposit() payable",
  "function withdrawTo(address to, uint256 amount)",
  "function addStake(uint32 unstakeDelaySec) payable",
  "function unlockStake()",
  "function withdrawStake(address to)",
  "error NotOwner(address account)",
  "error NotPendingOwner(address account)",
  "error NotMarker(address account)",
  "error NotEntryPoint(address account)",
  "error NoEntryPoint(address account)",
  "error NoOwner()",
  "error MarkExpired(uint48 until)",
]);

const NOT_MARKER = toFunctionSelector("NotMarker(address)");

interface Marking {
  readonly chainName: string;
  readonly paymaster: Address | null;
  readonly executor: Address;
}

/**
 * The error for a paymaster that does not accept the executor as a marker. The service's operator has to fix it; the
 * operation is not at fault.
 * @returns null for a call that failed for another reason
 */
export const notMarkerErrorOf = (error: unknown, { chainName, paymaster, executor }: Marking): DomainError | null =>
  revertDataOf(error)?.startsWith(NOT_MARKER) === true
    ? new DomainError(
        "provider_error",
        `The paymaster ${String(paymaster)} on ${chainName} does not let the service's account ${executor} mark operations. Its owner must call setMarker(${executor}, true).`,
        { cause: error },
      )
    : null;
