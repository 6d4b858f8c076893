import { mayMove, type Status, type SubStatus } from "@/lib/core/status";
import type { Tx } from "@/lib/db/client";
import { recordAudit, type AuditEntry } from "@/lib/modules/audit/service";
import { insertJob } from "@/lib/modules/jobs/service";
import { toStored } from "@/lib/ports/routing-json";
import type { RouteRequest } from "@/lib/ports/routing";
import { appendEvent } from "./event-repository";
import type { Failure } from "./leg";
import { storedQuoted } from "./operation";
import { insertOperation } from "./accept-repository";
import { retriedMeanwhile } from "./errors";
import { claimRetry, freeRetry } from "./retry-repository";
import { lockOperation, type OperationKey } from "./state-repository";
import { PRIVATE_CHANGES, subStatusesBefore } from "./status-changes";

/** An operation without legs, carried on by another module: its row, its events and its job. */
export interface LeglessOperation {
  readonly id: string;
  readonly projectId: string;
  readonly kind: string;
  /** The queue whose handler carries it on. */
  readonly queue: string;
  readonly request: RouteRequest;
  readonly expectedBase: bigint;
  readonly minimumBase: bigint;
  readonly searchTerms: readonly string[];
  readonly createdBy: string;
  /** Until when it can be approved; null when it runs immediately. */
  readonly approvalUntil: Date | null;
  /** The operation whose undelivered part this operation retries. */
  readonly retryOf: string | null;
  readonly audit: Omit<AuditEntry, "subject" | "at">;
}

/**
 * Stores the operation within the caller's transaction.
 * @throws DomainError `invalid_state` when another operation retries `retryOf` already
 */
export const insertLegless = async (
  tx: Tx,
  input: LeglessOperation,
  /** Of the policies; null while it awaits approval. */
  evaluationId: string | null,
  now: Date,
): Promise<void> => {
  const runs = input.approvalUntil === null;
  const subStatus: SubStatus = runs ? "prepared" : "awaiting_approval";
  const { retryOf } = input;
  if (retryOf !== null && !(await claimRetry(tx, { projectId: input.projectId, of: retryOf, by: input.id, now })))
    throw retriedMeanwhile();
  await insertOperation(
    tx,
    {
      id: input.id,
      projectId: input.projectId,
      kind: input.kind,
      status: "pending",
      subStatus,
      request: input.request,
      quoted: { expectedBase: input.expectedBase },
      minimumBase: input.minimumBase,
      createdBy: input.createdBy,
      retryOf,
      searchTerms: input.searchTerms,
      acceptedAt: runs ? now : null,
      createdAt: now,
      updatedAt: now,
      expiresAt: input.approvalUntil,
    },
    evaluationId,
  );
  await appendEvent(tx, {
    projectId: input.projectId,
    operationId: input.id,
    type: "operation.created",
    data: { status: "pending", subStatus },
    now,
  });
  await recordAudit(tx, { ...input.audit, subject: input.id, at: now });
  if (runs) await insertJob(tx, { id: input.id, queue: input.queue, runAt: now });
};

/** Starts an operation that awaits approval. False when it no longer does. */
export const approveLegless = async (
  tx: Tx,
  at: {
    readonly projectId: string;
    readonly operationId: string;
    readonly queue: string;
    readonly audit: Omit<AuditEntry, "subject" | "at">;
  },
  /** Evaluates the policies and returns the evaluation's id. */
  enforce: () => Promise<string>,
  now: Date,
): Promise<boolean> => {
  const { projectId, operationId } = at;
  const { count } = await tx.operation.updateMany({
    where: { projectId, id: operationId, status: "pending", subStatus: "awaiting_approval", expiresAt: { gt: now } },
    data: { subStatus: "prepared", acceptedAt: now, expiresAt: null, version: { increment: 1 }, updatedAt: now },
  });
  if (count === 0) return false;
  await tx.operation.updateMany({ where: { projectId, id: operationId }, data: { evaluationId: await enforce() } });
  await appendEvent(tx, {
    projectId,
    operationId,
    type: "operation.approved",
    data: { status: "pending", subStatus: "prepared" },
    now,
  });
  await recordAudit(tx, { ...at.audit, subject: operationId, at: now });
  await insertJob(tx, { id: operationId, queue: at.queue, runAt: now });
  return true;
};

export interface LeglessMove {
  readonly projectId: string;
  readonly operationId: string;
  readonly from: readonly { readonly status: Status; readonly subStatus: SubStatus }[];
  readonly to: { readonly status: Status; readonly subStatus: SubStatus };
  readonly event: string;
  readonly failure?: Failure;
  /** The spent and received amounts, in base units. */
  readonly actual?: { readonly spentBase: bigint; readonly receivedBase: bigint };
}

/** Compare-and-set: false when the operation is in none of the `from` states. */
export const moveLegless = async (tx: Tx, move: LeglessMove, now: Date): Promise<boolean> => {
  const { projectId, operationId, to } = move;
  const before = await lockOperation(tx, { projectId, id: operationId });
  const isExpected = move.from.some(
    ({ status, subStatus }) => status === before.status && subStatus === before.subStatus,
  );
  if (!isExpected) return false;
  if (before.status !== to.status && !mayMove(before.status, to.status))
    throw new Error(`An operation may not go from ${before.status} to ${to.status}.`);
  const row = await tx.operation.findFirstOrThrow({ where: { projectId, id: operationId }, select: { quoted: true } });
  await tx.operation.updateMany({
    where: { projectId, id: operationId },
    data: {
      ...to,
      version: { increment: 1 },
      updatedAt: now,
      ...(move.failure === undefined ? {} : { failure: toStored(move.failure) }),
      ...(move.actual === undefined ? {} : { quoted: toStored({ ...storedQuoted.parse(row.quoted), ...move.actual }) }),
    },
  });
  const data = { ...to, ...(move.failure === undefined ? {} : { code: move.failure.code }) };
  await appendEvent(tx, { projectId, operationId, type: move.event, data, now });
  return true;
};

/** pending → cancelled. False when the operation has begun. */
export const cancelledLegless = async (
  tx: Tx,
  { projectId, id: operationId }: OperationKey,
  now: Date,
): Promise<boolean> => {
  const { count } = await tx.operation.updateMany({
    where: {
      projectId,
      id: operationId,
      status: "pending",
      subStatus: { in: subStatusesBefore(PRIVATE_CHANGES, "cancelled") },
    },
    data: { status: "cancelled", version: { increment: 1 }, expiresAt: null, updatedAt: now },
  });
  if (count === 0) return false;
  await freeRetry(tx, { projectId, id: operationId }, now);
  await appendEvent(tx, { projectId, operationId, type: "operation.cancelled", data: { status: "cancelled" }, now });
  return true;
};
