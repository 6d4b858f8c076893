import { z } from "zod";
import {
  eachByItself,
  oneByOneAfterRefusal,
  RefusedItemError,
} from "@/lib/platform/db/batches";
import { inOrder } from "@/lib/platform/db/in-order";
import { keptSqlOn, type Sql } from "@/lib/platform/db/sql";
import { sql } from "@/lib/platform/db/statement";
import { int, json, table, text, time } from "@/lib/platform/db/table";
import { isFinal } from "@/lib/core/status";
import { announceJob, endJobs } from "@/lib/platform/jobs/service";
import { recordEventsOn } from "@/lib/news/events/service";
import { syncHolds } from "@/lib/books/holds/service";
import type { SponsorshipService } from "@/lib/books/sponsorship/service";
import { announceEvents, type OperationKey } from "./state-repository";
import {
  claimRefunds,
  type LegWrite,
  readWorkingSets,
  releaseRefunds,
  type WorkingSet,
  writeLegs,
} from "./leg-write-repository";
import {
  type Decided,
  decideSteps,
  type LegMove,
  operationIdOf,
  type OperationStep,
  projectOf,
  type SignedAgain,
  type Stepped,
} from "./step-decision";
import { createBatcher } from "@/lib/core/batch";
import type { Database } from "@/lib/platform/db/client";
import type { Leg, LegChange } from "./leg";
import { createWalletTransactionRepository } from "./accept-repository";
import { type AuditEntry, recordAuditOn } from "@/lib/news/audit/service";

// Applies steps of operations, any number in one transaction. In a step an operation begins, or one
// of its legs moves or is signed again.

/** The new state of an operation, set by compare-and-set. */
const changedOperations = table({
  id: text,
  version: int,
  status: text,
  subStatus: text,
  failure: json(z.unknown()),
  changes: int,
  now: time,
});

const newEvents = table({
  operationId: text,
  /**
   * Sequence number, from 1, of the event within the events that the transaction adds to its
   * operation.
   */
  place: int,
  type: text,
  data: json(z.unknown()),
  now: time,
});

type Sponsorship = Pick<SponsorshipService, "changeReservations">;

/**
 * Checks that a statement has changed every row that it should. The rows were locked before the
 * statement and cannot change, so a different number is a bug.
 */
const requireCount = (changed: number, expected: number): void => {
  if (changed !== expected)
    throw new RefusedItemError("An operation or a leg was changed although it is locked.");
};

const updateOperations = async (
  db: Sql,
  projectId: string,
  workingSets: readonly WorkingSet[],
): Promise<void> => {
  const changed = workingSets.flatMap(({ row, changes, changedAt }) =>
    changedAt === null ? [] : [{ ...row, changes, now: changedAt }],
  );
  if (changed.length === 0) return;
  const count = await db.change(sql`
    UPDATE operation o SET
      status = w.status,
      sub_status = w.sub_status,
      failure = w.failure,
      version = o.version + w.changes,
      updated_at = w.now
    FROM ${changedOperations.list(changed, { isCounted: true })} AS w
    WHERE o.project_id = ${projectId} AND o.id = w.id AND o.version = w.version`);
  requireCount(count, changed.length);
};

const insertEvents = async (
  db: Sql,
  projectId: string,
  workingSets: readonly WorkingSet[],
): Promise<void> => {
  for (const { row, events } of workingSets) if (events.length > 0) announceEvents(db, row.id);
  const events = workingSets.flatMap((workingSet) => workingSet.events);
  if (events.length === 0) return;
  // The operation's row is locked, so no other transaction can use these event numbers.
  await db.change(sql`
    INSERT INTO operation_event (project_id, operation_id, seq, type, data, created_at)
    SELECT
      ${projectId},
      e.operation_id,
      e.place + (
        SELECT coalesce(max(o.seq), 0) FROM operation_event o
        WHERE o.project_id = ${projectId} AND o.operation_id = e.operation_id
      ),
      e.type,
      e.data,
      e.now
    FROM ${newEvents.list(events)} AS e
    ORDER BY e.operation_id, e.place`);
};

const write = async (
  db: Sql,
  projectId: string,
  { writes, holds }: Decided,
  workingSets: readonly WorkingSet[],
): Promise<void> => {
  await inOrder(db, [
    async () => requireCount((await writeLegs(db, [...writes.values()])).size, writes.size),
    () => syncHolds(db, holds),
    () => updateOperations(db, projectId, workingSets),
    () => insertEvents(db, projectId, workingSets),
    () =>
      recordEventsOn(
        db,
        workingSets.flatMap(({ projectEvents }) => projectEvents),
      ),
  ]);
};

/**
 * Applies the steps of one project, in order, inside one transaction. Legs, operations, holds, the
 * sponsor's budget and events change together. The job of an operation that ends is removed.
 * @param db the statements of `Database.rawTransaction`, because the events are announced on that
 * transaction
 * @returns one result per step; null when another instance was first, and the rows have to be read
 * again
 * @throws DomainError `sponsor_budget_exceeded` when the budget does not cover `maxGasWei`;
 * RefundTakenError when other legs have claimed the payment; nothing is changed then
 */
const takeSteps = async (
  db: Sql,
  sponsorship: Sponsorship,
  steps: readonly OperationStep[],
): Promise<readonly (Stepped | null)[]> => {
  const [first] = steps;
  if (first === undefined) return [];
  const projectId = projectOf(first);
  const found = await readWorkingSets(db, projectId, steps.map(operationIdOf));
  const decided = decideSteps(steps, found);
  const workingSets = [...found.values()];
  await releaseRefunds(db, decided.released);
  await claimRefunds(db, decided.claims);
  await write(db, projectId, decided, workingSets);
  // The sponsor's budget changes late, because its lock makes all operations of the project wait
  // until COMMIT.
  await sponsorship.changeReservations(db, decided.reservations);
  const ended = workingSets.filter(({ row, changes }) => changes > 0 && isFinal(row.status));
  if (ended.length > 0)
    await endJobs(
      db,
      ended.map(({ row }) => row.id),
    );
  return decided.results;
};

export type { LegMove, SignedAgain } from "./step-decision";

const STEPS_MAX = 100;
/**
 * Number of batches that are written at a time. With two, the second batch can run while the first
 * one waits for a lock.
 */
const LANES = 2;

/**
 * The workers' writes of legs. Each write is a compare-and-set on the leg's version. Writes that
 * arrive while a transaction is in progress share the next transaction.
 */
export const createLegRepository = (database: Database, sponsorship: Sponsorship) => {
  const steps = createBatcher({
    run: eachByItself(
      projectOf,
      oneByOneAfterRefusal(async (batch: readonly OperationStep[]) => {
        const stepped = await database.rawTransaction(
          (db) => takeSteps(db, sponsorship, batch),
          keptSqlOn,
        );
        return stepped.map((one) => ({ stepped: one }));
      }),
    ),
    batchWeightMax: STEPS_MAX,
    lanes: LANES,
  });
  const touches = createBatcher({
    run: eachByItself(
      ({ leg }: LegWrite) => leg.projectId,
      oneByOneAfterRefusal(async (batch: readonly LegWrite[]) => {
        const written = await writeLegs(keptSqlOn(database.pool), batch);
        return batch.map((write) => ({ leg: written.get(write) ?? null }));
      }),
    ),
    batchWeightMax: STEPS_MAX,
    lanes: LANES,
  });
  const step = async (one: OperationStep): Promise<Stepped | null> =>
    (await steps.submit(one)).stepped;

  return {
    /**
     * Moves the operation from pending to processing. Returns null when the operation is no longer
     * pending, or awaits approval.
     */
    begin: ({ projectId, id }: OperationKey, now: Date): Promise<Stepped | null> =>
      step({ kind: "begin", operation: { projectId, id }, now }),

    /**
     * Moves a leg to its next state. The operation's state, holds, the sponsor's budget and events
     * change in the same transaction.
     * @returns null when another instance has moved the leg since it was read
     * @throws DomainError `sponsor_budget_exceeded` when the budget does not cover `maxGasWei`
     */
    moveLeg: (move: LegMove): Promise<Stepped | null> => step({ kind: "move", move }),

    /**
     * Replaces `leg.userOperation` by an operation signed again for the same nonce and calls.
     * @returns null when another instance has moved the leg since it was read
     * @throws DomainError `sponsor_budget_exceeded` when the budget does not cover `maxGasWei`
     */
    replaceOperation: (
      leg: Leg,
      signed: SignedAgain,
      maxGasWei: bigint,
      now: Date,
    ): Promise<Stepped | null> =>
      step({ kind: "signAgain", leg, change: signed, maxGasWei, now }),

    /**
     * Stores facts about a leg without changing its state, such as its confirmations.
     * @returns null when another instance has moved the leg since it was read
     */
    touchLeg: async (leg: Leg, change: LegChange, now: Date): Promise<Leg | null> => {
      const { leg: touched } = await touches.submit({ leg, to: leg.state, change, now });
      return touched;
    },

    /**
     * Records a transaction that replaced an earlier transaction of a wallet. Returns false when
     * the new transaction belongs to another leg.
     */
    adoptTransaction: createWalletTransactionRepository(database).adopt,
  };
};

export type LegRepository = ReturnType<typeof createLegRepository>;

export const createRefundDecisionRepository = (
  database: Database,
  sponsorship: Pick<SponsorshipService, "changeReservations">,
) => ({
  /**
   * Stores a person's decision: the leg, its claim of a payment, the events and the audit row
   * change together.
   * @returns false when the leg was moved since it was read; nothing is stored then
   * @throws RefundTakenError when other legs have claimed the payment
   */
  store: (move: LegMove, audit: AuditEntry): Promise<boolean> =>
    database.rawTransaction(async (db) => {
      const [stepped] = await takeSteps(db, sponsorship, [{ kind: "move", move }]);
      if (stepped == null) return false;
      await recordAuditOn(db, audit);
      await db.change(sql`
        UPDATE job SET run_at = least(run_at, ${move.now}::timestamptz)
        WHERE id = ${move.leg.operationId} AND queue = 'operation'`);
      announceJob(db, "operation");
      return true;
    }),
});

export type RefundDecisionRepository = ReturnType<typeof createRefundDecisionRepository>;
