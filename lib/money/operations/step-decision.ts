/**
 * Decides the steps of operations from their locked rows. Pure: step-repository.ts reads and
 * stores.
 */
import { mayMove, type Status, type SubStatus } from "@/lib/core/status";
import { RefusedItemError } from "@/lib/platform/db/batches";
import type { HeldChange } from "@/lib/books/holds/service";
import type { ReservationChange } from "@/lib/books/sponsorship/service";
import { type Leg, type LegChange, reservationOf } from "./leg";
import {
  type LegClaim,
  type LegSnapshot,
  type LegWrite,
  type RefundClaim,
  type WorkingSet,
  writtenLeg,
} from "./leg-write-repository";
import { type OperationKey, projectEventsOf, settledState } from "./state-repository";
import { isLegFinal, LEG_TRANSITIONS, type LegState, stageOfLegs } from "./summary";

export interface LegMove {
  readonly leg: Leg;
  readonly to: LegState;
  readonly change?: LegChange;
  /**
   * Maximum cost of the signed operation for the sponsor, in wei; by default the reserved amount.
   */
  readonly maxGasWei?: bigint;
  /**
   * The payment that refunds the leg. The claim exists while the leg is `refund_seen` or
   * `refunded`, and is deleted when the leg leaves these states.
   */
  readonly refund?: RefundClaim;
  readonly event: { readonly type: string; readonly data?: Record<string, unknown> };
  readonly now: Date;
}

/**
 * The change that replaces a leg's signed operation by an operation that was signed again, with
 * the same nonce and calls.
 */
export type SignedAgain = Required<
  Pick<LegChange, "userOperation" | "userOpHash" | "earlierUserOpHashes">
>;

export type OperationStep =
  | { readonly kind: "begin"; readonly operation: OperationKey; readonly now: Date }
  | { readonly kind: "move"; readonly move: LegMove }
  | {
      readonly kind: "signAgain";
      readonly leg: Leg;
      readonly change: SignedAgain;
      readonly maxGasWei: bigint;
      readonly now: Date;
    };

/** `leg` is null for a step that only begins the operation. */
export interface Stepped {
  readonly leg: Leg | null;
  readonly status: Status;
  readonly subStatus: SubStatus;
}

export const operationIdOf = (step: OperationStep): string => {
  if (step.kind === "begin") return step.operation.id;
  return step.kind === "move" ? step.move.leg.operationId : step.leg.operationId;
};

export const projectOf = (step: OperationStep): string => {
  if (step.kind === "begin") return step.operation.projectId;
  return step.kind === "move" ? step.move.leg.projectId : step.leg.projectId;
};

const note = (workingSet: WorkingSet, type: string, data: unknown, now: Date): void => {
  workingSet.events.push({
    operationId: workingSet.row.id,
    place: workingSet.events.length + 1,
    type,
    data,
    now,
  });
  workingSet.projectEvents.push(...projectEventsOf(workingSet.row, { type, now }));
};

const setState = (
  workingSet: WorkingSet,
  next: { status: Status; subStatus: SubStatus },
  now: Date,
): void => {
  Object.assign(workingSet.row, next);
  workingSet.changes += 1;
  workingSet.changedAt = now;
};

/**
 * Moves the operation from pending to processing. Returns false when the operation is no longer
 * pending, or awaits approval.
 */
const begin = (workingSet: WorkingSet, now: Date): boolean => {
  const { row, legs } = workingSet;
  if (row.status !== "pending" || row.subStatus !== "prepared") return false;
  // Legs that a linked wallet signed or sent are in progress already, so the stage follows from all
  // legs.
  const subStatus = stageOfLegs(legs.map(({ state }) => state));
  setState(workingSet, { status: "processing", subStatus }, now);
  note(workingSet, "operation.processing", { subStatus }, now);
  return true;
};

const follow = (
  workingSet: WorkingSet,
  own: LegSnapshot,
  { leg, to, event, now }: LegMove,
  moved: Leg,
): void => {
  const { failure, receivedBase, sponsorReservedWei } = moved;
  Object.assign(own, {
    state: to,
    failure,
    receivedBase,
    sponsorReservedWei,
  });
  note(
    workingSet,
    event.type,
    { legId: leg.id, position: leg.position, state: to, ...event.data },
    now,
  );
  const next = settledState(workingSet.row, workingSet.legs);
  if (next === null) return;
  if (next.status !== workingSet.row.status && !mayMove(workingSet.row.status, next.status))
    throw new RefusedItemError(
      `An operation may not go from ${workingSet.row.status} to ${next.status}.`,
    );
  if (next.failure !== null) workingSet.row.failure = next.failure;
  const { status, subStatus } = next;
  setState(workingSet, { status, subStatus }, now);
  note(workingSet, `operation.${status}`, { status, subStatus }, now);
};

const isHeld = (state: LegState): boolean => state === "queued" || state === "submitted";

/**
 * How the move changes the leg's reservation of the sponsor's budget; null when the reservation
 * does not change.
 */
const reservationChange = (
  workingSet: WorkingSet,
  { leg, to, maxGasWei }: LegMove,
  moved: Leg,
): ReservationChange | null => {
  const reservation = reservationOf(workingSet.row, leg);
  if (reservation === null) return null;
  if (isLegFinal(to)) {
    // Without a stored cost, a leg that was never mined costs nothing, and a mined leg is charged
    // its whole reservation.
    const spentWei =
      moved.gasCostWei ?? (moved.sourceTxHash === null ? 0n : reservation.reservedWei);
    return { reservation, spentWei };
  }
  if (maxGasWei === undefined || maxGasWei === reservation.reservedWei) return null;
  const othersWei = workingSet.legs
    .filter(({ id, sourceChainId }) => id !== leg.id && sourceChainId === leg.sourceChainId)
    .reduce((sum, { sponsorReservedWei }) => sum + (sponsorReservedWei ?? 0n), 0n);
  return { reservation, toWei: maxGasWei, operation: { kind: workingSet.row.kind, othersWei } };
};

const toMove = (step: Exclude<OperationStep, { kind: "begin" }>): LegMove => {
  if (step.kind === "signAgain") {
    const { leg, change, maxGasWei, now } = step;
    if (leg.state !== "submitted")
      throw new RefusedItemError(`A leg that is ${leg.state} is not signed again.`);
    const event = { type: "leg.signed_again", data: { userOpHash: change.userOpHash } };
    return { leg, to: "submitted", change, maxGasWei, event, now };
  }
  const { leg, to } = step.move;
  if (!(LEG_TRANSITIONS[leg.state] as readonly LegState[]).includes(to))
    throw new RefusedItemError(`A leg may not go from ${leg.state} to ${to}.`);
  return step.move;
};

const toWrite = ({ leg, to, change = {}, maxGasWei, now }: LegMove): LegWrite => {
  const isAdjusted =
    maxGasWei !== undefined && leg.sponsorReservedWei !== null && !isLegFinal(to);
  return {
    leg,
    to,
    now,
    change: isAdjusted ? { ...change, sponsorReservedWei: maxGasWei } : change,
  };
};

/** The changes that the steps make to stored rows, and the result of each step. */
export interface Decided {
  /** One result per step. Null when another instance was first; the rows have to be read again. */
  readonly results: readonly (Stepped | null)[];
  readonly writes: ReadonlyMap<string, LegWrite>;
  readonly reservations: readonly ReservationChange[];
  readonly holds: readonly HeldChange[];
  readonly claims: readonly LegClaim[];
  /** Legs whose refund claims are deleted. */
  readonly released: readonly string[];
}

/**
 * Applies the steps in order to the operations in the working sets. Of several steps that read the
 * same version of a leg, only the first succeeds.
 */
export const decideSteps = (
  steps: readonly OperationStep[],
  workingSets: ReadonlyMap<string, WorkingSet>,
): Decided => {
  const writes = new Map<string, LegWrite>();
  const written = new Map<string, Leg>();
  const reservations: ReservationChange[] = [];
  const holds: HeldChange[] = [];
  const claims: LegClaim[] = [];
  const released: string[] = [];
  const moves = steps.map((step) => (step.kind === "begin" ? null : toMove(step)));
  const results = steps.map((step, index) => {
    const workingSet = workingSets.get(operationIdOf(step));
    const move = moves[index] ?? null;
    if (
      workingSet === undefined ||
      (move === null && step.kind === "begin" && !begin(workingSet, step.now))
    )
      return null;
    if (move !== null) {
      const { id, state, version } = move.leg;
      const own = workingSet.legs.find((leg) => leg.id === id);
      if (own?.version !== version || own.state !== state || writes.has(id)) return null;
      const write = toWrite(move);
      writes.set(id, write);
      const leg = writtenLeg(write);
      written.set(id, leg);
      // A leg's first step also begins its operation. The operation begins first, so that its
      // event precedes the event of the leg.
      begin(workingSet, move.now);
      follow(workingSet, own, move, leg);
      if (isHeld(state) !== isHeld(move.to))
        holds.push({ id, held: isHeld(move.to), now: move.now });
      const change = reservationChange(workingSet, move, leg);
      if (change !== null) reservations.push(change);
      if (move.refund !== undefined) claims.push({ ...move.refund, legId: id, now: move.now });
      else if (state === "refund_seen" && move.to !== "refunded") released.push(id);
    }
    const { status, subStatus } = workingSet.row;
    return {
      leg: move === null ? null : (written.get(move.leg.id) ?? null),
      status,
      subStatus,
    };
  });
  return { results, writes, reservations, holds, claims, released };
};
