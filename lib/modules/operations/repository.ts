import { currentTraceparent } from "@/lib/core/tracing";
import { mayMove, type Status, type SubStatus } from "@/lib/core/status";
import type { Database, Tx } from "@/lib/db/client";
import { Prisma, type Operation, type OperationLeg } from "@/lib/db/generated/client";
import { recordAudit, type AuditEntry } from "@/lib/modules/audit/service";
import { reserveFunds, syncHold, type Funds, type Hold } from "@/lib/modules/holds/service";
import type { Backing } from "@/lib/modules/reserves/service";
import type { GasCost, SponsorshipService } from "@/lib/modules/sponsorship/service";
import { toStored } from "@/lib/ports/routing-json";
import {
  claimTransactions,
  createWalletTransactionRepository,
  type SentByWallet,
} from "./wallet-transaction-repository";
import { moveReservation } from "./leg-reservations";
import { recordOperationEvents } from "./project-events";
import { isLegFinal, LEG_TRANSITIONS, summarizeLegs, type LegState } from "./summary";

export type OperationRow = Operation & { status: Status; subStatus: SubStatus };
export type LegRow = OperationLeg & { state: LegState };
export type OperationWithLegs = OperationRow & { legs: LegRow[] };

export interface NewOperation {
  readonly operation: Prisma.OperationUncheckedCreateInput;
  /** Whether it is there already and awaits approval; then it is moved on instead of made. */
  readonly awaited: boolean;
  readonly legs: readonly Prisma.OperationLegUncheckedCreateInput[];
  readonly holds: readonly Hold[];
  /** What the project's sponsor pays for its legs at most. */
  readonly costs: readonly GasCost[];
  readonly sentByWallets: readonly SentByWallet[];
  readonly audit: AuditEntry;
}

export type LegChange = Omit<
  Prisma.OperationLegUncheckedUpdateInput,
  "id" | "operationId" | "version" | "state" | "updatedAt"
>;

export interface LegMove {
  readonly leg: LegRow;
  readonly to: LegState;
  readonly change?: LegChange;
  /** What the signed operation costs the sponsor at most, in wei; by default what is set aside for it. */
  readonly maxGasWei?: bigint;
  readonly event: { readonly type: string; readonly data?: Record<string, unknown> };
  readonly now: Date;
}

/** Empties a JSON column. */
export const NO_JSON = Prisma.DbNull;

export const OPERATION_INCLUDE = { legs: { orderBy: { position: "asc" } } } as const;

/** The columns' CHECKs say which texts there are. */
export const asOperation = (row: Operation & { legs: OperationLeg[] }): OperationWithLegs => row as OperationWithLegs;

type LockedOperation = Pick<Operation, "id" | "projectId" | "kind" | "status" | "subStatus">;

export const lockOperation = async (tx: Tx, operationId: string): Promise<LockedOperation> => {
  const [row] = await tx.$queryRaw<LockedOperation[]>`
    SELECT id, project_id AS "projectId", kind, status, sub_status AS "subStatus" FROM operation WHERE id = ${operationId} FOR NO KEY UPDATE`;
  if (row === undefined) throw new Error(`There is no operation ${operationId}.`);
  return row;
};

/** Also an event of the project, where it is more than a step of a leg. The caller holds the lock of the operation's row, so that numbers have no gap and no double. */
export const appendEvent = async (
  tx: Tx,
  event: { operationId: string; type: string; data: unknown; now: Date },
): Promise<void> => {
  await tx.$executeRaw`
    INSERT INTO operation_event (operation_id, seq, type, data, created_at)
    SELECT ${event.operationId}, coalesce(max(seq), 0) + 1, ${event.type}, ${JSON.stringify(toStored(event.data))}::jsonb,
      ${event.now}
    FROM operation_event WHERE operation_id = ${event.operationId}`;
  await recordOperationEvents(tx, event);
};

export const createOperationsRepository = (
  database: Database,
  sponsorship: Pick<SponsorshipService, "reserve" | "adjust" | "settle">,
) => {
  const find = async (id: string): Promise<OperationWithLegs | null> => {
    const row = await database.prisma.operation.findUnique({ where: { id }, include: OPERATION_INCLUDE });
    return row === null ? null : asOperation(row);
  };

  return {
    find,

    findInProject: async (projectId: string, id: string): Promise<OperationWithLegs | null> => {
      const row = await database.prisma.operation.findFirst({ where: { id, projectId }, include: OPERATION_INCLUDE });
      return row === null ? null : asOperation(row);
    },

    /**
     * Accepts an operation, in one transaction with whatever it uses up: `claim` returns false when that was used already,
     * and nothing happens; as it does when an operation that awaited approval awaits it no more.
     * @throws FundsMovedError when a balance has to be read again; DomainError `insufficient_balance`, `sponsor_budget_exceeded`,
     * `invalid_signature` for a wallet's transaction that another operation named
     */
    accept: (
      input: NewOperation,
      { funds, backing }: { funds: readonly Funds[]; backing: Backing | null },
      claim: (tx: Tx) => Promise<boolean>,
      now: Date,
    ): Promise<boolean> =>
      database.transaction(async (tx) => {
        if (!(await claim(tx))) return false;
        if (!input.awaited) await tx.operation.create({ data: input.operation });
        else if (!(await leaveApproval(tx, input.operation, now))) return false;
        await tx.operationLeg.createMany({ data: [...input.legs] });
        await claimTransactions(tx, input.sentByWallets);
        await backing?.lock(tx, funds);
        await reserveFunds(tx, {
          operationId: input.operation.id,
          projectId: input.operation.projectId,
          holds: input.holds,
          funds,
          now,
        });
        await backing?.check(tx);
        await appendEvent(tx, {
          operationId: input.operation.id,
          type: input.awaited ? "operation.approved" : "operation.created",
          data: {
            status: input.operation.status,
            subStatus: input.operation.subStatus,
            ...(input.awaited ? { by: input.operation.createdBy } : {}),
          },
          now,
        });
        await recordAudit(tx, input.audit);
        await tx.job.create({
          data: { id: input.operation.id, queue: "operation", runAt: now, traceparent: currentTraceparent() },
        });
        // Last, because all who spend of the project's budget wait for each other from here on.
        const { projectId, kind } = input.operation;
        await sponsorship.reserve(tx, { projectId, kind, costs: input.costs }, now);
        return true;
      }),

    /** pending → processing. False when it is no longer pending, or awaits approval. */
    begin: (operationId: string, now: Date): Promise<boolean> =>
      database.transaction(async (tx) => {
        const legs = await tx.operationLeg.findMany({ where: { operationId }, select: { state: true } });
        // What wallets of one's own signed or sent is under way already.
        const { subStatus } = summarizeLegs(legs.map(({ state }) => state as LegState));
        const { count } = await tx.operation.updateMany({
          where: { id: operationId, status: "pending", subStatus: "prepared" },
          data: { status: "processing", subStatus, version: { increment: 1 }, updatedAt: now },
        });
        if (count === 0) return false;
        await appendEvent(tx, { operationId, type: "operation.processing", data: { subStatus }, now });
        return true;
      }),

    /**
     * Moves a leg on, and the operation with it: state, holds, the sponsor's budget and events change together or not at all. False
     * when somebody else moved the leg since it was read.
     * @throws DomainError `sponsor_budget_exceeded` when the budget does not carry `maxGasWei`
     */
    moveLeg: (move: LegMove): Promise<boolean> =>
      database.transaction(async (tx) => {
        const { leg, to, now } = move;
        if (!(LEG_TRANSITIONS[leg.state] as readonly LegState[]).includes(to)) {
          throw new Error(`A leg may not go from ${leg.state} to ${to}.`);
        }
        const operation = await lockOperation(tx, leg.operationId);
        const { count } = await tx.operationLeg.updateMany({
          where: { id: leg.id, version: leg.version, state: leg.state },
          data: { ...move.change, state: to, version: { increment: 1 }, updatedAt: now },
        });
        if (count === 0) return false;
        await syncHold(tx, leg.id, to === "queued" || to === "submitted", now);
        await appendEvent(tx, {
          operationId: leg.operationId,
          type: move.event.type,
          data: { legId: leg.id, position: leg.position, state: to, ...move.event.data },
          now,
        });
        await settleOperation(tx, operation, now);
        await moveReservation(tx, sponsorship, { operation, move });
        return true;
      }),

    /** Changes that are no step of the machine: counts of confirmations. False when somebody else moved the leg. */
    touchLeg: async (leg: LegRow, change: LegChange, now: Date): Promise<boolean> => {
      const { count } = await database.prisma.operationLeg.updateMany({
        where: { id: leg.id, version: leg.version, state: leg.state },
        data: { ...change, version: { increment: 1 }, updatedAt: now },
      });
      return count === 1;
    },

    /** Notes that an operation takes far longer than was estimated, once. */
    markDelayed: (operationId: string, now: Date): Promise<void> =>
      database.transaction(async (tx) => {
        const operation = await lockOperation(tx, operationId);
        if (operation.status === "processing" && operation.subStatus !== "delayed")
          await settleOperation(tx, operation, now, true);
      }),

    /** Notes a transaction of a wallet that took another one's place. False when it counts for another leg already. */
    adoptTransaction: createWalletTransactionRepository(database).adopt,
  };
};

/** From awaiting approval to prepared, with the price at which it was let run. False when it was cancelled, let run or expired meanwhile. */
const leaveApproval = async (
  tx: Tx,
  { id, subStatus, quoted, acceptedAt }: Prisma.OperationUncheckedCreateInput,
  now: Date,
): Promise<boolean> => {
  const { count } = await tx.operation.updateMany({
    where: { id, status: "pending", subStatus: "awaiting_approval", expiresAt: { gt: now } },
    data: { subStatus, quoted, acceptedAt, expiresAt: null, version: { increment: 1 }, updatedAt: now },
  });
  return count === 1;
};

const settleOperation = async (tx: Tx, operation: LockedOperation, now: Date, delayed = false): Promise<void> => {
  const legs = await tx.operationLeg.findMany({
    where: { operationId: operation.id },
    orderBy: { position: "asc" },
    select: { state: true, failure: true },
  });
  const states = legs.map((leg) => leg.state as LegState);
  const wasDelayed = operation.subStatus === "delayed";
  const next = summarizeLegs(states, delayed || wasDelayed);
  if (next.status === operation.status && next.subStatus === operation.subStatus) return;
  const before = operation.status as Status;
  if (next.status !== before && !mayMove(before, next.status)) {
    throw new Error(`An operation may not go from ${before} to ${next.status}.`);
  }
  const failure = states.every(isLegFinal) ? (legs.find((leg) => leg.failure !== null)?.failure ?? null) : null;
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

export type OperationsRepository = ReturnType<typeof createOperationsRepository>;
