import { BaseError, decodeErrorResult, isHex, parseAbi, size, slice, type Hex } from "viem";

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

/** Revert data decoded for people. */
export interface RevertReason {
  readonly text: string;
  /** EntryPoint's error code (`AAxx`), when EntryPoint refused. */
  readonly entryPointCode: string | null;
  /** Index within the bundle of the operation that EntryPoint refused. */
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

const plain = (text: string): RevertReason => ({ text, entryPointCode: null, operationIndex: null });

/** Revert data → reason. Unknown custom errors are named by their selector. */
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
      return { text: String(second), entryPointCode: String(second).slice(0, 4), operationIndex: Number(first) };
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
  if (typeof value === "object" && value !== null && "data" in value) return dataField(value.data);
  return null;
};

/**
 * The revert data that a node sent with a failed call; null when the call failed for another reason (network, limits).
 * Nodes differ in where they put it: `error.data`, or `error.data.data`.
 */
export const revertDataOf = (error: unknown): Hex | null => {
  if (!(error instanceof BaseError)) return null;
  let found: Hex | null = null;
  error.walk((cause) => {
    found = typeof cause === "object" && cause !== null && "data" in cause ? dataField(cause.data) : null;
    return found !== null;
  });
  return found;
};
