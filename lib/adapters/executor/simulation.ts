import { ExecutionRevertedError, BaseError, type Address, type Hex, type PublicClient } from "viem";
import { revertDataOf, revertReasonOf, type RevertReason } from "@/lib/chains/erc4337/revert-reason";
import { DomainError } from "@/lib/core/errors";
import type { UserOperation } from "@/lib/ports/bundler";
import { handleOpsData, TRANSACTION_GAS_MAX, transactionGasOf } from "./gas";

/** Where operations run on one chain. */
export interface Place {
  readonly chainId: number;
  readonly chainName: string;
  readonly client: PublicClient;
  readonly entryPoint: Address;
  /** Sends the bundles and is paid for them. */
  readonly executor: Address;
}

/** EntryPoint's codes as a person reads them; the others speak for themselves. */
const WORDS: Readonly<Record<string, string>> = {
  AA10: "the account was deployed meanwhile, so the operation must be prepared anew",
  AA21: "the account cannot pay the network fee",
  AA22: "the operation has expired",
  AA24: "the signature is not one of the account's owner",
  AA25: "the operation was executed before, or another one in its place",
  AA31: "the paymaster's deposit at EntryPoint is too low; whoever runs the service must add to it",
  AA32: "the paymaster's consent has expired",
  AA34: "the paymaster's signature is wrong",
};

/** The operation would not do what it is for. */
export const simulationFailed = (place: Place, reason: string, entryPointCode: string | null = null): DomainError =>
  new DomainError(
    "simulation_failed",
    `${place.chainName} would not execute this: ${WORDS[entryPointCode ?? ""] ?? reason}. Nothing was sent.`,
    { extra: { reason, ...(entryPointCode === null ? {} : { entryPointCode }) } },
  );

const isRevert = (error: unknown): boolean =>
  error instanceof BaseError && error.walk((cause) => cause instanceof ExecutionRevertedError) !== null;

/** The reason of a reverted call; anything else that went wrong is thrown on. */
export const reasonOfRevert = (error: unknown): RevertReason => {
  const data: Hex | null = revertDataOf(error);
  if (data !== null) return revertReasonOf(data);
  if (isRevert(error)) return revertReasonOf("0x");
  throw error;
};

/**
 * `handleOps` as the executor would send it, by `eth_call`. Null: EntryPoint accepts all of them (whatever their calls then
 * do); else which of them it refuses first, and why.
 */
export const dryRun = async (place: Place, operations: readonly UserOperation[]): Promise<RevertReason | null> => {
  const data = handleOpsData(operations, place.executor);
  const gas = transactionGasOf(operations, data);
  try {
    await place.client.call({
      account: place.executor,
      to: place.entryPoint,
      data,
      gas: gas < TRANSACTION_GAS_MAX ? gas : TRANSACTION_GAS_MAX,
    });
    return null;
  } catch (error) {
    return reasonOfRevert(error);
  }
};
