import {
  BaseError,
  decodeErrorResult,
  ExecutionRevertedError,
  parseEventLogs,
  type Address,
  type Hex,
  type PublicClient,
  type TransactionReceipt,
} from "viem";
import { entrypointAbi, privacyPoolAbi, privacyProcessorAbi } from "@/lib/chain/privacy-pools";
import type { SpendOutcome, SpendRefusal } from "@/lib/money/ports/privacy";

const MOVED = new Set(["IncorrectASPRoot", "UnknownStateRoot", "NoRootsAvailable"]);
const errors = [...entrypointAbi, ...privacyPoolAbi, ...privacyProcessorAbi];

/** The revert data of a failed call. Depending on the client, it is in `data` or in `data.data`. */
const revertDataOf = (error: unknown): Hex | null => {
  if (!(error instanceof BaseError)) return null;
  const found = error.walk(
    (cause) => typeof cause === "object" && cause !== null && "data" in cause,
  );
  const data: unknown = found !== null && "data" in found ? found.data : null;
  const inner: unknown =
    typeof data === "object" && data !== null && "data" in data ? data.data : data;
  return typeof inner === "string" && /^0x[0-9a-f]{8}/i.test(inner) ? (inner as Hex) : null;
};

const isRevert = (error: unknown): boolean =>
  error instanceof BaseError &&
  error.walk((cause) => cause instanceof ExecutionRevertedError) !== null;

/**
 * The reason why the contracts refuse a transaction; null when the error does not come from them.
 */
export const refusalOf = (error: unknown): SpendRefusal | null => {
  const data = revertDataOf(error);
  // A recipient may revert without data. The error of an unreachable node is not a revert, and is
  // retried.
  if (data === null) return isRevert(error) ? "refused" : null;
  try {
    const { errorName } = decodeErrorResult({ abi: errors, data });
    if (MOVED.has(errorName)) return "moved";
    return errorName === "NullifierAlreadySpent" || errorName === "PrecommitmentAlreadyUsed"
      ? "spent"
      : "refused";
  } catch {
    return "refused";
  }
};

const receivedOf = ({ logs }: TransactionReceipt): bigint => {
  const [relayed] = parseEventLogs({
    abi: entrypointAbi,
    eventName: "WithdrawalRelayed",
    logs,
  });
  if (relayed !== undefined) return relayed.args._amount;
  const [deposited] = parseEventLogs({ abi: privacyPoolAbi, eventName: "Deposited", logs });
  return deposited?.args._value ?? 0n;
};

export const readPaid = async (
  client: PublicClient,
  hash: Hex,
): Promise<readonly Address[]> => {
  const { logs } = await client.getTransactionReceipt({ hash });
  const relayed = parseEventLogs({ abi: entrypointAbi, eventName: "WithdrawalRelayed", logs });
  return relayed.map(({ args }) => args._recipient);
};

export const readOutcome = async (
  client: PublicClient,
  hash: Hex,
): Promise<SpendOutcome | null> => {
  const receipt = await client.getTransactionReceipt({ hash }).catch((error: unknown) => {
    if (error instanceof BaseError && error.name === "TransactionReceiptNotFoundError")
      return null;
    throw error;
  });
  if (receipt === null) return null;
  const success = receipt.status === "success";
  return {
    success,
    blockNumber: receipt.blockNumber,
    receivedBase: success ? receivedOf(receipt) : 0n,
  };
};
