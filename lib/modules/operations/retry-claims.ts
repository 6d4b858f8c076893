import { DomainError } from "@/lib/core/errors";
import type { Tx } from "@/lib/db/client";

/** Of any number of attempts to try an operation again, the first is accepted. */
export const claimRetry = async (tx: Tx, retry: { of: string; by: string; now: Date }): Promise<boolean> => {
  const { count } = await tx.operation.updateMany({
    where: { id: retry.of, retriedBy: null },
    data: { retriedBy: retry.by, version: { increment: 1 }, updatedAt: retry.now },
  });
  return count === 1;
};

/** Lets another operation try again what this one was to try: nothing was sent. */
export const freeRetry = async (tx: Tx, operationId: string, now: Date): Promise<void> => {
  await tx.operation.updateMany({
    where: { retriedBy: operationId },
    data: { retriedBy: null, version: { increment: 1 }, updatedAt: now },
  });
};

/** Somebody else was quicker with a retry. */
export const retriedMeanwhile = (): DomainError =>
  new DomainError("invalid_state", "Another operation tries this one again already. Nothing was sent.");
