import type { Actor } from "@/lib/core/actor";
import type { Database, Tx } from "@/lib/platform/db/client";
import { sqlOf } from "@/lib/platform/db/sql";
import { type AuditEntry, doneBy, recordAudit } from "@/lib/news/audit/service";
import { cancelDecision, type EndedAwaiting } from "@/lib/trust/decisions/service";
import { fundsNameOf, syncHold } from "@/lib/books/holds/service";
import type { SponsorshipService } from "@/lib/books/sponsorship/service";
import { toBigIntOrNull } from "@/lib/platform/db/decimal";
import { toStored } from "@/lib/platform/db/codecs";
import { appendEvent, lockOperation, type OperationKey } from "./state-repository";
import { reservationOf } from "./leg";
import type { Failure } from "./rows";
import {
  claimRetry,
  freeRetry,
  insertOperation,
  type NewOperationRow,
} from "./accept-repository";
import { LEG_CHANGES, PRIVATE_CHANGES, subStatusesBefore } from "./summary";
import { mayMove, type Status, type SubStatus } from "@/lib/core/status";
import { insertJob } from "@/lib/platform/jobs/service";
import type { RouteRequest } from "@/lib/core/route-request";
import { storedQuoted } from "./rows";
import { retriedMeanwhile } from "./errors";

export const createWaitingRepository = (
  database: Database,
  sponsorship: Pick<SponsorshipService, "settle">,
) => ({
  /**
   * Stores an operation that awaits approval, and marks its origin as used. It has no legs and
   * holds no money yet.
   */
  insertAwaiting: (
    operation: NewOperationRow,
    claim: (tx: Tx) => Promise<void>,
    now: Date,
  ): Promise<void> =>
    database.transaction(async (tx) => {
      await insertOperation(sqlOf(tx), operation, null);
      await claim(tx);
      const data = { status: operation.status, subStatus: operation.subStatus };
      await appendEvent(tx, {
        projectId: operation.projectId,
        operationId: operation.id,
        type: "operation.created",
        data,
        now,
      });
    }),

  cancel: (of: OperationKey, actor: Actor, now: Date): Promise<boolean> =>
    database.transaction((tx) => cancelWaiting(tx, sponsorship, of, { actor, now })),

  endAwaiting: (
    { projectId, id: operationId }: OperationKey,
    { status, failure }: { status: EndedAwaiting; failure: Failure | null },
    audit: AuditEntry,
  ): Promise<void> =>
    database.transaction(async (tx) => {
      const { at: now } = audit;
      const { count } = await tx.operation.updateMany({
        where: {
          projectId,
          id: operationId,
          status: "pending",
          subStatus: "awaiting_approval",
        },
        data: {
          status,
          version: { increment: 1 },
          expiresAt: null,
          updatedAt: now,
          ...(failure === null ? {} : { failure: toStored(failure) }),
        },
      });
      if (count === 0) return;
      await freeRetry(tx, { projectId, id: operationId }, now);
      await appendEvent(tx, {
        projectId,
        operationId,
        type: `operation.${status}`,
        data: { status },
        now,
      });
      await recordAudit(tx, audit);
    }),

  /**
   * Expires pending operations that were not approved in time.
   * @returns how many expired
   */
  expireDue: async (now: Date, limit: number): Promise<number> => {
    const due = await database.prisma.operation.findMany({
      where: { status: "pending", expiresAt: { lte: now } },
      select: { projectId: true, id: true },
      take: limit,
    });
    const expired = await Promise.all(due.map((of) => expire(database, of, now)));
    return expired.filter(Boolean).length;
  },
});

/**
 * Cancels a pending operation before anything was sent: ends its legs, and releases their holds
 * and budgets. Returns false when the operation has begun, or when a wallet has already sent or
 * signed for it.
 */
const cancelWaiting = async (
  tx: Tx,
  sponsorship: Pick<SponsorshipService, "settle">,
  of: OperationKey,
  { actor, now }: { readonly actor: Actor; readonly now: Date },
): Promise<boolean> => {
  const { projectId, id: operationId } = of;
  const operation = await lockOperation(tx, of);
  // Legs move only under the lock of their operation, so this count stays correct until COMMIT.
  const begun = await tx.operationLeg.count({
    where: { projectId, operationId, state: { not: "queued" } },
  });
  if (begun > 0) return false;
  const { count } = await tx.operation.updateMany({
    where: {
      projectId,
      id: operationId,
      status: "pending",
      subStatus: { in: subStatusesBefore(LEG_CHANGES, "cancelled") },
    },
    data: { status: "cancelled", version: { increment: 1 }, expiresAt: null, updatedAt: now },
  });
  if (count === 0) return false;
  const legs = await tx.operationLeg.findMany({
    where: { projectId, operationId },
    select: { id: true, sourceChainId: true, sponsorReservedWei: true, sponsorDay: true },
  });
  await tx.operationLeg.updateMany({
    where: { projectId, operationId },
    data: { state: "failed", version: { increment: 1 }, updatedAt: now },
  });
  // The balances are locked in the order of their names, as in all other transactions, to avoid
  // deadlocks.
  const holds = await tx.balanceHold.findMany({
    where: { id: { in: legs.map(({ id }) => id) } },
  });
  const ordered = holds.sort((one, other) => (fundsNameOf(one) < fundsNameOf(other) ? -1 : 1));
  for (const { id } of ordered) await syncHold(tx, id, false, now);
  await freeRetry(tx, { projectId, id: operationId }, now);
  await appendEvent(tx, {
    projectId,
    operationId,
    type: "operation.cancelled",
    data: { status: "cancelled" },
    now,
  });
  const reserved = legs.flatMap(
    (leg) =>
      reservationOf(operation, {
        ...leg,
        sponsorReservedWei: toBigIntOrNull(leg.sponsorReservedWei),
      }) ?? [],
  );
  await sponsorship.settle(
    tx,
    reserved.map((each) => ({ ...each, spentWei: 0n })),
  );
  await recordAudit(tx, {
    ...doneBy(actor),
    action: "operation.cancelled",
    subject: operationId,
    at: now,
  });
  const subject = { type: "operation", id: operationId };
  await cancelDecision(sqlOf(tx), { projectId, subject, at: now });
  return true;
};

const expire = (
  database: Database,
  { projectId, id: operationId }: OperationKey,
  now: Date,
): Promise<boolean> =>
  database.transaction(async (tx) => {
    const { count } = await tx.operation.updateMany({
      where: {
        projectId,
        id: operationId,
        status: "pending",
        subStatus: "awaiting_approval",
        expiresAt: { lte: now },
      },
      data: { status: "expired", version: { increment: 1 }, updatedAt: now },
    });
    if (count === 0) return false;
    await freeRetry(tx, { projectId, id: operationId }, now);
    await appendEvent(tx, {
      projectId,
      operationId,
      type: "operation.expired",
      data: { status: "expired" },
      now,
    });
    return true;
  });

export type WaitingRepository = ReturnType<typeof createWaitingRepository>;

/** An operation without legs, driven by another module: its row, its events and its job. */
export interface LeglessOperation {
  readonly id: string;
  readonly projectId: string;
  readonly kind: string;
  readonly queue: string;
  readonly request: RouteRequest;
  readonly expectedBase: bigint;
  readonly minimumBase: bigint;
  readonly searchTerms: readonly string[];
  readonly createdBy: string;
  readonly approvalUntil: Date | null;
  readonly retryOf: string | null;
  readonly audit: Omit<AuditEntry, "subject" | "at">;
}

/**
 * Stores an operation without legs, with its first event and audit entry, in the caller's
 * transaction. An operation that needs no approval also gets its job.
 * @throws DomainError `invalid_state` when another operation retries `retryOf` already
 */
export const insertLegless = async (
  tx: Tx,
  input: LeglessOperation,
  /** The policies' evaluation; null while the operation awaits approval. */
  evaluationId: string | null,
  now: Date,
): Promise<void> => {
  const runs = input.approvalUntil === null;
  const subStatus: SubStatus = runs ? "prepared" : "awaiting_approval";
  const { retryOf } = input;
  if (
    retryOf !== null &&
    !(await claimRetry(sqlOf(tx), {
      projectId: input.projectId,
      of: retryOf,
      by: input.id,
      now,
    }))
  )
    throw retriedMeanwhile();
  await insertOperation(
    sqlOf(tx),
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

/** Starts an operation that awaits approval. Returns false when it no longer awaits approval. */
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
    where: {
      projectId,
      id: operationId,
      status: "pending",
      subStatus: "awaiting_approval",
      expiresAt: { gt: now },
    },
    data: {
      subStatus: "prepared",
      acceptedAt: now,
      expiresAt: null,
      version: { increment: 1 },
      updatedAt: now,
    },
  });
  if (count === 0) return false;
  await tx.operation.updateMany({
    where: { projectId, id: operationId },
    data: { evaluationId: await enforce() },
  });
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

/** Moves the operation to a new state, if its state is one of `from`. Returns false otherwise. */
export const moveLegless = async (tx: Tx, move: LeglessMove, now: Date): Promise<boolean> => {
  const { projectId, operationId, to } = move;
  const before = await lockOperation(tx, { projectId, id: operationId });
  const isExpected = move.from.some(
    ({ status, subStatus }) => status === before.status && subStatus === before.subStatus,
  );
  if (!isExpected) return false;
  if (before.status !== to.status && !mayMove(before.status, to.status))
    throw new Error(`An operation may not go from ${before.status} to ${to.status}.`);
  const row = await tx.operation.findFirstOrThrow({
    where: { projectId, id: operationId },
    select: { quoted: true },
  });
  await tx.operation.updateMany({
    where: { projectId, id: operationId },
    data: {
      ...to,
      version: { increment: 1 },
      updatedAt: now,
      ...(move.failure === undefined ? {} : { failure: toStored(move.failure) }),
      ...(move.actual === undefined
        ? {}
        : { quoted: toStored({ ...storedQuoted.parse(row.quoted), ...move.actual }) }),
    },
  });
  const data = { ...to, ...(move.failure === undefined ? {} : { code: move.failure.code }) };
  await appendEvent(tx, { projectId, operationId, type: move.event, data, now });
  return true;
};

/** Cancels a pending operation. Returns false when the operation has begun. */
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
  await appendEvent(tx, {
    projectId,
    operationId,
    type: "operation.cancelled",
    data: { status: "cancelled" },
    now,
  });
  return true;
};
