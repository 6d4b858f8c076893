import { isPrivateKind } from "./private-kinds";
import type { Operation } from "./operation";

const MAY_RETRY = new Set(["failed", "refunded", "completed"]);

/** The legs whose money is in its wallet again, or never left it, and may be sent once more. */
export const retryableLegs = (operation: Operation): Operation["legs"] =>
  operation.legs.filter(({ state, failure }) => state === "refunded" || (state === "failed" && isRetryable(failure)));

/** A failure says so itself where the money may have moved all the same. */
export const isRetryable = (failure: unknown): boolean =>
  !(typeof failure === "object" && failure !== null && "retryable" in failure && failure.retryable === false);

/** A private operation that spends notes has no legs: its failure says whether a step of it can be tried again. */
const mayRetrySpend = ({ status, failure }: Operation): boolean =>
  (status === "failed" || status === "partially_completed") && failure !== null && isRetryable(failure);

/** Whether something of it failed or came back, and nobody tried it again yet. */
export const mayRetry = (operation: Operation): boolean => {
  if (operation.retriedBy !== null) return false;
  if (isPrivateKind(operation.kind) && operation.legs.length === 0) return mayRetrySpend(operation);
  return MAY_RETRY.has(operation.status) && retryableLegs(operation).length > 0;
};

/** The actions that an operation accepts now. Each action checks again when it is carried out, because another caller may be quicker. */
export const mayOf = (operation: Operation): { cancel: boolean; retry: boolean; approve: boolean } => {
  const pending = operation.status === "pending";
  return {
    cancel: pending && operation.legs.every(({ state }) => state === "queued"),
    approve: pending && operation.subStatus === "awaiting_approval",
    retry: mayRetry(operation),
  };
};
