import { createBatcher } from "@/lib/core/batch";
import type { Database, Tx } from "@/lib/db/client";
import { toDecimal } from "@/lib/db/decimal";
import { keptSqlOn } from "@/lib/db/sql";
import { recordAudit, type AuditEntry } from "@/lib/modules/audit/service";
import { insertJob } from "@/lib/modules/jobs/service";
import { reserveFunds, type Funds, type Hold } from "@/lib/modules/holds/service";
import { recordEvents } from "@/lib/modules/events/service";
import type { Backing } from "@/lib/modules/reserves/service";
import type { GasCost, SponsorshipService } from "@/lib/modules/sponsorship/service";
import { toStored } from "@/lib/ports/routing-json";
import { parametersDigest } from "./parameters";
import { announceEvents, appendEvent } from "./event-repository";
import type { Leg } from "./leg";
import { insertLegs } from "./leg-repository";
import type { Operation } from "./operation";
import { isPrivateKind } from "./private-kinds";
import { projectEventsOf } from "./project-events";
import { findOperations } from "./raw-rows";
import { readOperation } from "./readable";
import { lockOperation, settleOperation } from "./state-repository";
import { claimTransactions, type SentByWallet } from "./wallet-transaction-repository";

/** Evaluates the policies for an operation with these parameters. */
export type Enforce = (tx: Tx, operation: { readonly id: string; readonly digest: Uint8Array }) => Promise<string>;

/** An operation as it is stored first. */
export interface NewOperationRow extends Omit<
  Operation,
  "legs" | "failure" | "retriedBy" | "gasWaits" | "evaluationId"
> {
  /** By what the activity list finds it, in lower case. */
  readonly searchTerms: readonly string[];
}

export interface NewOperation {
  readonly operation: NewOperationRow;
  /** Whether it is stored already and awaits approval; then it is moved on instead of inserted. */
  readonly awaited: boolean;
  /** The quoted transfer that it carries out, if any. */
  readonly transferId: string | null;
  readonly legs: readonly Leg[];
  readonly holds: readonly Hold[];
  /** What the project's sponsor pays for its legs at most. */
  readonly costs: readonly GasCost[];
  readonly sentByWallets: readonly SentByWallet[];
  readonly audit: AuditEntry;
}

/** Maximum number of operations that one statement reads. */
const READS_MAX = 100;

export const OPERATION_INCLUDE = { legs: { orderBy: { position: "asc" } } } as const;

/** Stores the row of an operation alone, in the transaction that stores whatever else belongs to it. */
export const insertOperation = async (
  tx: Tx,
  operation: NewOperationRow,
  evaluationId: string | null,
): Promise<void> => {
  const { request, quoted, minimumBase, searchTerms, ...plain } = operation;
  await tx.operation.create({
    data: {
      ...plain,
      evaluationId,
      request: toStored(request),
      quoted: toStored(quoted),
      minimumBase: toDecimal(minimumBase),
      searchTerms: [...searchTerms],
    },
  });
};

export const createOperationsRepository = (database: Database, sponsorship: Pick<SponsorshipService, "reserve">) => {
  const reads = createBatcher({
    run: async (ids: readonly string[]) => {
      const found = await findOperations(keptSqlOn(database.pool), ids);
      return ids.map((id) => {
        const operation = found.get(id) ?? null;
        return operation instanceof Error ? operation : { operation };
      });
    },
    batchWeightMax: READS_MAX,
    lanes: 2,
  });
  const find = async (id: string): Promise<Operation | null> => (await reads.submit(id)).operation;

  return {
    /**
     * To carry it on. Operations that are asked for at the same time are read in one statement.
     * @throws ZodError when a stored column does not have the shape that this version writes
     */
    find,

    /** To show it; a leg that cannot be read hides nothing else. */
    findInProject: async (projectId: string, id: string): Promise<Operation | null> => {
      const row = await database.prisma.operation.findFirst({ where: { id, projectId }, include: OPERATION_INCLUDE });
      return row === null ? null : readOperation(row);
    },

    /**
     * Accepts an operation, in one transaction with whatever it uses up: `claim` returns false when that was used already,
     * and nothing happens; as it does when an operation that awaited approval awaits it no more.
     * @returns the id of its evaluation; null when nothing happened
     * @throws FundsMovedError when a balance has to be read again; DomainError `insufficient_balance`, `sponsor_budget_exceeded`,
     * `invalid_signature` for a wallet's transaction that another operation named
     */
    accept: (
      input: NewOperation,
      { funds, backing }: { funds: readonly Funds[]; backing: Backing | null },
      { claim, enforce }: { claim: (tx: Tx) => Promise<boolean>; enforce: Enforce },
      now: Date,
    ): Promise<string | null> =>
      database.transaction(async (tx) => {
        if (!(await claim(tx))) return null;
        const { id } = input.operation;
        if (input.awaited && !(await leaveApproval(tx, input.operation, now))) return null;
        const evaluationId = await enforce(tx, { id, digest: parametersDigest(input.operation, input.legs) });
        if (input.awaited) await tx.operation.update({ where: { id }, data: { evaluationId } });
        else await insertOperation(tx, input.operation, evaluationId);
        await insertLegs(tx, input.legs);
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
        await noteAccepted(tx, input, now);
        await recordAudit(tx, input.audit);
        await insertJob(tx, { id: input.operation.id, queue: "operation", runAt: now });
        // Last, because all who spend of the project's budget wait for each other from here on.
        const { projectId, kind } = input.operation;
        await sponsorship.reserve(tx, { projectId, kind, costs: input.costs }, now);
        return evaluationId;
      }),

    /** Notes that an operation takes far longer than was estimated, once. */
    markDelayed: (operationId: string, now: Date): Promise<void> =>
      database.transaction(async (tx) => {
        const operation = await lockOperation(tx, operationId);
        if (operation.status === "processing" && operation.subStatus !== "delayed")
          await settleOperation(tx, operation, now, true);
      }),
  };
};

const noteAccepted = async (tx: Tx, { operation, awaited, transferId }: NewOperation, now: Date): Promise<void> => {
  const { id, status, subStatus } = operation;
  const type = awaited ? "operation.approved" : "operation.created";
  const data = { status, subStatus, ...(awaited ? { by: operation.createdBy } : {}) };
  if (awaited || isPrivateKind(operation.kind)) {
    await appendEvent(tx, { operationId: id, type, data, now });
    return;
  }
  // Its first event, and all that the project is told of it is known here.
  await tx.operationEvent.createMany({ data: [{ operationId: id, seq: 1, type, data, createdAt: now }] });
  announceEvents(tx, id);
  const known = { ...operation, failure: null, quotedId: transferId, privateId: null };
  await recordEvents(tx, projectEventsOf(known, { type, now }));
};

/** From awaiting approval to prepared, with the price at which it was let run. False when it was cancelled, let run or expired meanwhile. */
const leaveApproval = async (
  tx: Tx,
  { id, subStatus, quoted, acceptedAt }: NewOperationRow,
  now: Date,
): Promise<boolean> => {
  const { count } = await tx.operation.updateMany({
    where: { id, status: "pending", subStatus: "awaiting_approval", expiresAt: { gt: now } },
    data: {
      subStatus,
      quoted: toStored(quoted),
      acceptedAt,
      expiresAt: null,
      version: { increment: 1 },
      updatedAt: now,
    },
  });
  return count === 1;
};

export type OperationsRepository = ReturnType<typeof createOperationsRepository>;
