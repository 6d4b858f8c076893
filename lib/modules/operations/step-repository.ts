/** The steps of operations, any number in one transaction: an operation begins, or one of its legs moves or is signed again. */
import { mayMove, type Status, type SubStatus } from "@/lib/core/status";
import { RefusedItemError } from "@/lib/db/batches";
import { toBigIntOrNull } from "@/lib/db/decimal";
import type { Sql } from "@/lib/db/sql";
import { changeTogether } from "@/lib/db/together";
import { eventsPart, type NewEvent } from "@/lib/modules/events/service";
import { syncHolds } from "@/lib/modules/holds/service";
import type { ReservationChange, SponsorshipService } from "@/lib/modules/sponsorship/service";
import { toStored } from "@/lib/ports/routing-json";
import { announceEvents } from "./event-repository";
import type { Failure, Leg, LegChange } from "./leg";
import { claimRefunds, releaseRefunds, type LegClaim, type RefundClaim } from "./refund-claim-repository";
import { reservationOf } from "./leg-reservations";
import { writeLegs, type LegWrite } from "./leg-write-repository";
import { projectEventsOf } from "./project-events";
import { settledState } from "./state-repository";
import { LEG_TRANSITIONS, isLegFinal, stageOfLegs, type LegResult, type LegState } from "./summary";

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

/** What replaces an operation of a leg that was signed again for the same nonce and calls. */
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

interface OperationRow {
  readonly id: string;
  readonly projectId: string;
  readonly kind: string;
  readonly retryOf: string | null;
  readonly quotedId: string | null;
  readonly privateId: string | null;
  readonly minimumBase: bigint;
  status: Status;
  subStatus: SubStatus;
  failure: Failure | null;
}

type StoredOperation = Omit<OperationRow, "minimumBase"> & { readonly minimumBase: string };

interface LegSnapshot extends LegResult {
  readonly id: string;
  readonly operationId: string;
  readonly sourceChainId: number;
  readonly reservedWei: string | null;
  readonly lastSeq: number;
  readonly failure: Failure | null;
}

type StoredLeg = Omit<LegSnapshot, "receivedBase"> & { readonly receivedBase: string | null };

interface Event {
  readonly operationId: string;
  readonly seq: number;
  readonly type: string;
  readonly data: unknown;
  readonly now: Date;
}

/** An operation as it stands inside the transaction, and what the steps have made of it. */
interface Draft {
  readonly row: OperationRow;
  readonly legs: readonly LegSnapshot[];
  readonly events: Event[];
  readonly projectEvents: NewEvent[];
  changes: number;
  changedAt: Date | null;
}

// Locked in the order of their ids everywhere, so that two transactions never wait for each other.
const LOCK = `
  SELECT o.id, o.project_id AS "projectId", o.kind, o.status, o.sub_status AS "subStatus", o.failure,
    o.retry_of AS "retryOf", o.minimum_base::text AS "minimumBase",
    (SELECT q.transfer_id FROM quote q WHERE q.operation_id = o.id) AS "quotedId",
    (SELECT p.id FROM privacy_transfer p WHERE p.project_id = o.project_id AND p.operation_id = o.id) AS "privateId"
  FROM operation o WHERE o.id = ANY($1::text[]) ORDER BY o.id COLLATE "C" FOR NO KEY UPDATE OF o`;

// A statement of its own, because it must see what was committed while the lock was waited for.
const READ_LEGS = `
  SELECT l.id, l.operation_id AS "operationId", l.source_chain_id AS "sourceChainId", l.state, l.failure,
    l.received_base::text AS "receivedBase", l.sponsor_reserved_wei::text AS "reservedWei",
    (SELECT coalesce(max(e.seq), 0) FROM operation_event e WHERE e.operation_id = l.operation_id) AS "lastSeq"
  FROM operation_leg l WHERE l.operation_id = ANY($1::text[]) ORDER BY l.operation_id, l.position`;

const UPDATE_OPERATIONS = `
  UPDATE operation o SET status = w.status, sub_status = w.sub_status, failure = w.failure,
    version = o.version + w.changes, updated_at = w.now
  FROM jsonb_to_recordset($1::jsonb)
    AS w (id text, status text, sub_status text, failure jsonb, changes int, now timestamptz)
  WHERE o.id = w.id`;

const INSERT_EVENTS = `
  INSERT INTO operation_event (operation_id, seq, type, data, created_at)
  SELECT e."operationId", e.seq, e.type, e.data, e.now
  FROM jsonb_to_recordset($1::jsonb) AS e ("operationId" text, seq int, type text, data jsonb, now timestamptz)
  ORDER BY e."operationId", e.seq`;

const operationIdOf = (step: OperationStep): string => {
  if (step.kind === "begin") return step.operationId;
  return step.kind === "move" ? step.move.leg.operationId : step.leg.operationId;
};

const readDrafts = async (sql: Sql, steps: readonly OperationStep[]): Promise<Map<string, Draft>> => {
  const ids = [...new Set(steps.map(operationIdOf))];
  const rows = await sql.query<StoredOperation>(LOCK, [ids]);
  const legs = await sql.query<StoredLeg>(READ_LEGS, [ids]);
  const drafts = rows.map(({ minimumBase, ...stored }): [string, Draft] => {
    const row = { ...stored, minimumBase: BigInt(minimumBase) };
    const own = legs
      .filter(({ operationId }) => operationId === row.id)
      .map((leg) => ({ ...leg, receivedBase: toBigIntOrNull(leg.receivedBase) }));
    return [row.id, { row, legs: own, events: [], projectEvents: [], changes: 0, changedAt: null }];
  });
  const found = new Map(drafts);
  for (const id of ids) if (!found.has(id)) throw new RefusedItemError(`There is no operation ${id}.`);
  return found;
};

const note = (draft: Draft, type: string, data: unknown, now: Date): void => {
  const seq = (draft.legs[0]?.lastSeq ?? 0) + draft.events.length + 1;
  draft.events.push({ operationId: draft.row.id, seq, type, data, now });
  draft.projectEvents.push(...projectEventsOf(draft.row, { type, now }));
};

const setState = (draft: Draft, next: { status: Status; subStatus: SubStatus }, now: Date): void => {
  Object.assign(draft.row, next);
  draft.changes += 1;
  draft.changedAt = now;
};

/** pending → processing. False when it is no longer pending, or awaits approval. */
const begin = (draft: Draft, now: Date): boolean => {
  const { row, legs } = draft;
  if (row.status !== "pending" || row.subStatus !== "prepared") return false;
  // Legs that a linked wallet signed or sent are under way already.
  const subStatus = stageOfLegs(legs.map(({ state }) => state));
  setState(draft, { status: "processing", subStatus }, now);
  note(draft, "operation.processing", { subStatus }, now);
  return true;
};

/** Notes what the leg is now, and what the operation is with it. */
const follow = (draft: Draft, { leg, to, event, now }: LegMove, moved: Leg): void => {
  const own = draft.legs.find(({ id }) => id === leg.id);
  if (own === undefined) throw new RefusedItemError(`There is no leg ${leg.id}.`);
  const { failure, receivedBase, sponsorReservedWei } = moved;
  Object.assign(own, { state: to, failure, receivedBase, reservedWei: sponsorReservedWei?.toString() ?? null });
  note(draft, event.type, { legId: leg.id, position: leg.position, state: to, ...event.data }, now);
  const next = settledState(draft.row, draft.legs);
  if (next === null) return;
  if (next.status !== draft.row.status && !mayMove(draft.row.status, next.status))
    throw new RefusedItemError(`An operation may not go from ${draft.row.status} to ${next.status}.`);
  if (next.failure !== null) draft.row.failure = next.failure;
  const { status, subStatus } = next;
  setState(draft, { status, subStatus }, now);
  note(draft, `operation.${status}`, { status, subStatus }, now);
};

const isHeld = (state: LegState): boolean => state === "queued" || state === "submitted";

/** What the move changes of its leg's reservation; null when nothing. */
const reservationChange = (draft: Draft, { leg, to, maxGasWei }: LegMove, moved: Leg): ReservationChange | null => {
  const reservation = reservationOf(draft.row, leg);
  if (reservation === null) return null;
  if (isLegFinal(to)) {
    // A leg that was never mined costs nothing. A mined leg without a stored cost costs its whole reservation.
    const spentWei = moved.sourceTxHash === null ? 0n : (moved.gasCostWei ?? reservation.reservedWei);
    return { reservation, spentWei };
  }
  if (maxGasWei === undefined || maxGasWei === reservation.reservedWei) return null;
  const othersWei = draft.legs
    .filter(({ id, sourceChainId }) => id !== leg.id && sourceChainId === leg.sourceChainId)
    .reduce((sum, { reservedWei }) => sum + BigInt(reservedWei ?? 0), 0n);
  return { reservation, toWei: maxGasWei, operation: { kind: draft.row.kind, othersWei } };
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

const store = async (sql: Sql, drafts: readonly Draft[]): Promise<void> => {
  const changed = drafts.flatMap(({ row, changes, changedAt: now }) =>
    changes === 0
      ? []
      : [{ id: row.id, status: row.status, sub_status: row.subStatus, failure: row.failure, changes, now }],
  );
  const events = drafts.flatMap((draft) => draft.events);
  const projectEvents = drafts.flatMap((draft) => draft.projectEvents);
  await changeTogether(sql, [
    ...(changed.length === 0 ? [] : [{ text: UPDATE_OPERATIONS, values: [JSON.stringify(changed)] }]),
    ...(events.length === 0 ? [] : [{ text: INSERT_EVENTS, values: [JSON.stringify(toStored(events))] }]),
    ...(projectEvents.length === 0 ? [] : [eventsPart(projectEvents)]),
  ]);
  for (const { row, events: own } of drafts) if (own.length > 0) announceEvents(sql, row.id);
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
  sponsorship: Pick<SponsorshipService, "changeReservations">,
  steps: readonly OperationStep[],
): Promise<(Stepped | null)[]> => {
  const moves = steps.map((step) => {
    if (step.kind === "begin") return null;
    const move = toMove(step);
    return { ...move, write: toWrite(move) };
  });
  const drafts = await readDrafts(sql, steps);
  const moved = await writeLegs(
    sql,
    moves.flatMap((move) => move?.write ?? []),
  );
  const reservations: ReservationChange[] = [];
  const holds: Parameters<typeof syncHolds>[1][number][] = [];
  const claims: LegClaim[] = [];
  const released: string[] = [];
  const results = steps.map((step, index): Stepped | null => {
    const draft = drafts.get(operationIdOf(step));
    if (draft === undefined) return null;
    const move = moves[index] ?? null;
    const leg = move === null ? null : moved.get(move.write);
    if (leg === undefined || (step.kind === "begin" && !begin(draft, step.now))) return null;
    if (move !== null && leg !== null) {
      const { id, state } = move.leg;
      // The first step of a leg also begins its operation, whose events stay in that order.
      begin(draft, move.now);
      follow(draft, move, leg);
      if (isHeld(state) !== isHeld(move.to)) holds.push({ id, held: isHeld(move.to), now: move.now });
      const change = reservationChange(draft, move, leg);
      if (change !== null) reservations.push(change);
      if (move.refund !== undefined) claims.push({ ...move.refund, legId: id, now: move.now });
      else if (state === "refund_seen" && move.to !== "refunded") released.push(id);
    }
    const { status, subStatus } = draft.row;
    return { leg, status, subStatus };
  });
  await syncHolds(sql, holds);
  await releaseRefunds(sql, released);
  await claimRefunds(sql, claims);
  await store(sql, [...drafts.values()]);
  // Last, because all who spend of a project's budget wait for each other from here on.
  await sponsorship.changeReservations(sql, reservations);
  return results;
};
