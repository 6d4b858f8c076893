import { parseAbi, toFunctionSelector } from "viem";

const PACKED_USER_OPERATION =
  "struct PackedUserOperation { address sender; uint256 nonce; bytes initCode; bytes callData; bytes32 accountGasLimits; uint256 preVerificationGas; bytes32 gasFees; bytes paymasterAndData; bytes signature; }";

/** `lib/chains/solidity/MarkedPaymaster.sol`. */
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

/** How the revert data begins with which the paymaster answers somebody who may not mark. */
export const NOT_MARKER_SELECTOR = toFunctionSelector("NotMarker(address)");
