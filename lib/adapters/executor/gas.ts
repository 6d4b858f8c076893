import {
  type Address,
  BaseError,
  decodeFunctionData,
  ExecutionRevertedError,
  getAddress,
  type Hex,
  parseAbi,
  type PublicClient,
  size,
  slice,
} from "viem";
import {
  type BundleCall,
  bundleCallOf,
  type BundleTarget,
  pricedBundleCallOf,
} from "@/lib/chain/erc4337/bundle-call";
import { parentGasOf, type RollupKind } from "@/lib/chain/fees";
import {
  bundledGasOf,
  SPARE_GAS,
  TRANSACTION_GAS_MAX,
} from "@/lib/chain/erc4337/user-operation";
import type { UserOperation } from "@/lib/chain/ports/bundler";
import {
  notMarkerErrorOf,
  revertDataOf,
  type RevertReason,
  revertReasonOf,
} from "@/lib/chain/erc4337/marked-paymaster";
import { DomainError } from "@/lib/core/errors";
import { probe, type ProbeCall } from "@/lib/chain/probe";

export interface ChainContext extends BundleTarget {
  readonly chainName: string;
  readonly rollup: RollupKind | undefined;
  readonly client: PublicClient;
}

const TRANSACTION_GAS = 21_000n;
const GAS_PER_ZERO_BYTE = 4n;
const GAS_PER_BYTE = 16n;
/**
 * Minimum gas for a zero byte of call data (EIP-7623), which applies to transactions with little
 * execution.
 */
const FLOOR_PER_ZERO_BYTE = 10n;
/** Minimum gas for any other byte of call data. */
const FLOOR_PER_BYTE = 40n;
/**
 * Gas that EntryPoint uses for an operation but does not measure: its loop, its events, and the
 * reimbursement of the executor.
 */
const UNMEASURED_GAS = 22_000n;
const UNMEASURED_GAS_PER_WORD = 5n;
/**
 * Gas that the paymaster uses before it calls EntryPoint: checking the marker, marking, and
 * forwarding the call data.
 */
const MARKING_GAS = 6_000n;

const dataGas = (data: Hex, perZeroByte: bigint, perByte: bigint): bigint => {
  let zeros = 0n;
  for (let index = 2; index < data.length; index += 2)
    if (data.startsWith("00", index)) zeros += 1n;
  return zeros * perZeroByte + (BigInt(size(data)) - zeros) * perByte;
};

const WIDE = 2n ** 64n - 1n;

/**
 * The bundle call with only this operation. Unknown fields have large values, so that their bytes
 * are counted.
 */
const pricedCall = (operation: UserOperation, chain: ChainContext): BundleCall => {
  const priced = {
    ...operation,
    callGasLimit: WIDE,
    verificationGasLimit: WIDE,
    preVerificationGas: WIDE,
    ...(operation.paymaster === undefined
      ? {}
      : { paymasterVerificationGasLimit: WIDE, paymasterPostOpGasLimit: WIDE }),
  };
  return pricedBundleCallOf(chain, [priced]);
};

/**
 * The gas that an operation causes in its transaction and EntryPoint does not measure, without the
 * data fee of a parent chain.
 */
export const preVerificationGasOf = (operation: UserOperation, chain: ChainContext): bigint => {
  const { data, marked } = pricedCall(operation, chain);
  return (
    TRANSACTION_GAS +
    UNMEASURED_GAS +
    (marked > 0 ? MARKING_GAS : 0n) +
    dataGas(data, GAS_PER_ZERO_BYTE, GAS_PER_BYTE) +
    UNMEASURED_GAS_PER_WORD * BigInt(Math.ceil(size(data) / 32))
  );
};

/**
 * Gas that corresponds to the fee for the operation's data on the parent chain; 0 on a chain that
 * is not a rollup.
 * @throws viem's error when the rollup's contract does not answer
 */
export const parentGasOfOperation = async (
  operation: UserOperation,
  chain: ChainContext,
): Promise<bigint> => {
  const { chainId, rollup } = chain;
  if (rollup === undefined) return 0n;
  const { to, data } = pricedCall(operation, chain);
  return parentGasOf(chain.client, {
    chainId,
    rollup,
    to,
    data,
    maxFeePerGas: operation.maxFeePerGas,
  });
};

/**
 * The part of `preVerificationGas` that no transaction uses. On the OP stack, the data fee is
 * charged in addition to the gas, so its gas must not count against the limits of a transaction. On
 * Arbitrum, transactions use this gas.
 */
export const unusedGasOf = (operation: UserOperation, chain: ChainContext): bigint => {
  if (chain.rollup !== "op-stack") return 0n;
  const unused = operation.preVerificationGas - preVerificationGasOf(operation, chain);
  return unused > 0n ? unused : 0n;
};

export const usedGasOf = (operation: UserOperation, chain: ChainContext): bigint =>
  bundledGasOf({
    ...operation,
    preVerificationGas: operation.preVerificationGas - unusedGasOf(operation, chain),
  });

/**
 * Gas limit of the transaction: the limits of all its operations, and a 64th more for the
 * paymaster's call to EntryPoint (EIP-150).
 */
export const transactionGasOf = (
  chain: ChainContext,
  operations: readonly UserOperation[],
  { data, marked }: BundleCall,
): bigint => {
  const limits = operations.reduce(
    (sum, operation) => sum + usedGasOf(operation, chain),
    SPARE_GAS,
  );
  const passedOn = marked > 0 ? (limits * 64n) / 63n : limits;
  const floor = TRANSACTION_GAS + dataGas(data, FLOOR_PER_ZERO_BYTE, FLOOR_PER_BYTE);
  return passedOn > floor ? passedOn : floor;
};

/** Explanations of EntryPoint's error codes. For other codes, EntryPoint's text is shown. */
const WORDS: Readonly<Record<string, string>> = {
  AA10: "the account was deployed meanwhile, so the operation must be prepared again",
  AA21: "the account cannot pay the network fee",
  AA22: "the operation has expired",
  AA24: "the signature is not one of the account's owner",
  AA25: "the operation was executed before, or another one in its place",
  AA31: "the paymaster's deposit at EntryPoint is too low; whoever runs the service must add to it",
  AA32: "the paymaster's consent has expired",
  AA34: "the paymaster has not consented to pay for it",
};

export const simulationFailed = (
  chain: ChainContext,
  reason: string,
  entryPointCode: string | null = null,
): DomainError =>
  new DomainError(
    "simulation_failed",
    `${chain.chainName} would not execute this: ${WORDS[entryPointCode ?? ""] ?? reason}. Nothing was sent.`,
    { extra: { reason, ...(entryPointCode === null ? {} : { entryPointCode }) } },
  );

const isRevert = (error: unknown): boolean =>
  error instanceof BaseError &&
  error.walk((cause) => cause instanceof ExecutionRevertedError) !== null;

/** The reason of a revert. An error that is not a revert is thrown unchanged. */
const reasonOfRevert = (error: unknown): RevertReason => {
  const data: Hex | null = revertDataOf(error);
  if (data !== null) return revertReasonOf(data);
  if (isRevert(error)) return revertReasonOf("0x");
  throw error;
};

/**
 * Simulates the bundle with `eth_call`, as the executor would send it.
 * @returns null when EntryPoint accepts every operation (even if its calls then revert); otherwise
 * the reason, with the first operation that it refuses
 * @throws DomainError `provider_error` when the paymaster does not accept the executor as a marker
 */
export const dryRun = async (
  chain: ChainContext,
  operations: readonly UserOperation[],
): Promise<RevertReason | null> => {
  const call = bundleCallOf(chain, operations);
  const gas = transactionGasOf(chain, operations, call);
  try {
    await chain.client.call({
      account: chain.executor,
      to: call.to,
      data: call.data,
      gas: gas < TRANSACTION_GAS_MAX ? gas : TRANSACTION_GAS_MAX,
    });
    return null;
  } catch (error) {
    const notMarker = notMarkerErrorOf(error, chain);
    if (notMarker !== null) throw notMarker;
    return reasonOfRevert(error);
  }
};

const abi = parseAbi([
  "function executeUserOpWithErrorString(address to, uint256 value, bytes data, uint8 operation)",
  "function multiSend(bytes transactions)",
]);
const HEADER_BYTES = 1 + 20 + 32 + 32;
const CALLS_MAX = 1_000;

/** The single calls of a Safe's batch; null when the operation is not a batch. */
const batchedCalls = (callData: Hex): ProbeCall[] | null => {
  let packed: Hex;
  try {
    const execute = decodeFunctionData({ abi, data: callData });
    if (execute.functionName !== "executeUserOpWithErrorString" || execute.args[3] !== 1)
      return null;
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
 * Explains why an operation's calls revert. MultiSend hides the reasons, so the calls of a batch
 * are repeated one by one from the account's address.
 */
export const explainCalls = async (
  chain: ChainContext,
  operation: UserOperation,
  returnData: Hex,
): Promise<string> => {
  const calls = batchedCalls(operation.callData);
  if (calls === null) return revertReasonOf(returnData).text;
  const results = await probe(chain.client, operation.sender, calls);
  const failed = results.findIndex((result) => !result.success);
  const result = results[failed];
  const call = calls[failed];
  if (result === undefined || call === undefined) return revertReasonOf(returnData).text;
  return `call ${failed + 1} of ${calls.length} (to ${call.to}): ${revertReasonOf(result.returnData).text}`;
};
