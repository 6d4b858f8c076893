import { createBatcher } from "@/lib/core/batch";
import type { Database, Tx } from "@/lib/db/client";
import { keptSqlOn, sqlOf } from "@/lib/db/sql";
import { changeTogether, type StatementPart } from "@/lib/db/together";
import { auditEntryParts, type AuditEntry } from "@/lib/modules/audit/service";
import { announceJob, jobPart } from "@/lib/modules/jobs/service";
import { holdsPart, requireFunds, type Funds, type Hold } from "@/lib/modules/holds/service";
import { eventsPart } from "@/lib/modules/events/service";
import type { Backing } from "@/lib/modules/reserves/service";
import type { GasCost, SponsorshipService } from "@/lib/modules/sponsorship/service";
import { PoliciesChangedError, type Passed } from "@/lib/modules/policies/service";
import { toStored } from "@/lib/ports/routing-json";
import { parametersDigest } from "./parameters";
import { announceEvents, appendEvent } from "./event-repository";
import type { Leg } from "./leg";
import type { Operation } from "./operation";
import { isPrivateKind } from "./private-kinds";
import { projectEventsOf } from "./project-events";
import { columnOf, findOperations, legsPart } from "./row-repository";
import { readAsMuchAsPossible, readOperation } from "./readable";
import { lockOperation, settleOperation } from "./state-repository";
import { claimTransactions, type SentByWallet } from "./wallet-transaction-repository";

/** Evaluates the policies for an operation with these parameters. */
export type Enforce = (tx: Tx, operation: { readonly id: string; readonly digest: Uint8Array }) => Promise<Passed>;

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

const QUEUE = "operation";
/** Maximum number of operations that one statement reads. */
const READS_MAX = 100;

export const OPERATION_INCLUDE = { legs: { orderBy: { position: "asc" } } } as const;

export const OPERATION_COLUMNS = `id, project_id, kind, status, sub_status, request, quoted, minimum_base, created_by, search_terms, retry_of,
  accepted_at, created_at, updated_at, expires_at, evaluation_id`;
const INSERT_OPERATION = `
  INSERT INTO operation (${OPERATION_COLUMNS})
  SELECT ${OPERATION_COLUMNS} FROM jsonb_populate_record(NULL::operation, $1::jsonb)`;

const operationPart = (operation: NewOperationRow, evaluationId: string | null): StatementPart => {
  const columns = Object.entries({ ...operation, evaluationId }).map(([field, value]) => [
    columnOf(field),
    value as unknown,
  ]);
  return { text: INSERT_OPERATION, values: [JSON.stringify(toStored(Object.fromEntries(columns)))] };
};

/** Stores the row of an operation alone, in the transaction that stores whatever else belongs to it. */
export const insertOperation = async (
  tx: Tx,
  operation: NewOperationRow,
  evaluationId: string | null,
): Promise<void> => {
  const { text, values } = operationPart(operation, evaluationId);
  await sqlOf(tx).change(text, values);
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

    /** As `findInProject`, for its page alone: also an operation whose own columns cannot be read. */
    findToShow: async (projectId: string, id: string): Promise<Operation | null> => {
      const row = await database.prisma.operation.findFirst({ where: { id, projectId }, include: OPERATION_INCLUDE });
      return row === null ? null : readAsMuchAsPossible(row);
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
        const passed = await enforce(tx, { id, digest: parametersDigest(input.operation, input.legs) });
        const { evaluationId } = passed;
        if (input.awaited) await tx.operation.update({ where: { id }, data: { evaluationId } });
        await backing?.lock(tx, funds);
        await requireFunds(tx, { holds: input.holds, funds, now });
        const parts = [...passed.parts, ...rowsOf(input, evaluationId, now)];
        if (!(await changeTogether(sqlOf(tx), parts, passed.condition))) throw new PoliciesChangedError();
        announceJob(tx, QUEUE);
        await claimTransactions(tx, input.sentByWallets);
        await backing?.check(tx);
        await noteAccepted(tx, input, now);
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

const INSERT_EVENT = `
  INSERT INTO operation_event (operation_id, seq, type, data, created_at)
  VALUES ($1, 1, $2, $3::jsonb, $4::timestamptz)`;

const createdData = ({ status, subStatus }: NewOperationRow) => ({ status, subStatus });

/** Whether all that is told of the acceptance is known before it is stored. */
const isPlain = ({ operation, awaited }: NewOperation): boolean => !awaited && !isPrivateKind(operation.kind);

/** The first event of an operation, and the project's. */
const firstEvents = ({ operation, transferId }: NewOperation, now: Date): StatementPart[] => {
  const type = "operation.created";
  const data = JSON.stringify(createdData(operation));
  const known = { ...operation, failure: null, quotedId: transferId, privateId: null };
  return [
    { text: INSERT_EVENT, values: [operation.id, type, data, now.toISOString()] },
    eventsPart(projectEventsOf(known, { type, now })),
  ];
};

/** Whatever is stored with an operation that is accepted, for one statement. */
const rowsOf = (input: NewOperation, evaluationId: string, now: Date): StatementPart[] => {
  const { operation, legs, holds, awaited, audit } = input;
  const { id: operationId, projectId } = operation;
  return [
    ...(awaited ? [] : [operationPart(operation, evaluationId)]),
    legsPart(legs),
    ...(holds.length === 0 ? [] : [holdsPart({ operationId, projectId, holds, now })]),
    ...(isPlain(input) ? firstEvents(input, now) : []),
    ...auditEntryParts(audit),
    jobPart({ id: operationId, queue: QUEUE, runAt: now }),
  ];
};

const noteAccepted = async (tx: Tx, input: NewOperation, now: Date): Promise<void> => {
  const { operation, awaited } = input;
  if (isPlain(input)) {
    announceEvents(tx, operation.id);
    return;
  }
  const type = awaited ? "operation.approved" : "operation.created";
  const data = { ...createdData(operation), ...(awaited ? { by: operation.createdBy } : {}) };
  await appendEvent(tx, { operationId: operation.id, type, data, now });
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
