import {
  type Address,
  BaseError,
  decodeErrorResult,
  type Hex,
  isAddressEqual,
  isHex,
  parseAbi,
  size,
  slice,
  toFunctionSelector,
} from "viem";
import { DomainError } from "@/lib/core/errors";
import { chainCall, type ChainRegistry } from "@/lib/chain/registry";

const knownErrors = parseAbi([
  "error Error(string message)",
  "error Panic(uint256 code)",
  "error FailedOp(uint256 opIndex, string reason)",
  "error FailedOpWithRevert(uint256 opIndex, string reason, bytes inner)",
  "error ERC20InsufficientBalance(address sender, uint256 balance, uint256 needed)",
  "error ERC20InsufficientAllowance(address spender, uint256 allowance, uint256 needed)",
  "error ERC20InvalidReceiver(address receiver)",
  "error SafeERC20FailedOperation(address token)",
  "error UnsupportedExecutionFunction(bytes4 selector)",
  "error ExecutionFailed()",
]);

export interface RevertReason {
  readonly text: string;
  /** EntryPoint's error code (`AAxx`); null for other errors. */
  readonly entryPointCode: string | null;
  /** Index within the bundle of the operation that EntryPoint refused; null for other errors. */
  readonly operationIndex: number | null;
}

const decode = (data: Hex): { name: string; args: readonly unknown[] } | null => {
  try {
    const decoded = decodeErrorResult({ abi: knownErrors, data });
    return { name: decoded.errorName, args: decoded.args };
  } catch {
    return null;
  }
};

const plain = (text: string): RevertReason => ({
  text,
  entryPointCode: null,
  operationIndex: null,
});

/** Decodes revert data. Unknown custom errors are named by their selector. */
export const revertReasonOf = (data: Hex): RevertReason => {
  if (size(data) < 4) return plain("reverted without a reason");
  const decoded = decode(data);
  if (decoded === null) return plain(`custom error ${slice(data, 0, 4)}`);
  const [first, second, third] = decoded.args;
  switch (decoded.name) {
    case "Error":
      return plain(String(first));
    case "Panic":
      return plain(`panic 0x${Number(first).toString(16)}`);
    case "FailedOp":
      return {
        text: String(second),
        entryPointCode: String(second).slice(0, 4),
        operationIndex: Number(first),
      };
    case "FailedOpWithRevert":
      return {
        text: `${String(second)}: ${revertReasonOf(third as Hex).text}`,
        entryPointCode: String(second).slice(0, 4),
        operationIndex: Number(first),
      };
    default:
      return plain(`${decoded.name}(${decoded.args.map(String).join(", ")})`);
  }
};

const dataField = (value: unknown): Hex | null => {
  if (isHex(value)) return value;
  if (typeof value === "object" && value !== null && "data" in value)
    return dataField(value.data);
  return null;
};

/**
 * The revert data that a node sent with a failed call; null when the call failed for another reason
 * (network, limits). Depending on the node, the data is in `error.data` or `error.data.data`.
 */
export const revertDataOf = (error: unknown): Hex | null => {
  if (!(error instanceof BaseError)) return null;
  let found: Hex | null = null;
  error.walk((cause) => {
    found =
      typeof cause === "object" && cause !== null && "data" in cause
        ? dataField(cause.data)
        : null;
    return found !== null;
  });
  return found;
};

const PACKED_USER_OPERATION =
  "struct PackedUserOperation { address sender; uint256 nonce; bytes initCode; bytes callData; bytes32 accountGasLimits; uint256 preVerificationGas; bytes32 gasFees; bytes paymasterAndData; bytes signature; }";

/** ABI of `lib/chain/solidity/MarkedPaymaster.sol`. */
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
 * The error for a paymaster that does not accept the executor as a marker. The operator of the
 * service must correct it; the operation is not at fault.
 * @returns null for a call that failed for another reason
 */
export const notMarkerErrorOf = (
  error: unknown,
  { chainName, paymaster, executor }: Marking,
): DomainError | null =>
  revertDataOf(error)?.startsWith(NOT_MARKER) === true
    ? new DomainError(
        "provider_error",
        `The paymaster ${String(paymaster)} on ${chainName} does not let the service's account ${executor} mark operations. Its owner must call setMarker(${executor}, true).`,
        { cause: error },
      )
    : null;

/**
 * Returns a function that tells whether an account may call a contract. The chain's paymaster
 * accepts bundles and marks only from its markers; every other contract accepts calls from
 * everybody. Positive answers are cached.
 */
export const createMarkerCheck = (registry: ChainRegistry) => {
  const markers = new Set<string>();
  return async (chainId: number, from: Address, to: Address): Promise<boolean> => {
    const { paymaster } = registry.get(chainId).contracts;
    const key = `${String(chainId)}:${from}`;
    if (paymaster === undefined || !isAddressEqual(to, paymaster) || markers.has(key))
      return true;
    const call = {
      address: paymaster,
      abi: markedPaymasterAbi,
      functionName: "isMarker",
      args: [from],
    } as const;
    const isMarker = await chainCall(chainId, () =>
      registry.client(chainId).readContract(call),
    );
    if (isMarker) markers.add(key);
    return isMarker;
  };
};
