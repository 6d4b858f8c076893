import { isPrivateKind } from "@/lib/core/movement-kinds";
import type { Operation } from "./operation";

const MAY_RETRY = new Set(["failed", "refunded", "completed", "partially_completed"]);

/** The legs whose money is back in its wallet, or never left it. */
export const retryableLegs = (operation: Operation): Operation["legs"] =>
  operation.legs.filter(
    ({ state, failure }) =>
      state === "refunded" || (state === "failed" && isRetryable(failure)),
  );

/** A failure is marked as not retryable when the money may have moved despite it. */
export const isRetryable = (failure: unknown): boolean =>
  !(
    typeof failure === "object" &&
    failure !== null &&
    "retryable" in failure &&
    failure.retryable === false
  );

/**
 * A private operation that spends notes has no legs; its failure says whether it can be retried.
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
 * The actions that an operation accepts now. Each action checks again when it runs, because the
 * state may have changed.
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
