import { ExecutionRevertedError, BaseError, type Hex } from "viem";
import { notMarkerErrorOf } from "@/lib/chains/erc4337/marked-paymaster";
import { revertDataOf, revertReasonOf, type RevertReason } from "@/lib/chains/erc4337/revert-reason";
import { DomainError } from "@/lib/core/errors";
import type { UserOperation } from "@/lib/ports/bundler";
import { bundleCallOf } from "@/lib/chains/erc4337/bundle-call";
import { TRANSACTION_GAS_MAX } from "@/lib/chains/erc4337/gas-limits";
import { transactionGasOf } from "./gas";
import type { ChainContext } from "./chain-context";

/** Explanations of EntryPoint's error codes. Codes without an entry are shown as EntryPoint words them. */
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

/** The error for an operation whose validation or calls would fail. */
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
  error instanceof BaseError && error.walk((cause) => cause instanceof ExecutionRevertedError) !== null;

/** The reason of a reverted call. Rethrows errors that are not reverts. */
export const reasonOfRevert = (error: unknown): RevertReason => {
  const data: Hex | null = revertDataOf(error);
  if (data !== null) return revertReasonOf(data);
  if (isRevert(error)) return revertReasonOf("0x");
  throw error;
};

/**
 * Simulates the bundle by `eth_call` as the executor would send it.
 * @returns null when EntryPoint accepts every operation (even if its calls then revert); otherwise the first operation
 * that it refuses, and why
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
