import { jsonRows } from "@/lib/platform/db/json-rows";
import { eachByItself, oneByOneAfterRefusal, RefusedItemError } from "@/lib/platform/db/batches";
import { inOrder } from "@/lib/platform/db/in-order";
import { keptSqlOn, type Sql } from "@/lib/platform/db/sql";
import { isFinal } from "@/lib/core/status";
import { announceJob, endJobs } from "@/lib/platform/jobs/service";
import { recordEventsOn } from "@/lib/news/events/service";
import { syncHolds } from "@/lib/books/holds/service";
import type { SponsorshipService } from "@/lib/books/sponsorship/service";
import { storedText } from "@/lib/platform/db/codecs";
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

// Takes the steps of operations, any number in one transaction: an operation begins, or one of its
// legs moves or is signed again.

const CHANGED =
  "id text, version int, status text, sub_status text, failure jsonb, changes int, now timestamptz";
const UPDATE_OPERATIONS = `
  UPDATE operation o SET status = w.status, sub_status = w.sub_status, failure = w.failure,
    version = o.version + w.changes, updated_at = w.now
  FROM ${jsonRows("$1", CHANGED)} AS w
  WHERE o.project_id = $2 AND o.id = w.id AND o.version = w.version`;

// The operation's row is locked, so nobody else can take the same event numbers.
const INSERT_EVENTS = `
  INSERT INTO operation_event (project_id, operation_id, seq, type, data, created_at)
  SELECT $2, e."operationId", e.place + (
      SELECT coalesce(max(o.seq), 0) FROM operation_event o WHERE o.project_id = $2 AND o.operation_id = e."operationId"),
    e.type, e.data, e.now
  FROM jsonb_to_recordset($1::jsonb) AS e ("operationId" text, place int, type text, data jsonb, now timestamptz)
  ORDER BY e."operationId", e.place`;

type Sponsorship = Pick<SponsorshipService, "changeReservations">;

/** Locked rows must change as expected. A different number of changed rows is a bug. */
const requireCount = (changed: number, expected: number): void => {
  if (changed !== expected)
    throw new RefusedItemError("An operation or a leg was changed although it is locked.");
};

const updateOperations = async (
  sql: Sql,
  projectId: string,
  workingSets: readonly WorkingSet[],
): Promise<void> => {
  const changed = workingSets.flatMap(({ row, changes, changedAt: now }) => {
    const { id, version, status, subStatus, failure } = row;
    return changes === 0
      ? []
      : [{ id, version, status, sub_status: subStatus, failure, changes, now }];
  });
  if (changed.length === 0) return;
  const values = [JSON.stringify(changed), projectId];
  requireCount(await sql.change(UPDATE_OPERATIONS, values), changed.length);
};

const insertEvents = async (
  sql: Sql,
  projectId: string,
  workingSets: readonly WorkingSet[],
): Promise<void> => {
  for (const { row, events } of workingSets) if (events.length > 0) announceEvents(sql, row.id);
  const events = workingSets.flatMap((workingSet) => workingSet.events);
  if (events.length > 0) await sql.change(INSERT_EVENTS, [storedText(events), projectId]);
};

/** Writes the decided changes of legs, their holds and their operations. */
const write = async (
  sql: Sql,
  projectId: string,
  { writes, holds }: Decided,
  workingSets: readonly WorkingSet[],
): Promise<void> => {
  await inOrder(sql, [
    async () => requireCount((await writeLegs(sql, [...writes.values()])).size, writes.size),
    () => syncHolds(sql, holds),
    () => updateOperations(sql, projectId, workingSets),
    () => insertEvents(sql, projectId, workingSets),
    () =>
      recordEventsOn(
        sql,
        workingSets.flatMap(({ projectEvents }) => projectEvents),
      ),
  ]);
};

/**
 * Takes the steps of one project, in order, inside one transaction. Legs, operations, holds, the
 * sponsor's budget and events change together, and the job of an operation that ends is removed.
 * @param sql the statements of `Database.rawTransaction`, because the events are announced on that
 * transaction
 * @returns one result per step; null when another instance was first, and the rows have to be read
 * again
 * @throws DomainError `sponsor_budget_exceeded` when the budget does not cover `maxGasWei`;
 * RefundTakenError when other legs have claimed the payment; nothing is changed then
 */
const takeSteps = async (
  sql: Sql,
  sponsorship: Sponsorship,
  steps: readonly OperationStep[],
): Promise<readonly (Stepped | null)[]> => {
  const [first] = steps;
  if (first === undefined) return [];
  const projectId = projectOf(first);
  const found = await readWorkingSets(sql, projectId, steps.map(operationIdOf));
  const decided = decideSteps(steps, found);
  const workingSets = [...found.values()];
  await releaseRefunds(sql, decided.released);
  await claimRefunds(sql, decided.claims);
  await write(sql, projectId, decided, workingSets);
  // The sponsor's budget changes late, because its lock makes all operations of the project wait
  // for each other until COMMIT.
  await sponsorship.changeReservations(sql, decided.reservations);
  const ended = workingSets.filter(({ row, changes }) => changes > 0 && isFinal(row.status));
  if (ended.length > 0)
    await endJobs(
      sql,
      ended.map(({ row }) => row.id),
    );
  return decided.results;
};

export type { LegMove, SignedAgain } from "./step-decision";

/** Maximum number of steps that share a transaction. */
const STEPS_MAX = 100;
/** A second batch may begin while the first one waits for a lock. */
const LANES = 2;

/**
 * The writes of legs, for workers. Each write is a compare-and-set against the version that was
 * read. Writes that arrive while another is in progress share the next transaction; a single write
 * is executed at once.
 */
export const createLegRepository = (database: Database, sponsorship: Sponsorship) => {
  const steps = createBatcher({
    run: eachByItself(
      projectOf,
      oneByOneAfterRefusal(async (batch: readonly OperationStep[]) => {
        const stepped = await database.rawTransaction(
          (sql) => takeSteps(sql, sponsorship, batch),
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
     * Moves the operation from pending to processing. Returns null when it is no longer pending, or
     * awaits approval.
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
     * Stores an operation that was signed again for the same nonce and calls, in place of
     * `leg.userOperation`.
     * @returns null when another instance has moved the leg since it was read
     * @throws DomainError `sponsor_budget_exceeded` when the budget does not cover `maxGasWei`
     */
    replaceOperation: (
      leg: Leg,
      signed: SignedAgain,
      maxGasWei: bigint,
      now: Date,
    ): Promise<Stepped | null> => step({ kind: "signAgain", leg, change: signed, maxGasWei, now }),

    /**
     * Stores new facts about a leg without a new state, such as its count of confirmations.
     * @returns null when another instance has moved the leg since it was read
     */
    touchLeg: async (leg: Leg, change: LegChange, now: Date): Promise<Leg | null> => {
      const { leg: touched } = await touches.submit({ leg, to: leg.state, change, now });
      return touched;
    },

    /**
     * Records a transaction that replaced a wallet's earlier one. Returns false when it belongs to
     * another leg already.
     */
    adoptTransaction: createWalletTransactionRepository(database).adopt,
  };
};

export type LegRepository = ReturnType<typeof createLegRepository>;

const WAKE =
  "UPDATE job SET run_at = least(run_at, $2::timestamptz) WHERE id = $1 AND queue = 'operation'";

export const createRefundDecisionRepository = (
  database: Database,
  sponsorship: Pick<SponsorshipService, "changeReservations">,
) => ({
  /**
   * Stores a person's decision: the leg, its claim of a payment, the events and the audit row
   * change together.
   * @returns false when somebody else has moved the leg since it was read; nothing is stored then
   * @throws RefundTakenError when other legs have claimed the payment
   */
  store: (move: LegMove, audit: AuditEntry): Promise<boolean> =>
    database.rawTransaction(async (sql) => {
      const [stepped] = await takeSteps(sql, sponsorship, [{ kind: "move", move }]);
      if (stepped == null) return false;
      await recordAuditOn(sql, audit);
      await sql.change(WAKE, [move.leg.operationId, move.now]);
      announceJob(sql, "operation");
      return true;
    }),
});

export type RefundDecisionRepository = ReturnType<typeof createRefundDecisionRepository>;
