import { decodeFunctionData, getAddress, parseAbi, size, slice, type Address, type Hex } from "viem";
import { revertReasonOf } from "@/lib/chains/erc4337/revert-reason";
import type { UserOperation } from "@/lib/ports/bundler";
import { probe, type ProbeCall } from "@/lib/chains/probe";
import type { ChainContext } from "./chain-context";

const abi = parseAbi([
  "function executeUserOpWithErrorString(address to, uint256 value, bytes data, uint8 operation)",
  "function multiSend(bytes transactions)",
]);
const HEADER_BYTES = 1 + 20 + 32 + 32;
const CALLS_MAX = 1_000;

/** The single calls of a Safe's batch; null when the call data is not a batch. */
const batchedCalls = (callData: Hex): ProbeCall[] | null => {
  let packed: Hex;
  try {
    const execute = decodeFunctionData({ abi, data: callData });
    if (execute.functionName !== "executeUserOpWithErrorString" || execute.args[3] !== 1) return null;
    const batch = decodeFunctionData({ abi, data: execute.args[2] });
    if (batch.functionName !== "multiSend") return null;
    packed = batch.args[0];
  } catch {
    return null;
  }
  const calls: ProbeCall[] = [];
  for (let offset = 0; offset < size(packed) && calls.length < CALLS_MAX;) {
    const to: Address = getAddress(slice(packed, offset + 1, offset + 21));
    const value = BigInt(slice(packed, offset + 21, offset + 53));
    const length = Number(slice(packed, offset + 53, offset + HEADER_BYTES));
    const start = offset + HEADER_BYTES;
    calls.push({ to, value, data: length === 0 ? "0x" : slice(packed, start, start + length) });
    offset = start + length;
  }
  return calls;
};

/**
 * Why the calls of an operation revert. MultiSend swallows reasons, so the calls of a batch are made once more, one by
 * one, from the account's address.
 */
export const explainCalls = async (chain: ChainContext, operation: UserOperation, returnData: Hex): Promise<string> => {
  const calls = batchedCalls(operation.callData);
  if (calls === null) return revertReasonOf(returnData).text;
  const results = await probe(chain.client, operation.sender, calls);
  const failed = results.findIndex((result) => !result.success);
  const result = results[failed];
  const call = calls[failed];
  if (result === undefined || call === undefined) return revertReasonOf(returnData).text;
  return `call ${failed + 1} of ${calls.length} (to ${call.to}): ${revertReasonOf(result.returnData).text}`;
};
