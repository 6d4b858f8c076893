/** The row of an operation inside a transaction: locked first, then updated from the states of its legs. */
import { mayMove, type Status, type SubStatus } from "@/lib/core/status";
import type { Tx } from "@/lib/db/client";
import { toBigIntOrNull } from "@/lib/db/decimal";
import { appendEvent } from "./event-repository";
import { isLegFinal, summarizeLegs, type LegState } from "./summary";

export interface LockedOperation {
  readonly id: string;
  readonly projectId: string;
  readonly kind: string;
  readonly status: Status;
  readonly subStatus: SubStatus;
  readonly minimumBase: bigint;
}

/** Locks the operation's row, so that changes of one operation happen one after another. @throws Error when there is no such operation */
export const lockOperation = async (tx: Tx, operationId: string): Promise<LockedOperation> => {
  // CHECK constraints of the columns list the possible values.
  const [row] = await tx.$queryRaw<(Omit<LockedOperation, "minimumBase"> & { minimumBase: string })[]>`
    SELECT id, project_id AS "projectId", kind, status, sub_status AS "subStatus", minimum_base::text AS "minimumBase"
    FROM operation WHERE id = ${operationId} FOR NO KEY UPDATE`;
  if (row === undefined) throw new Error(`There is no operation ${operationId}.`);
  return { ...row, minimumBase: BigInt(row.minimumBase) };
};

/**
 * Updates the operation's status from its legs. The caller holds the lock of its row.
 * @param delayed whether it takes far longer than estimated; once true, it stays true
 */
export const settleOperation = async (
  tx: Tx,
  operation: LockedOperation,
  now: Date,
  delayed = false,
): Promise<void> => {
  const legs = await tx.operationLeg.findMany({
    where: { operationId: operation.id },
    orderBy: { position: "asc" },
    select: { state: true, failure: true, receivedBase: true },
  });
  const results = legs.map((leg) => ({
    state: leg.state as LegState,
    receivedBase: toBigIntOrNull(leg.receivedBase),
  }));
  const { minimumBase } = operation;
  const next = summarizeLegs(results, { minimumBase, delayed: delayed || operation.subStatus === "delayed" });
  if (next.status === operation.status && next.subStatus === operation.subStatus) return;
  const before = operation.status;
  if (next.status !== before && !mayMove(before, next.status)) {
    throw new Error(`An operation may not go from ${before} to ${next.status}.`);
  }
  const failure = results.every(({ state }) => isLegFinal(state))
    ? (legs.find((leg) => leg.failure !== null)?.failure ?? null)
    : null;
  await tx.operation.updateMany({
    where: { id: operation.id },
    data: {
      status: next.status,
      subStatus: next.subStatus,
      version: { increment: 1 },
      updatedAt: now,
      ...(failure === null ? {} : { failure }),
    },
  });
  await appendEvent(tx, {
    operationId: operation.id,
    type: `operation.${next.status}`,
    data: { status: next.status, subStatus: next.subStatus },
    now,
  });
};
