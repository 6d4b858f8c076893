/** Accepts operations: an operation's quote, holds, legs and job change in one transaction. */
import type { Database, Tx } from "@/lib/db/client";
import { keptSqlOn, sqlOf, type Sql } from "@/lib/db/sql";
import { changeAndJudge, changeTogether, type JudgedPart, type StatementPart } from "@/lib/db/together";
import { auditEntryParts, type AuditEntry } from "@/lib/modules/audit/service";
import { currentTraceparent } from "@/lib/core/tracing";
import { announceJob, jobPart, type Handover, type JobOwner } from "@/lib/modules/jobs/service";
import { fundsParts, holdsPart, requireFunds, type Funds, type Hold } from "@/lib/modules/holds/service";
import { announceOutbox, eventsPart } from "@/lib/modules/events/service";
import { checkBacking, type Backing } from "@/lib/modules/reserves/service";
import type { GasCost, SponsorshipService } from "@/lib/modules/sponsorship/service";
import { conditionParts, PoliciesChangedError, type Passed } from "@/lib/modules/policies/service";
import { storedText, toStored } from "@/lib/ports/routing-json";
import { parametersDigest } from "./parameters";
import { announceEvents, appendEvent } from "./event-repository";
import type { Leg } from "./leg";
import type { Operation } from "./operation";
import { isPrivateKind } from "./private-kinds";
import { projectEventsOf } from "./project-events";
import { columnOf, legsPart } from "./row-repository";
import { claimTransactions, type SentByWallet } from "./wallet-transaction-repository";
import { UsedMeanwhileError } from "./errors";

/** Evaluates the policies for an operation with these parameters. */
export type Enforce = (sql: Sql, operation: { readonly id: string; readonly digest: Uint8Array }) => Promise<Passed>;

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
  /** The most that the project's sponsor pays for each leg. */
  readonly costs: readonly GasCost[];
  readonly sentByWallets: readonly SentByWallet[];
  readonly audit: AuditEntry;
}

const QUEUE = "operation";

/** Marks the source of an operation, such as its quote, as used, in the transaction that accepts it. */
export type Claim =
  /** False when it was used already. */
  | ((tx: Tx) => Promise<boolean>)
  /** The same as parts of a statement, whose judgements throw UsedMeanwhileError. */
  | readonly JudgedPart[];

interface Steps {
  readonly claim: Claim;
  readonly enforce: Enforce;
  /** Whether `enforce` takes no lock. */
  readonly isFree: boolean;
}

interface Money {
  readonly funds: readonly Funds[];
  readonly backing: Backing | null;
}

type Sponsorship = Pick<SponsorshipService, "reserve" | "reservationParts">;

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
  return { text: INSERT_OPERATION, values: [storedText(Object.fromEntries(columns))] };
};

/** Stores the row of an operation alone; the caller stores its other rows in the same transaction. */
export const insertOperation = async (
  tx: Tx,
  operation: NewOperationRow,
  evaluationId: string | null,
): Promise<void> => {
  const { text, values } = operationPart(operation, evaluationId);
  await sqlOf(tx).change(text, values);
};

const INSERT_EVENT = `
  INSERT INTO operation_event (project_id, operation_id, seq, type, data, created_at)
  VALUES ($1, $2, 1, $3, $4::jsonb, $5::timestamptz)`;

const createdData = ({ status, subStatus }: NewOperationRow) => ({ status, subStatus });

/** Whether all fields of the acceptance's events are known before it is stored. */
const isPlain = ({ operation, awaited }: NewOperation): boolean => !awaited && !isPrivateKind(operation.kind);

/** The first event of an operation, and the project's. */
const firstEvents = ({ operation, transferId }: NewOperation, now: Date): StatementPart[] => {
  const type = "operation.created";
  const data = JSON.stringify(createdData(operation));
  const known = { ...operation, failure: null, quotedId: transferId, privateId: null };
  return [
    { text: INSERT_EVENT, values: [operation.projectId, operation.id, type, data, now.toISOString()] },
    eventsPart(projectEventsOf(known, { type, now })),
  ];
};

/** All rows of an operation that is accepted, for one statement. */
const rowsOf = (
  input: NewOperation,
  evaluationId: string,
  { now, owner = null }: { readonly now: Date; readonly owner?: JobOwner | null },
): StatementPart[] => {
  const { operation, legs, holds, awaited, audit } = input;
  const { id: operationId, projectId } = operation;
  return [
    ...(awaited ? [] : [operationPart(operation, evaluationId)]),
    legsPart(legs),
    ...(holds.length === 0 ? [] : [holdsPart({ operationId, projectId, holds, now })]),
    ...(isPlain(input) ? firstEvents(input, now) : []),
    ...auditEntryParts(audit),
    jobPart({ id: operationId, queue: QUEUE, runAt: now }, owner),
  ];
};

const noteAccepted = async (tx: Tx, input: NewOperation, now: Date): Promise<void> => {
  const { operation, awaited } = input;
  if (isPlain(input)) {
    announceEvents(tx, operation.id);
    announceOutbox(tx);
    return;
  }
  const type = awaited ? "operation.approved" : "operation.created";
  const data = { ...createdData(operation), ...(awaited ? { by: operation.createdBy } : {}) };
  await appendEvent(tx, { projectId: operation.projectId, operationId: operation.id, type, data, now });
};

/** From awaiting approval to prepared, with the price at which it was let run. False when it was cancelled, let run or expired meanwhile. */
const leaveApproval = async (
  tx: Tx,
  { id, projectId, subStatus, quoted, acceptedAt }: NewOperationRow,
  now: Date,
): Promise<boolean> => {
  const { count } = await tx.operation.updateMany({
    where: { projectId, id, status: "pending", subStatus: "awaiting_approval", expiresAt: { gt: now } },
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

const acceptBy = async (
  tx: Tx,
  sponsorship: Sponsorship,
  input: NewOperation,
  { funds, backing, claim, enforce, now }: Money & { claim: (tx: Tx) => Promise<boolean>; enforce: Enforce; now: Date },
): Promise<string | null> => {
  if (!(await claim(tx))) return null;
  const sql = sqlOf(tx);
  const { id, projectId, kind } = input.operation;
  if (input.awaited && !(await leaveApproval(tx, input.operation, now))) return null;
  const passed = await enforce(sql, { id, digest: parametersDigest(input.operation, input.legs) });
  const { evaluationId } = passed;
  if (input.awaited) await tx.operation.updateMany({ where: { projectId, id }, data: { evaluationId } });
  await backing?.lock(sql, funds);
  await requireFunds(sql, { holds: input.holds, funds, now });
  const parts = [...passed.parts, ...rowsOf(input, evaluationId, { now })];
  if (!(await changeTogether(sql, parts, passed.condition))) throw new PoliciesChangedError();
  announceJob(tx, QUEUE);
  await claimTransactions(sql, input.sentByWallets);
  await checkBacking(sql, backing);
  await noteAccepted(tx, input, now);
  // Last, because all who spend of the project's budget wait for each other from here on.
  await sponsorship.reserve(sql, { projectId, kind, costs: input.costs }, now);
  return evaluationId;
};

/**
 * As `acceptBy`, with two statements between BEGIN and COMMIT where the project has no policy: the first uses up what the operation came
 * from and locks the balances, the second sees what was committed while the first one waited, decides, and stores.
 */
const acceptByParts = async (
  sql: Sql,
  sponsorship: Sponsorship,
  input: NewOperation,
  how: Money & Steps & { claim: readonly JudgedPart[]; now: Date; owner: JobOwner | null },
): Promise<string> => {
  const { funds, backing, claim, enforce, isFree, now, owner } = how;
  const { id, projectId, kind } = input.operation;
  const evaluate = () => enforce(sql, { id, digest: parametersDigest(input.operation, input.legs) });
  const { locks, sums } = fundsParts({ holds: input.holds, funds, now });
  // Every transaction takes its locks in this order: caps of keys, caps of policies, balances, the sponsor's budget.
  const early = isFree ? await evaluate() : null;
  const isLockedFirst = early !== null && backing?.locks !== true;
  await changeAndJudge(sql, isLockedFirst ? [...claim, ...locks] : claim);
  const passed = early ?? (await evaluate());
  if (!isLockedFirst) {
    await backing?.lock(sql, funds);
    await changeAndJudge(sql, locks);
  }
  let owed: readonly bigint[] = [];
  const keep = (liabilitiesBase: readonly bigint[]): void => {
    owed = liabilitiesBase;
  };
  await changeAndJudge(sql, [
    ...sums,
    ...(backing === null ? [] : [backing.liabilities(keep)]),
    ...conditionParts(passed.condition),
    ...sponsorship.reservationParts(sql, { projectId, kind, costs: input.costs }, now),
    ...passed.parts,
    ...rowsOf(input, passed.evaluationId, { now, owner }),
  ]);
  if (owner === null) announceJob(sql, QUEUE);
  announceEvents(sql, id);
  announceOutbox(sql);
  await claimTransactions(sql, input.sentByWallets);
  await backing?.check(sql, owed);
  return passed.evaluationId;
};

export const createAccepting = (
  database: Database,
  sponsorship: Sponsorship,
  handover: Pick<Handover, "take"> = { take: () => null },
) => ({
  /**
   * Accepts an operation, in one transaction with the quote or request that it uses up. Nothing happens where `claim` says
   * that this was used already, or where an operation that awaited approval awaits it no more.
   * @returns the id of its evaluation; null when nothing happened
   * @throws FundsMovedError when a balance has to be read again; DomainError `insufficient_balance`, `sponsor_budget_exceeded`,
   * `invalid_signature` for a wallet's transaction that another operation named
   */
  accept: async (
    input: NewOperation,
    money: Money,
    { claim, enforce, isFree = false }: Omit<Steps, "isFree"> & Partial<Steps>,
    now: Date,
  ): Promise<string | null> => {
    if (typeof claim === "function")
      return database.transaction((tx) => acceptBy(tx, sponsorship, input, { ...money, claim, enforce, now }));
    if (!isPlain(input))
      throw new Error("An operation that awaited approval, or is private, is accepted by a function.");
    const owner = handover.take();
    try {
      const evaluationId = await database.rawTransaction(
        (sql) => acceptByParts(sql, sponsorship, input, { ...money, claim, enforce, isFree, now, owner }),
        keptSqlOn,
      );
      owner?.run({ id: input.operation.id, queue: QUEUE, traceparent: currentTraceparent(), failures: 0 });
      return evaluationId;
    } catch (error) {
      // Where the answer to COMMIT was lost, the job may be stored; then it is claimed when its lease is over.
      owner?.leave();
      if (error instanceof UsedMeanwhileError) return null;
      throw error;
    }
  },
});
