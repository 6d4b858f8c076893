import { failureRecord } from "@/lib/contracts/common";
import type { EventType } from "@/lib/contracts/events";
import type { DOUBT_DECISIONS } from "@/lib/contracts/payout-doubts";
import type { Sql } from "@/lib/platform/db/sql";
import { sql } from "@/lib/platform/db/statement";
import { int, json, nullable, type RowOf, table, text } from "@/lib/platform/db/table";
import { recordEventsOn } from "@/lib/news/events/service";
import type { Payout, PayoutFailure } from "./payout";

type PayoutEventType = Extract<EventType, `payout.${string}`>;

/** The state of a payout, as the project's events report it. */
const states = table({
  id: text,
  kind: text,
  mode: text,
  status: text,
  subStatus: text,
  reference: nullable(text),
  /**
   * The account that pays, in a payout between accounts and in a withdrawal; null when the project
   * funds the payout.
   */
  sourceAccountId: nullable(text),
  itemsTotal: int,
  itemsCompleted: int,
  itemsFailed: int,
  failure: nullable(json(failureRecord)),
});

type State = RowOf<typeof states>;

/**
 * Writes a project event with the new state of each payout. Call it in the transaction that changed
 * the payouts, because that transaction has locked their rows.
 */
export const recordPayoutEvents = async (
  db: Sql,
  change: {
    readonly projectId: string;
    readonly payoutIds: readonly string[];
    readonly type: PayoutEventType;
    readonly at: Date;
  },
): Promise<void> => {
  const { projectId, payoutIds, type, at } = change;
  const changed = await states.all(
    db,
    sql`
      SELECT ${states.columns("p")} FROM payout p
      WHERE p.project_id = ${projectId} AND p.id = ANY(${payoutIds}::text[])`,
  );
  const events = changed.map(({ id, ...state }) => ({
    projectId,
    type,
    objectId: id,
    data: { payoutId: id, ...state },
    at,
  }));
  await recordEventsOn(db, events);
};

/** Writes the first event of a payout. Call it in the transaction that stores the payout. */
export const recordCreated = (db: Sql, payout: Payout): Promise<void> => {
  const { id, projectId, createdAt } = payout;
  const state: Omit<State, "id"> = {
    kind: payout.kind,
    mode: payout.mode,
    status: payout.status,
    subStatus: payout.subStatus,
    reference: payout.reference,
    sourceAccountId: payout.sourceAccountId,
    itemsTotal: payout.itemsTotal,
    itemsCompleted: payout.itemsCompleted,
    itemsFailed: payout.itemsFailed,
    failure: payout.failure,
  };
  return recordEventsOn(db, [
    {
      projectId,
      type: "payout.created",
      objectId: id,
      data: { payoutId: id, ...state },
      at: createdAt,
    },
  ]);
};

export interface FailedItem {
  readonly index: number;
  readonly failure: PayoutFailure | null;
}

/**
 * The maximum number of characters of a failure message in an event. A longer message, such as a
 * reason that a token's contract returns, is shortened in the event. The row of the payout stores
 * the whole message.
 */
const MESSAGE_MAX = 500;

const shortened = (failure: FailedItem["failure"]): FailedItem["failure"] =>
  failure === null
    ? null
    : {
        code: failure.code,
        message: Array.from(failure.message).slice(0, MESSAGE_MAX).join(""),
        retryable: failure.retryable,
      };

/**
 * Writes an event for each row that failed individually. Call it in the transaction that stores the
 * failures.
 */
export const recordFailedItems = async (
  db: Sql,
  failed: {
    readonly projectId: string;
    readonly payoutId: string;
    readonly items: readonly FailedItem[];
    readonly at: Date;
  },
): Promise<void> => {
  const { projectId, payoutId, items, at } = failed;
  if (items.length === 0) return;
  const common = { projectId, type: "payout.item.failed", objectId: payoutId, at } as const;
  await recordEventsOn(
    db,
    items.map(({ index, failure }) => ({
      ...common,
      data: { payoutId, index, failure: shortened(failure) },
    })),
  );
};

export interface DecidedDoubt {
  readonly batch: number;
  readonly decision: (typeof DOUBT_DECISIONS)[number];
  /** Indexes of the rows that were paid. */
  readonly paidRows: readonly number[];
  /** Indexes of the other rows of the batch. */
  readonly unpaidRows: readonly number[];
}

/**
 * Writes the event of a decision about a batch in doubt. Call it in the transaction that stores the
 * decision, because that transaction has locked the payout's row.
 */
export const recordDecidedDoubt = async (
  db: Sql,
  {
    projectId,
    payoutId,
    at,
    ...decided
  }: DecidedDoubt & { projectId: string; payoutId: string; at: Date },
): Promise<void> => {
  const data = { payoutId, ...decided };
  await recordEventsOn(db, [
    { projectId, type: "payout.doubt_decided", objectId: payoutId, data, at },
  ]);
};
