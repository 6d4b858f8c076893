/** The steps of operations, any number in one transaction: an operation begins, or one of its legs moves or is signed again. */
import { jsonRows } from "@/lib/db/json-rows";
import { isRefusal, RefusedItemError } from "@/lib/db/batches";
import type { Sql } from "@/lib/db/sql";
import { changeAllOrNothing, changeAndJudge, type JudgedPart, type StatementPart } from "@/lib/db/together";
import { isFinal } from "@/lib/core/status";
import { endJobsPart } from "@/lib/modules/jobs/service";
import { announceOutbox, eventsPart } from "@/lib/modules/events/service";
import { syncHoldsParts } from "@/lib/modules/holds/service";
import type { ReservationChange, SponsorshipService } from "@/lib/modules/sponsorship/service";
import { storedText } from "@/lib/ports/routing-json";
import { announceEvents } from "./event-repository";
import { claimRefunds, releaseRefunds } from "./refund-claim-repository";
import { legWritesPart } from "./leg-write-repository";
import { decideSteps, operationIdOf, projectOf, type Decided, type OperationStep, type Stepped } from "./step-decision";
import { lockParts, readWorkingSets, type WorkingSet } from "./working-set-repository";

const CHANGED = "id text, version int, status text, sub_status text, failure jsonb, changes int, now timestamptz";
const UPDATE_OPERATIONS = `
  UPDATE operation o SET status = w.status, sub_status = w.sub_status, failure = w.failure,
    version = o.version + w.changes, updated_at = w.now
  FROM ${jsonRows("$1", CHANGED)} AS w
  WHERE o.project_id = $2 AND o.id = w.id AND o.version = w.version
  RETURNING o.id`;

// Each operation is locked, so nobody else numbers its events meanwhile.
const INSERT_EVENTS = `
  INSERT INTO operation_event (project_id, operation_id, seq, type, data, created_at)
  SELECT $2, e."operationId", e.place + (
      SELECT coalesce(max(o.seq), 0) FROM operation_event o WHERE o.project_id = $2 AND o.operation_id = e."operationId"),
    e.type, e.data, e.now
  FROM jsonb_to_recordset($1::jsonb) AS e ("operationId" text, place int, type text, data jsonb, now timestamptz)
  ORDER BY e."operationId", e.place`;

type Sponsorship = Pick<SponsorshipService, "changeReservations" | "freeingParts">;

/** The steps of a batch as they are committed. */
export interface Taken {
  /** By step; null when somebody else was first, and the rows have to be read again. */
  readonly stepped: readonly (Stepped | null)[];
  /** The operations as they were before the steps, with what the steps made of them. */
  readonly workingSets: ReadonlyMap<string, WorkingSet>;
}

const operationsPart = (projectId: string, workingSets: readonly WorkingSet[]): JudgedPart[] => {
  const changed = workingSets.flatMap(({ row, changes, changedAt: now }) => {
    const { id, version, status, subStatus, failure } = row;
    return changes === 0 ? [] : [{ id, version, status, sub_status: subStatus, failure, changes, now }];
  });
  if (changed.length === 0) return [];
  const judge: JudgedPart["judge"] = (rows) => {
    if (rows.length !== changed.length) throw new RefusedItemError("An operation was changed although it is locked.");
  };
  return [
    { text: UPDATE_OPERATIONS, values: [JSON.stringify(changed), projectId], rowsExactly: changed.length, judge },
  ];
};

const eventParts = (projectId: string, workingSets: readonly WorkingSet[]): StatementPart[] => {
  const events = workingSets.flatMap((workingSet) => workingSet.events);
  const projectEvents = workingSets.flatMap((workingSet) => workingSet.projectEvents);
  return [
    ...(events.length === 0 ? [] : [{ text: INSERT_EVENTS, values: [storedText(events), projectId] }]),
    ...(projectEvents.length === 0 ? [] : [eventsPart(projectEvents)]),
  ];
};

/** The job of an operation that has ended goes with it. */
const endParts = (workingSets: readonly WorkingSet[]): JudgedPart[] => {
  const ended = workingSets.filter(({ row, changes }) => changes > 0 && isFinal(row.status));
  return ended.length === 0 ? [] : [endJobsPart(ended.map(({ row }) => row.id))];
};

interface Changes {
  readonly parts: readonly StatementPart[];
  /** The last parts of all. */
  readonly ends: readonly StatementPart[];
  /** Changes of reservations that need more than they have, and statements of their own. */
  readonly rest: readonly ReservationChange[];
}

/** Everything that the steps change, for one statement. The sponsor's budget is last, because all who spend of it wait for each other from there on. */
const changesOf = (
  sponsorship: Sponsorship,
  { writes, holds, reservations }: Decided,
  { projectId, workingSets }: { readonly projectId: string; readonly workingSets: readonly WorkingSet[] },
): Changes => {
  const { parts: freed, rest } = sponsorship.freeingParts(reservations);
  const written = writes.size === 0 ? [] : [legWritesPart([...writes.values()])];
  const operations = [...operationsPart(projectId, workingSets), ...eventParts(projectId, workingSets)];
  return {
    parts: [...written, ...syncHoldsParts(holds), ...freed, ...operations],
    ends: endParts(workingSets),
    rest,
  };
};

const announceAll = (sql: Sql, workingSets: Iterable<WorkingSet>): void => {
  for (const { row, events, projectEvents } of workingSets) {
    if (events.length > 0) announceEvents(sql, row.id);
    if (projectEvents.length > 0) announceOutbox(sql);
  }
};

/**
 * Takes the steps of one project, in order, inside one transaction: legs, operations, holds, the sponsor's budget and events change together,
 * and the job of an operation that ends is removed.
 * @param sql what `Database.rawTransaction` handed out, because the events are announced on it
 * @throws DomainError `sponsor_budget_exceeded` when the budget does not cover `maxGasWei`; RefundTakenError when other legs have claimed
 * the payment; nothing is changed then
 */
export const takeSteps = async (
  sql: Sql,
  sponsorship: Sponsorship,
  steps: readonly OperationStep[],
): Promise<Taken> => {
  const [first] = steps;
  if (first === undefined) return { stepped: [], workingSets: new Map() };
  const projectId = projectOf(first);
  const workingSets = await readWorkingSets(sql, projectId, steps.map(operationIdOf));
  const decided = decideSteps(steps, workingSets);
  await releaseRefunds(sql, decided.released);
  await claimRefunds(sql, decided.claims);
  const { parts, ends, rest } = changesOf(sponsorship, decided, { projectId, workingSets: [...workingSets.values()] });
  const isLast = rest.length === 0;
  await changeAndJudge(sql, isLast ? [...parts, ...ends] : parts);
  announceAll(sql, workingSets.values());
  await sponsorship.changeReservations(sql, rest);
  if (!isLast) await changeAndJudge(sql, ends);
  return { stepped: decided.results, workingSets };
};

/**
 * As `takeSteps`, in one statement without a transaction around it. It compares what the instance knows of the operations with what is stored,
 * locks and changes them; when anybody else has changed one of them since, it changes nothing.
 * @param sql what `Database.rawStatement` handed out
 * @param workingSets of all operations of the steps
 * @returns null when nothing was changed: `takeSteps` then reads, and says why if it refuses them too
 */
export const takeKnownSteps = async (
  sql: Sql,
  sponsorship: Sponsorship,
  steps: readonly OperationStep[],
  workingSets: ReadonlyMap<string, WorkingSet>,
): Promise<Taken | null> => {
  const [first] = steps;
  if (first === undefined) return null;
  const projectId = projectOf(first);
  try {
    const locks = lockParts(projectId, [...workingSets.values()]);
    const decided = decideSteps(steps, workingSets);
    const { results, claims, released } = decided;
    if (results.includes(null) || claims.length > 0 || released.length > 0) return null;
    const { parts, ends, rest } = changesOf(sponsorship, decided, {
      projectId,
      workingSets: [...workingSets.values()],
    });
    if (rest.length > 0 || !(await changeAllOrNothing(sql, [...locks, ...parts, ...ends]))) return null;
    announceAll(sql, workingSets.values());
    return { stepped: decided.results, workingSets };
  } catch (error) {
    if (isRefusal(error)) return null;
    throw error;
  }
};
