/** The steps of operations, any number in one transaction: an operation begins, or one of its legs moves or is signed again. */
import { mayMove, type Status, type SubStatus } from "@/lib/core/status";
import { RefusedItemError } from "@/lib/db/batches";
import type { Sql } from "@/lib/db/sql";
import { changeAndJudge, type StatementPart } from "@/lib/db/together";
import { eventsPart } from "@/lib/modules/events/service";
import { syncHoldsParts } from "@/lib/modules/holds/service";
import type { ReservationChange, SponsorshipService } from "@/lib/modules/sponsorship/service";
import { toStored } from "@/lib/ports/routing-json";
import { announceEvents } from "./event-repository";
import type { Leg, LegChange } from "./leg";
import { claimRefunds, releaseRefunds, type LegClaim, type RefundClaim } from "./refund-claim-repository";
import { reservationOf } from "./leg-reservations";
import { legWritesPart, writtenLeg, type LegWrite } from "./leg-write-repository";
import { projectEventsOf } from "./project-events";
import { settledState } from "./state-repository";
import { readWorkingSets, type WorkingSet, type LegSnapshot } from "./working-set-repository";
import { LEG_TRANSITIONS, isLegFinal, stageOfLegs, type LegState } from "./summary";

/** A leg's step to its next state. */
export interface LegMove {
  readonly leg: Leg;
  readonly to: LegState;
  readonly change?: LegChange;
  /** Maximum cost of the signed operation for the sponsor, in wei; by default the reserved amount. */
  readonly maxGasWei?: bigint;
  /** The payment that is the leg's refund. Kept while the leg is `refund_seen` or `refunded`, and given up when it leaves these states. */
  readonly refund?: RefundClaim;
  readonly event: { readonly type: string; readonly data?: Record<string, unknown> };
  readonly now: Date;
}

/** The fields that replace a leg's signed operation by one that was signed again for the same nonce and calls. */
export type SignedAgain = Required<Pick<LegChange, "userOperation" | "userOpHash" | "earlierUserOpHashes">>;

export type OperationStep =
  | { readonly kind: "begin"; readonly operationId: string; readonly now: Date }
  | { readonly kind: "move"; readonly move: LegMove }
  /** The leg stays as it is, with another signed operation. */
  | {
      readonly kind: "signAgain";
      readonly leg: Leg;
      readonly change: SignedAgain;
      readonly maxGasWei: bigint;
      readonly now: Date;
    };

/** The state after a step. `leg` is null where the operation began. */
export interface Stepped {
  readonly leg: Leg | null;
  readonly status: Status;
  readonly subStatus: SubStatus;
}

const UPDATE_OPERATIONS = `
  UPDATE operation o SET status = w.status, sub_status = w.sub_status, failure = w.failure,
    version = o.version + w.changes, updated_at = w.now
  FROM jsonb_to_recordset($1::jsonb)
    AS w (id text, status text, sub_status text, failure jsonb, changes int, now timestamptz)
  WHERE o.id = w.id`;

// Each operation is locked, so nobody else numbers its events meanwhile.
const INSERT_EVENTS = `
  INSERT INTO operation_event (operation_id, seq, type, data, created_at)
  SELECT e."operationId", e.place + (SELECT coalesce(max(o.seq), 0) FROM operation_event o WHERE o.operation_id = e."operationId"),
    e.type, e.data, e.now
  FROM jsonb_to_recordset($1::jsonb) AS e ("operationId" text, place int, type text, data jsonb, now timestamptz)
  ORDER BY e."operationId", e.place`;

const operationIdOf = (step: OperationStep): string => {
  if (step.kind === "begin") return step.operationId;
  return step.kind === "move" ? step.move.leg.operationId : step.leg.operationId;
};

const note = (workingSet: WorkingSet, type: string, data: unknown, now: Date): void => {
  workingSet.events.push({ operationId: workingSet.row.id, place: workingSet.events.length + 1, type, data, now });
  workingSet.projectEvents.push(...projectEventsOf(workingSet.row, { type, now }));
};

const setState = (workingSet: WorkingSet, next: { status: Status; subStatus: SubStatus }, now: Date): void => {
  Object.assign(workingSet.row, next);
  workingSet.changes += 1;
  workingSet.changedAt = now;
};

/** pending → processing. False when it is no longer pending, or awaits approval. */
const begin = (workingSet: WorkingSet, now: Date): boolean => {
  const { row, legs } = workingSet;
  if (row.status !== "pending" || row.subStatus !== "prepared") return false;
  // Legs that a linked wallet signed or sent are under way already.
  const subStatus = stageOfLegs(legs.map(({ state }) => state));
  setState(workingSet, { status: "processing", subStatus }, now);
  note(workingSet, "operation.processing", { subStatus }, now);
  return true;
};

/** Notes the leg's new state, and the state of the operation that follows from it. */
const follow = (workingSet: WorkingSet, own: LegSnapshot, { leg, to, event, now }: LegMove, moved: Leg): void => {
  const { failure, receivedBase, sponsorReservedWei } = moved;
  Object.assign(own, { state: to, failure, receivedBase, reservedWei: sponsorReservedWei?.toString() ?? null });
  note(workingSet, event.type, { legId: leg.id, position: leg.position, state: to, ...event.data }, now);
  const next = settledState(workingSet.row, workingSet.legs);
  if (next === null) return;
  if (next.status !== workingSet.row.status && !mayMove(workingSet.row.status, next.status))
    throw new RefusedItemError(`An operation may not go from ${workingSet.row.status} to ${next.status}.`);
  if (next.failure !== null) workingSet.row.failure = next.failure;
  const { status, subStatus } = next;
  setState(workingSet, { status, subStatus }, now);
  note(workingSet, `operation.${status}`, { status, subStatus }, now);
};

const isHeld = (state: LegState): boolean => state === "queued" || state === "submitted";

/** The change of the leg's gas reservation that the move makes; null when there is none. */
const reservationChange = (
  workingSet: WorkingSet,
  { leg, to, maxGasWei }: LegMove,
  moved: Leg,
): ReservationChange | null => {
  const reservation = reservationOf(workingSet.row, leg);
  if (reservation === null) return null;
  if (isLegFinal(to)) {
    // A leg that was never mined costs nothing. A mined leg without a stored cost costs its whole reservation.
    const spentWei = moved.sourceTxHash === null ? 0n : (moved.gasCostWei ?? reservation.reservedWei);
    return { reservation, spentWei };
  }
  if (maxGasWei === undefined || maxGasWei === reservation.reservedWei) return null;
  const othersWei = workingSet.legs
    .filter(({ id, sourceChainId }) => id !== leg.id && sourceChainId === leg.sourceChainId)
    .reduce((sum, { reservedWei }) => sum + BigInt(reservedWei ?? 0), 0n);
  return { reservation, toWei: maxGasWei, operation: { kind: workingSet.row.kind, othersWei } };
};

const toMove = (step: Exclude<OperationStep, { kind: "begin" }>): LegMove => {
  if (step.kind === "signAgain") {
    const { leg, change, maxGasWei, now } = step;
    if (leg.state !== "submitted") throw new RefusedItemError(`A leg that is ${leg.state} is not signed again.`);
    const event = { type: "leg.signed_again", data: { userOpHash: change.userOpHash } };
    return { leg, to: "submitted", change, maxGasWei, event, now };
  }
  const { leg, to } = step.move;
  if (!(LEG_TRANSITIONS[leg.state] as readonly LegState[]).includes(to))
    throw new RefusedItemError(`A leg may not go from ${leg.state} to ${to}.`);
  return step.move;
};

const toWrite = ({ leg, to, change = {}, maxGasWei, now }: LegMove): LegWrite => {
  const isAdjusted = maxGasWei !== undefined && leg.sponsorReservedWei !== null && !isLegFinal(to);
  return { leg, to, now, change: isAdjusted ? { ...change, sponsorReservedWei: maxGasWei } : change };
};

const store = async (sql: Sql, workingSets: readonly WorkingSet[], also: readonly StatementPart[]): Promise<void> => {
  const changed = workingSets.flatMap(({ row, changes, changedAt: now }) =>
    changes === 0
      ? []
      : [{ id: row.id, status: row.status, sub_status: row.subStatus, failure: row.failure, changes, now }],
  );
  const events = workingSets.flatMap((workingSet) => workingSet.events);
  const projectEvents = workingSets.flatMap((workingSet) => workingSet.projectEvents);
  const parts = [
    ...also,
    ...(changed.length === 0 ? [] : [{ text: UPDATE_OPERATIONS, values: [JSON.stringify(changed)] }]),
    ...(events.length === 0 ? [] : [{ text: INSERT_EVENTS, values: [JSON.stringify(toStored(events))] }]),
    ...(projectEvents.length === 0 ? [] : [eventsPart(projectEvents)]),
  ];
  await changeAndJudge(sql, parts);
  for (const { row, events: own } of workingSets) if (own.length > 0) announceEvents(sql, row.id);
};

/**
 * Takes the steps, in order, inside one transaction: legs, operations, holds, the sponsor's budget and events change together. Of
 * several steps of one leg that read it at the same time, the first is taken.
 * @param sql what `Database.rawTransaction` handed out, because the events are announced on it
 * @returns for each step the state after it; null when somebody else was first, and the rows have to be read again
 * @throws DomainError `sponsor_budget_exceeded` when the budget does not cover `maxGasWei`; RefundTakenError when other legs have claimed
 * the payment; nothing is changed then
 */
export const takeSteps = async (
  sql: Sql,
  sponsorship: Pick<SponsorshipService, "changeReservations" | "freeingParts">,
  steps: readonly OperationStep[],
): Promise<(Stepped | null)[]> => {
  const moves = steps.map((step) => {
    if (step.kind === "begin") return null;
    const move = toMove(step);
    return { ...move, write: toWrite(move) };
  });
  const workingSets = await readWorkingSets(sql, steps.map(operationIdOf));
  const writes = new Map<string, LegWrite>();
  const reservations: ReservationChange[] = [];
  const holds: Parameters<typeof syncHoldsParts>[0][number][] = [];
  const claims: LegClaim[] = [];
  const released: string[] = [];
  const results = steps.map((step, index) => {
    const workingSet = workingSets.get(operationIdOf(step));
    const move = moves[index] ?? null;
    if (workingSet === undefined || (move === null && step.kind === "begin" && !begin(workingSet, step.now)))
      return null;
    if (move !== null) {
      const { id, state, version } = move.leg;
      const own = workingSet.legs.find((leg) => leg.id === id);
      if (own?.version !== version || own.state !== state || writes.has(id)) return null;
      writes.set(id, move.write);
      const leg = writtenLeg(move.leg, move.write);
      // The first step of a leg also begins its operation, whose events stay in that order.
      begin(workingSet, move.now);
      follow(workingSet, own, move, leg);
      if (isHeld(state) !== isHeld(move.to)) holds.push({ id, held: isHeld(move.to), now: move.now });
      const change = reservationChange(workingSet, move, leg);
      if (change !== null) reservations.push(change);
      if (move.refund !== undefined) claims.push({ ...move.refund, legId: id, now: move.now });
      else if (state === "refund_seen" && move.to !== "refunded") released.push(id);
    }
    const { status, subStatus } = workingSet.row;
    return { legId: move?.leg.id ?? null, status, subStatus };
  });
  await releaseRefunds(sql, released);
  await claimRefunds(sql, claims);
  // Last, because all who spend of a project's budget wait for each other from here on.
  const { parts: freed, rest } = sponsorship.freeingParts(reservations);
  const stored = new Map<string, Leg>();
  const keep = (legs: readonly Leg[]): void => {
    for (const leg of legs) stored.set(leg.id, leg);
  };
  const written = writes.size === 0 ? [] : [legWritesPart([...writes.values()], keep)];
  await store(sql, [...workingSets.values()], [...written, ...syncHoldsParts(holds), ...freed]);
  await sponsorship.changeReservations(sql, rest);
  return results.map((result): Stepped | null => {
    if (result === null) return null;
    const { legId, status, subStatus } = result;
    return { leg: legId === null ? null : (stored.get(legId) ?? null), status, subStatus };
  });
};
