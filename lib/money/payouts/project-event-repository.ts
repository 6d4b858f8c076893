import { failureRecord } from "@/lib/contracts/common";
import type { EventType } from "@/lib/contracts/events";
import type { DOUBT_DECISIONS } from "@/lib/contracts/payout-doubts";
import type { Sql } from "@/lib/platform/db/sql";
import { recordEventsOn } from "@/lib/news/events/service";
import type { Payout, PayoutFailure } from "./payout";

type PayoutEventType = Extract<EventType, `payout.${string}`>;

interface State {
  readonly payoutId: string;
  readonly projectId: string;
  readonly kind: string;
  readonly mode: string;
  readonly status: string;
  readonly subStatus: string;
  readonly reference: string | null;
  /**
   * The account that pays, in a payout between accounts and in a withdrawal; null when the project
   * funds the payout.
   */
  readonly sourceAccountId: string | null;
  readonly itemsTotal: number;
  readonly itemsCompleted: number;
  readonly itemsFailed: number;
  readonly failure: PayoutFailure | null;
}

interface StateRow extends Omit<State, "failure"> {
  /** JSON of a `PayoutFailure`, or null. */
  readonly failure: unknown;
}

const storedFailure = failureRecord.nullable();

const READ = `
  SELECT id AS "payoutId", project_id AS "projectId", kind, mode, status, sub_status AS "subStatus", reference, source_account_id AS "sourceAccountId",
    items_total AS "itemsTotal", items_completed AS "itemsCompleted", items_failed AS "itemsFailed", failure
  FROM payout WHERE project_id = $1 AND id = ANY($2::text[])`;

const readStates = async (
  sql: Sql,
  projectId: string,
  payoutIds: readonly string[],
): Promise<readonly State[]> => {
  const rows = await sql.query<StateRow>(READ, [projectId, payoutIds]);
  return rows.map((row) => ({ ...row, failure: storedFailure.parse(row.failure) }));
};

/**
 * Writes a project event with the new state of each payout. Call it in the transaction that changed
 * the payouts, because that transaction has locked their rows.
 */
export const recordPayoutEvents = async (
  sql: Sql,
  change: {
    readonly projectId: string;
    readonly payoutIds: readonly string[];
    readonly type: PayoutEventType;
    readonly at: Date;
  },
): Promise<void> => {
  const { payoutIds, type, at } = change;
  const states = await readStates(sql, change.projectId, payoutIds);
  const events = states.map(({ projectId, ...data }) => ({
    projectId,
    type,
    objectId: data.payoutId,
    data,
    at,
  }));
  await recordEventsOn(sql, events);
};

/** Writes the first event of a payout, in the transaction that stores the payout. */
export const recordCreated = (sql: Sql, payout: Payout): Promise<void> => {
  const { id, projectId, createdAt } = payout;
  const data: Omit<State, "projectId"> = {
    payoutId: id,
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
  return recordEventsOn(sql, [
    { projectId, type: "payout.created", objectId: id, data: { ...data }, at: createdAt },
  ]);
};

/** A row of a payout that could not be paid, with the reason. */
export interface FailedItem {
  readonly index: number;
  readonly failure: PayoutFailure | null;
}

/**
 * The maximum number of characters of a failure message in an event. The contract of a token may
 * return a longer reason; the row of the payout stores all of it.
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
 * Writes an event for each row that failed individually, in the transaction that stores the
 * failures.
 */
export const recordFailedItems = async (
  sql: Sql,
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
    sql,
    items.map(({ index, failure }) => ({
      ...common,
      data: { payoutId, index, failure: shortened(failure) },
    })),
  );
};

/** A decision about the rows of a batch in doubt, which another operation may have paid. */
export interface DecidedDoubt {
  readonly batch: number;
  readonly decision: (typeof DOUBT_DECISIONS)[number];
  /** Indexes of the rows that were paid; `unpaidRows` has the other rows of the batch. */
  readonly paidRows: readonly number[];
  readonly unpaidRows: readonly number[];
}

/**
 * Writes the event of a decision about a batch in doubt. Call it in the transaction that stores the
 * decision, because that transaction has locked the payout's row.
 */
export const recordDecidedDoubt = async (
  sql: Sql,
  {
    projectId,
    payoutId,
    at,
    ...decided
  }: DecidedDoubt & { projectId: string; payoutId: string; at: Date },
): Promise<void> => {
  const data = { payoutId, ...decided };
  await recordEventsOn(sql, [
    { projectId, type: "payout.doubt_decided", objectId: payoutId, data, at },
  ]);
};
