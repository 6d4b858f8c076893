import { EVENT_TYPES, type EventType } from "@/lib/contracts/events";
import { type NewEvent, recordEvents } from "@/lib/news/events/service";
import { isPrivateKind } from "@/lib/core/movement-kinds";
import type { Database, Tx } from "@/lib/platform/db/client";
import { mayMove, type Status } from "@/lib/core/status";
import { announce, keptSqlOn, sqlOf } from "@/lib/platform/db/sql";
import { sql } from "@/lib/platform/db/statement";
import { base, json, nullable, type RowOf, table, text } from "@/lib/platform/db/table";
import { storedText } from "@/lib/platform/db/codecs";
import {
  type Failure,
  type OperationEvent,
  operationEvents,
  operationStatus,
  operationSubStatus,
  storedFailure,
} from "./rows";
import { toBigIntOrNull } from "@/lib/platform/db/decimal";
import {
  isLegFinal,
  type LegResult,
  type LegState,
  type OperationSummary,
  summarizeLegs,
} from "./summary";
import type { FeeExcess } from "@/lib/core/capped-fees";

const reportedStates = table({
  id: text,
  projectId: text,
  kind: text,
  status: text,
  subStatus: text,
  failure: nullable(json(storedFailure)),
  retryOf: nullable(text),
  /**
   * The id of a transfer that began with a quote; otherwise null. Its creation was reported with
   * the quote, so it is not reported again.
   */
  quotedId: nullable(text),
  /**
   * The id of a private transfer, which is created together with its operation; otherwise null.
   */
  privateId: nullable(text),
});

type ReportedState = RowOf<typeof reportedStates>;

/**
 * Returns the event type; undefined for steps of single legs, which are not events of the project.
 */
const asProjectEventType = (text: string): EventType | undefined =>
  EVENT_TYPES.find((type) => type === text);

/**
 * The project's events about a new state of an operation: one for the operation, and one for the
 * transfer that the operation carries out.
 */
export const projectEventsOf = (
  {
    projectId,
    quotedId,
    privateId,
    kind,
    status,
    subStatus,
    failure,
    retryOf,
    ...operation
  }: ReportedState,
  { type, now }: { readonly type: string; readonly now: Date },
): NewEvent[] => {
  const known = asProjectEventType(type);
  if (known === undefined) return [];
  const transferId = privateId ?? quotedId;
  const common = { projectId, private: isPrivateKind(kind), at: now };
  const data = {
    operationId: operation.id,
    transferId,
    kind,
    status,
    subStatus,
    failure,
    retryOf,
  };
  const own = { ...common, type: known, objectId: operation.id, data };
  const transferType = asProjectEventType(type.replace("operation.", "transfer."));
  const isReported = privateId === null && transferType === "transfer.created";
  const isNews = transferId !== null && transferType !== undefined && !isReported;
  return [own, ...(isNews ? [{ ...own, type: transferType, objectId: transferId }] : [])];
};

const readState = (
  tx: Tx,
  projectId: string,
  operationId: string,
): Promise<ReportedState | null> =>
  reportedStates.first(
    sqlOf(tx),
    sql`
      SELECT ${reportedStates.columns("reported")}
      FROM (
        SELECT o.id, o.project_id, o.kind, o.status, o.sub_status, o.failure, o.retry_of,
          q.transfer_id AS quoted_id,
          p.id AS private_id
        FROM operation o
        LEFT JOIN quote q ON q.project_id = o.project_id AND q.operation_id = o.id
        LEFT JOIN privacy_transfer p ON p.project_id = o.project_id AND p.operation_id = o.id
        WHERE o.project_id = ${projectId} AND o.id = ${operationId}
      ) AS reported`,
  );

/**
 * Writes the project's events about the new state of an operation. Steps of single legs are not
 * written. The caller holds the lock of the operation's row.
 */
const recordOperationEvents = async (
  tx: Tx,
  event: {
    readonly projectId: string;
    readonly operationId: string;
    readonly type: string;
    readonly now: Date;
  },
): Promise<void> => {
  const { projectId, operationId, type, now } = event;
  if (asProjectEventType(type) === undefined) return;
  const state = await readState(tx, projectId, operationId);
  if (state !== null) await recordEvents(tx, projectEventsOf(state, { type, now }));
};

export const EVENT_CHANNEL = "operation_event";

export const announceEvents = (transaction: object, operationId: string): void => {
  announce(transaction, { channel: EVENT_CHANNEL, payload: operationId });
};

/**
 * Appends an event to the operation's events. An event of the operation, and not of a single leg,
 * is also an event of the project. The caller holds the lock of the operation's row, so that
 * sequence numbers have no gaps or duplicates.
 */
export const appendEvent = async (
  tx: Tx,
  event: { projectId: string; operationId: string; type: string; data: unknown; now: Date },
): Promise<void> => {
  await sqlOf(tx).change(sql`
    INSERT INTO operation_event (project_id, operation_id, seq, type, data, created_at)
    SELECT
      ${event.projectId},
      ${event.operationId},
      coalesce(max(seq), 0) + 1,
      ${event.type},
      ${storedText(event.data)}::jsonb,
      ${event.now}::timestamptz
    FROM operation_event
    WHERE project_id = ${event.projectId} AND operation_id = ${event.operationId}`);
  await recordOperationEvents(tx, event);
  announceEvents(tx, event.operationId);
};

/** A stream's position in an operation's events. */
export interface EventCursor {
  readonly operationId: string;
  readonly afterSeq: number;
}

export interface OperationEvents {
  readonly operationId: string;
  readonly status: Status;
  readonly events: readonly OperationEvent[];
}

const streams = table({ id: text, status: operationStatus });
const ids = table({ id: text });

interface StreamRow {
  /** The event's sequence number. All columns of the event are null when there is no new event. */
  readonly seq: number | null;
}

const groupEvents = (rows: readonly StreamRow[]): OperationEvents[] => {
  const found = new Map<
    string,
    { operationId: string; status: Status; events: OperationEvent[] }
  >();
  for (const row of rows) {
    const { id: operationId, status } = streams.read(row);
    const known = found.get(operationId) ?? { operationId, status, events: [] };
    if (row.seq !== null) known.events.push(operationEvents.read(row));
    found.set(operationId, known);
  }
  return [...found.values()];
};

const listOf = (cursors: readonly EventCursor[]) => sql`
  unnest(
    ${cursors.map(({ operationId }) => operationId)}::text[],
    ${cursors.map(({ afterSeq }) => afterSeq)}::int[]
  ) AS w (id, after_seq)`;

export const createEventRepository = ({ pool }: Pick<Database, "pool">) => {
  const db = keptSqlOn(pool);
  return {
    // Sequence numbers have no gaps, so the page is selected by a range of numbers instead of
    // LIMIT.
    eventsAfter: async (
      cursors: readonly EventCursor[],
      limit: number,
    ): Promise<readonly OperationEvents[]> =>
      groupEvents(
        await db.query<StreamRow>(sql`
          SELECT ${streams.columns("o")}, ${operationEvents.columns("e")}
          FROM ${listOf(cursors)}
          JOIN operation o ON o.id = w.id
          LEFT JOIN operation_event e
            ON e.project_id = o.project_id
            AND e.operation_id = o.id
            AND e.seq > w.after_seq
            AND e.seq <= w.after_seq + ${limit}::int
          ORDER BY o.id, e.seq`),
      ),

    withNews: async (cursors: readonly EventCursor[]): Promise<readonly string[]> => {
      const found = await ids.all(
        db,
        sql`
          SELECT DISTINCT e.operation_id AS id
          FROM ${listOf(cursors)}
          JOIN operation_event e ON e.operation_id = w.id AND e.seq > w.after_seq`,
      );
      return found.map(({ id }) => id);
    },
  };
};

export type EventRepository = ReturnType<typeof createEventRepository>;

// Inside a transaction, an operation's row is locked first and then updated from the states of its
// legs.

export interface OperationKey {
  readonly projectId: string;
  readonly id: string;
}

const lockedOperations = table({
  id: text,
  projectId: text,
  kind: text,
  status: operationStatus,
  subStatus: operationSubStatus,
  minimumBase: base,
});

type LockedOperation = RowOf<typeof lockedOperations>;

/**
 * Locks the operation's row, so that changes of one operation are serialised.
 * @throws Error when there is no such operation
 */
export const lockOperation = async (
  tx: Tx,
  { projectId, id }: OperationKey,
): Promise<LockedOperation> => {
  const locked = await lockedOperations.first(
    sqlOf(tx),
    sql`
      SELECT ${lockedOperations.columns("o")} FROM operation o
      WHERE o.project_id = ${projectId} AND o.id = ${id}
      FOR NO KEY UPDATE`,
  );
  if (locked === null) throw new Error(`There is no operation ${id}.`);
  return locked;
};

/**
 * Derives the operation's state from its legs, which are in the order of their positions. Null when
 * the state does not change.
 * @param delayed whether the operation takes far longer than estimated; once true, it stays true
 */
export const settledState = <F = Failure>(
  operation: Pick<LockedOperation, "status" | "subStatus" | "minimumBase">,
  legs: readonly (LegResult & { readonly failure: F | null })[],
  delayed = false,
): (OperationSummary & { readonly failure: F | null }) | null => {
  const { minimumBase, subStatus } = operation;
  const next = summarizeLegs(legs, {
    minimumBase,
    delayed: delayed || subStatus === "delayed",
  });
  if (next.status === operation.status && next.subStatus === subStatus) return null;
  const hasEnded = legs.every(({ state }) => isLegFinal(state));
  const failure = hasEnded ? (legs.find((leg) => leg.failure !== null)?.failure ?? null) : null;
  return { ...next, failure };
};

/**
 * Updates the operation's status from its legs. The caller holds the lock of its row.
 * @param delayed whether the operation takes far longer than estimated; once true, it stays true
 */
export const settleOperation = async (
  tx: Tx,
  operation: LockedOperation,
  now: Date,
  delayed = false,
): Promise<void> => {
  const legs = await tx.operationLeg.findMany({
    where: { projectId: operation.projectId, operationId: operation.id },
    orderBy: { position: "asc" },
    select: { state: true, failure: true, receivedBase: true },
  });
  const results = legs.map(({ state, receivedBase, failure }) => ({
    state: state as LegState,
    receivedBase: toBigIntOrNull(receivedBase),
    failure,
  }));
  const next = settledState(operation, results, delayed);
  if (next === null) return;
  const before = operation.status;
  if (next.status !== before && !mayMove(before, next.status)) {
    throw new Error(`An operation may not go from ${before} to ${next.status}.`);
  }
  const { failure } = next;
  await tx.operation.updateMany({
    where: { projectId: operation.projectId, id: operation.id },
    data: {
      status: next.status,
      subStatus: next.subStatus,
      version: { increment: 1 },
      updatedAt: now,
      ...(failure === null ? {} : { failure }),
    },
  });
  await appendEvent(tx, {
    projectId: operation.projectId,
    operationId: operation.id,
    type: `operation.${next.status}`,
    data: { status: next.status, subStatus: next.subStatus },
    now,
  });
};

export const gasWaitColumns = ({ pricePerGas, capPerGas }: FeeExcess) => ({
  price: pricePerGas.toString(),
  cap: capPerGas.toString(),
});

/**
 * Stores which network fees operations wait for. No decision depends on these waits, so a write
 * needs no version check. An operation that has ended is not changed.
 */
export const createGasWaitRepository = (database: Database) => {
  const { prisma } = database;

  const update = async (
    { projectId, id }: OperationKey,
    chain: string,
    entry: string,
  ): Promise<boolean> => {
    const count = await sqlOf(prisma).change(sql`
      UPDATE operation SET gas_waits = jsonb_set(
        gas_waits,
        ARRAY[${chain}::text],
        (gas_waits -> ${chain}::text) || ${entry}::jsonb
      )
      WHERE project_id = ${projectId} AND id = ${id} AND gas_waits ? ${chain}::text`);
    return count > 0;
  };

  return {
    /**
     * Stores the current price of the network fee for which the operation waits. The first wait on
     * a chain also appends an event to the operation.
     */
    note: async (
      of: OperationKey,
      chainId: number,
      excess: FeeExcess,
      now: Date,
    ): Promise<void> => {
      const chain = String(chainId);
      const columns = gasWaitColumns(excess);
      if (await update(of, chain, JSON.stringify(columns))) return;
      const entry = JSON.stringify({ [chain]: { ...columns, since: now.toISOString() } });
      await database.transaction(async (tx) => {
        await lockOperation(tx, of);
        const count = await sqlOf(tx).change(sql`
          UPDATE operation SET gas_waits = coalesce(gas_waits, '{}'::jsonb) || ${entry}::jsonb
          WHERE project_id = ${of.projectId}
            AND id = ${of.id}
            AND status IN ('pending', 'processing')
            AND NOT coalesce(gas_waits ? ${chain}::text, false)`);
        if (count > 0)
          await appendEvent(tx, {
            projectId: of.projectId,
            operationId: of.id,
            type: "operation.waits_for_gas",
            data: { chainId, ...excess },
            now,
          });
      });
    },

    /**
     * Removes the wait, because the price is below the cap again or the chain accepted the
     * transaction.
     */
    end: async (of: OperationKey, chainId: number, now: Date): Promise<void> => {
      const chain = String(chainId);
      await database.transaction(async (tx) => {
        await lockOperation(tx, of);
        const count = await sqlOf(tx).change(sql`
          UPDATE operation SET gas_waits = nullif(gas_waits - ${chain}::text, '{}'::jsonb)
          WHERE project_id = ${of.projectId} AND id = ${of.id} AND gas_waits ? ${chain}::text`);
        if (count > 0)
          await appendEvent(tx, {
            projectId: of.projectId,
            operationId: of.id,
            type: "operation.gas_fell",
            data: { chainId },
            now,
          });
      });
    },
  };
};

export type GasWaitRepository = ReturnType<typeof createGasWaitRepository>;
