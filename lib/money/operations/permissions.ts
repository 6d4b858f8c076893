import { isPrivateKind } from "@/lib/core/movement-kinds";
import type { Operation } from "./operation";

const MAY_RETRY = new Set(["failed", "refunded", "completed", "partially_completed"]);

/** The legs whose money is back in its wallet, or never left it. */
export const retryableLegs = (operation: Operation): Operation["legs"] =>
  operation.legs.filter(
    ({ state, failure }) =>
      state === "refunded" || (state === "failed" && isRetryable(failure)),
  );

/**
 * Whether a part with this failure may be sent again. A failure is stored as not retryable when
 * the money may have moved despite the failure.
 */
export const isRetryable = (failure: unknown): boolean =>
  !(
    typeof failure === "object" &&
    failure !== null &&
    "retryable" in failure &&
    failure.retryable === false
  );

/**
 * Whether a private operation that spends notes may be retried. Such an operation has no legs, so
 * its failure decides.
 */
const mayRetrySpend = ({ status, failure }: Operation): boolean =>
  (status === "failed" || status === "partially_completed") &&
  failure !== null &&
  isRetryable(failure);

/** Whether a part of the operation failed or was refunded, and has not been retried yet. */
export const mayRetry = (operation: Operation): boolean => {
  if (operation.retriedBy !== null) return false;
  if (isPrivateKind(operation.kind) && operation.legs.length === 0)
    return mayRetrySpend(operation);
  return MAY_RETRY.has(operation.status) && retryableLegs(operation).length > 0;
};

/**
 * The actions that an operation accepts now. Each action checks the state again when it runs,
 * because the state may have changed.
 */
export const mayOf = (
  operation: Operation,
): { cancel: boolean; retry: boolean; approve: boolean } => {
  const pending = operation.status === "pending";
  return {
    cancel: pending && operation.legs.every(({ state }) => state === "queued"),
    approve: pending && operation.subStatus === "awaiting_approval",
    retry: mayRetry(operation),
  };
};
