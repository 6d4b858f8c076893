import {
  CallExecutionError,
  encodeErrorResult,
  encodeFunctionData,
  parseAbi,
  RawContractError,
} from "viem";
import { expect, test } from "vitest";
import { revertDataOf, revertReasonOf } from "./marked-paymaster";

const abi = parseAbi([
  "error Error(string message)",
  "error Panic(uint256 code)",
  "error FailedOp(uint256 opIndex, string reason)",
  "error FailedOpWithRevert(uint256 opIndex, string reason, bytes inner)",
  "error ERC20InsufficientBalance(address sender, uint256 balance, uint256 needed)",
  "function unknownError(uint256 amount)",
]);
const SENDER = "0x1111111111111111111111111111111111111111";
const inner = encodeErrorResult({ abi, errorName: "Error", args: ["GS026"] });

test.each([
  ["a reason", inner, "GS026", null],
  ["a panic", encodeErrorResult({ abi, errorName: "Panic", args: [17n] }), "panic 0x11", null],
  [
    "a refusal of EntryPoint",
    encodeErrorResult({ abi, errorName: "FailedOp", args: [3n, "AA24 signature error"] }),
    "AA24 signature error",
    "AA24",
    3,
  ],
  [
    "a refusal with the account's own reason",
    encodeErrorResult({
      abi,
      errorName: "FailedOpWithRevert",
      args: [2n, "AA23 reverted", inner],
    }),
    "AA23 reverted: GS026",
    "AA23",
    2,
  ],
  [
    "a custom error of ERC-6093",
    encodeErrorResult({ abi, errorName: "ERC20InsufficientBalance", args: [SENDER, 1n, 2n] }),
    `ERC20InsufficientBalance(${SENDER}, 1, 2)`,
    null,
  ],
  [
    "an unknown custom error",
    encodeFunctionData({ abi, functionName: "unknownError", args: [1n] }),
    expect.stringMatching(/^custom error 0x[0-9a-f]{8}$/) as string,
    null,
  ],
  ["nothing", "0x" as const, "reverted without a reason", null],
  ["cut off data", "0x08c379a0" as const, "custom error 0x08c379a0", null],
])("revert data in words %s", (_, data, ...[text, entryPointCode, operationIndex = null]) => {
  expect(revertReasonOf(data)).toEqual({ text, entryPointCode, operationIndex });
});

test("revert data in words is found in the error of a call, wherever the node put it", () => {
  const wrap = (cause: RawContractError) => new CallExecutionError(cause, { to: SENDER });
  expect(revertDataOf(wrap(new RawContractError({ data: inner })))).toBe(inner);
  expect(revertDataOf(wrap(new RawContractError({ data: { data: inner } })))).toBe(inner);
  expect(revertDataOf(new Error("socket hang up"))).toBeNull();
});
