/** The row of an operation inside a transaction: locked first, then updated from the states of its legs. */
import { mayMove, type Status, type SubStatus } from "@/lib/core/status";
import type { Tx } from "@/lib/db/client";
import { toBigIntOrNull } from "@/lib/db/decimal";
import { appendEvent } from "./event-repository";
import type { Failure } from "./leg";
import { isLegFinal, summarizeLegs, type LegResult, type LegState, type OperationSummary } from "./summary";

/** An operation of a project. */
export interface OperationKey {
  readonly projectId: string;
  readonly id: string;
}

export interface LockedOperation {
  readonly id: string;
  readonly projectId: string;
  readonly kind: string;
  readonly status: Status;
  readonly subStatus: SubStatus;
  readonly minimumBase: bigint;
}

/** Locks the operation's row, so that changes of one operation happen one after another. @throws Error when there is no such operation */
export const lockOperation = async (tx: Tx, { projectId, id }: OperationKey): Promise<LockedOperation> => {
  // CHECK constraints of the columns list the possible values.
  const [row] = await tx.$queryRaw<(Omit<LockedOperation, "minimumBase"> & { minimumBase: string })[]>`
    SELECT id, project_id AS "projectId", kind, status, sub_status AS "subStatus", minimum_base::text AS "minimumBase"
    FROM operation WHERE project_id = ${projectId} AND id = ${id} FOR NO KEY UPDATE`;
  if (row === undefined) throw new Error(`There is no operation ${id}.`);
  return { ...row, minimumBase: BigInt(row.minimumBase) };
};

/**
 * The state of an operation from its legs, by position; null while it stays the same.
 * @param delayed whether it takes far longer than estimated; once true, it stays true
 */
export const settledState = <F = Failure>(
  operation: Pick<LockedOperation, "status" | "subStatus" | "minimumBase">,
  legs: readonly (LegResult & { readonly failure: F | null })[],
  delayed = false,
): (OperationSummary & { readonly failure: F | null }) | null => {
  const { minimumBase, subStatus } = operation;
  const next = summarizeLegs(legs, { minimumBase, delayed: delayed || subStatus === "delayed" });
  if (next.status === operation.status && next.subStatus === subStatus) return null;
  const hasEnded = legs.every(({ state }) => isLegFinal(state));
  const failure = hasEnded ? (legs.find((leg) => leg.failure !== null)?.failure ?? null) : null;
  return { ...next, failure };
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
    where: { projectId: operation.projectId, operationId: operation.id },
    orderBy: { position: "asc" },
    select: { state: true, failure: true, receivedBase: true },
  });
  const results = legs.map(({ state, receivedBase, failure }) => ({
    state: state as LegState,
    receivedBase: toBigIntOrNull(receivedBase),
    failure,
  }));
  const next = settledState(operation, results, delayed);
  if (next === null) return;
  const before = operation.status;
  if (next.status !== before && !mayMove(before, next.status)) {
    throw new Error(`An operation may not go from ${before} to ${next.status}.`);
  }
  const { failure } = next;
  await tx.operation.updateMany({
    where: { projectId: operation.projectId, id: operation.id },
    data: {
      status: next.status,
      subStatus: next.subStatus,
      version: { increment: 1 },
      updatedAt: now,
      ...(failure === null ? {} : { failure }),
    },
  });
  await appendEvent(tx, {
    projectId: operation.projectId,
    operationId: operation.id,
    type: `operation.${next.status}`,
    data: { status: next.status, subStatus: next.subStatus },
    now,
  });
};
