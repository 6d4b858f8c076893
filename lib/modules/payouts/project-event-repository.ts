import { failureRecord } from "@/lib/contracts/common";
import type { EventType } from "@/lib/contracts/events";
import type { DOUBT_DECISIONS } from "@/lib/contracts/payout-doubts";
import type { Sql } from "@/lib/db/sql";
import type { StatementPart } from "@/lib/db/together";
import { eventsPart, recordEventsOn } from "@/lib/modules/events/service";
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
  /** Of a payout between accounts, and of a withdrawal; null where the project bears the payments. */
  readonly sourceAccountId: string | null;
  readonly itemsTotal: number;
  readonly itemsCompleted: number;
  readonly itemsFailed: number;
  readonly failure: PayoutFailure | null;
}

interface StateRow extends Omit<State, "failure"> {
  /** JSON. */
  readonly failure: unknown;
}

const storedFailure = failureRecord.nullable();

const READ = `
  SELECT id AS "payoutId", project_id AS "projectId", kind, mode, status, sub_status AS "subStatus", reference, source_account_id AS "sourceAccountId",
    items_total AS "itemsTotal", items_completed AS "itemsCompleted", items_failed AS "itemsFailed", failure
  FROM payout WHERE project_id = $1 AND id = ANY($2::text[])`;

const readStates = async (sql: Sql, projectId: string, payoutIds: readonly string[]): Promise<readonly State[]> => {
  const rows = await sql.query<StateRow>(READ, [projectId, payoutIds]);
  return rows.map((row) => ({ ...row, failure: storedFailure.parse(row.failure) }));
};

/**
 * Writes a project event about the new state of each payout, in the transaction that changed the payouts and so has locked their rows.
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
  const events = states.map(({ projectId, ...data }) => ({ projectId, type, objectId: data.payoutId, data, at }));
  await recordEventsOn(sql, events);
};

/** The first event of a payout, as a part of the statement that stores it. */
export const createdEventPart = (payout: Payout): StatementPart => {
  const { id, projectId, kind, mode, status, subStatus, reference, sourceAccountId, itemsTotal, createdAt } = payout;
  const counts = { itemsTotal, itemsCompleted: 0, itemsFailed: 0 };
  const state = { payoutId: id, kind, mode, status, subStatus, reference, sourceAccountId, ...counts, failure: null };
  const data: Omit<State, "projectId"> = state;
  return eventsPart([{ projectId, type: "payout.created", objectId: id, data: { ...data }, at: createdAt }]);
};

/** One row of a payout that could not be paid. */
export interface FailedItem {
  readonly index: number;
  readonly failure: PayoutFailure | null;
}

/** Characters of a reason in an event. A token's contract may return a longer reason; the payout's row contains all of it. */
const MESSAGE_MAX = 500;

const shortened = (failure: FailedItem["failure"]): FailedItem["failure"] =>
  failure === null
    ? null
    : {
        code: failure.code,
        message: Array.from(failure.message).slice(0, MESSAGE_MAX).join(""),
        retryable: failure.retryable,
      };

/** Writes an event for each row that failed separately, in the transaction that stores the failures. */
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
    items.map(({ index, failure }) => ({ ...common, data: { payoutId, index, failure: shortened(failure) } })),
  );
};

/** A decision about rows that another operation may have paid. */
export interface DecidedDoubt {
  readonly batch: number;
  readonly decision: (typeof DOUBT_DECISIONS)[number];
  /** Indexes of rows. */
  readonly paidRows: readonly number[];
  readonly unpaidRows: readonly number[];
}

/** Writes the event of a decision, in the transaction that stores it and has locked the payout's row. */
export const recordDecidedDoubt = async (
  sql: Sql,
  { projectId, payoutId, at, ...decided }: DecidedDoubt & { projectId: string; payoutId: string; at: Date },
): Promise<void> => {
  const data = { payoutId, ...decided };
  await recordEventsOn(sql, [{ projectId, type: "payout.doubt_decided", objectId: payoutId, data, at }]);
};
