import type { Actor } from "@/lib/core/actor";
import type { Database, Tx } from "@/lib/db/client";
import { sqlOf } from "@/lib/db/sql";
import { doneBy, recordAudit, type AuditEntry } from "@/lib/modules/audit/service";
import { cancelDecision } from "@/lib/modules/decisions/service";
import { fundsNameOf, syncHold } from "@/lib/modules/holds/service";
import type { SponsorshipService } from "@/lib/modules/sponsorship/service";
import { toBigIntOrNull } from "@/lib/db/decimal";
import { toStored } from "@/lib/ports/routing-json";
import { appendEvent } from "./event-repository";
import type { Failure } from "./leg";
import { reservationOf } from "./leg-reservations";
import { insertOperation, type NewOperationRow } from "./accept-repository";
import { freeRetry } from "./retry-repository";
import { lockOperation, type OperationKey } from "./state-repository";
import { LEG_CHANGES, subStatusesBefore } from "./status-changes";

/** Operations that have not begun: those that await approval, are cancelled, or expire. */
export const createWaitingRepository = (database: Database, sponsorship: Pick<SponsorshipService, "settle">) => ({
  /** Stores an operation that awaits approval, and marks its origin as used. It has no legs and holds no money yet. */
  insertAwaiting: (operation: NewOperationRow, claim: (tx: Tx) => Promise<void>, now: Date): Promise<void> =>
    database.transaction(async (tx) => {
      await insertOperation(tx, operation, null);
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

  /** Awaiting approval → cancelled or expired. Nothing happens when it does not await approval any more. */
  endAwaiting: (
    { projectId, id: operationId }: OperationKey,
    { status, failure }: { status: "cancelled" | "expired"; failure: Failure | null },
    audit: AuditEntry,
  ): Promise<void> =>
    database.transaction(async (tx) => {
      const { at: now } = audit;
      const { count } = await tx.operation.updateMany({
        where: { projectId, id: operationId, status: "pending", subStatus: "awaiting_approval" },
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
      await appendEvent(tx, { projectId, operationId, type: `operation.${status}`, data: { status }, now });
      await recordAudit(tx, audit);
    }),

  /**
   * pending → expired for operations whose time for approval has ended.
   * @returns how many
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
 * pending → cancelled, before anything was sent: ends its legs, and releases their holds and budgets. False when it
 * has begun, or a wallet has already sent or signed for it.
 */
const cancelWaiting = async (
  tx: Tx,
  sponsorship: Pick<SponsorshipService, "settle">,
  of: OperationKey,
  { actor, now }: { readonly actor: Actor; readonly now: Date },
): Promise<boolean> => {
  const { projectId, id: operationId } = of;
  const operation = await lockOperation(tx, of);
  // Legs move only under this lock.
  const begun = await tx.operationLeg.count({ where: { projectId, operationId, state: { not: "queued" } } });
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
  // Locked in the same order as everywhere else, to avoid deadlocks.
  const holds = await tx.balanceHold.findMany({ where: { id: { in: legs.map(({ id }) => id) } } });
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
    (leg) => reservationOf(operation, { ...leg, sponsorReservedWei: toBigIntOrNull(leg.sponsorReservedWei) }) ?? [],
  );
  await sponsorship.settle(
    tx,
    reserved.map((each) => ({ ...each, spentWei: 0n })),
  );
  await recordAudit(tx, { ...doneBy(actor), action: "operation.cancelled", subject: operationId, at: now });
  const subject = { type: "operation", id: operationId };
  await cancelDecision(sqlOf(tx), { projectId, subject, at: now });
  return true;
};

const expire = (database: Database, { projectId, id: operationId }: OperationKey, now: Date): Promise<boolean> =>
  database.transaction(async (tx) => {
    const { count } = await tx.operation.updateMany({
      where: { projectId, id: operationId, status: "pending", subStatus: "awaiting_approval", expiresAt: { lte: now } },
      data: { status: "expired", version: { increment: 1 }, updatedAt: now },
    });
    if (count === 0) return false;
    await freeRetry(tx, { projectId, id: operationId }, now);
    await appendEvent(tx, { projectId, operationId, type: "operation.expired", data: { status: "expired" }, now });
    return true;
  });

export type WaitingRepository = ReturnType<typeof createWaitingRepository>;
