import { EVENT_TYPES, type EventType } from "@/lib/contracts/events";
import { type NewEvent, recordEvents } from "@/lib/news/events/service";
import { type Failure, storedFailure } from "./leg";
import { isPrivateKind } from "@/lib/core/movement-kinds";
import type { Database, Tx } from "@/lib/platform/db/client";
import { mayMove, type Status, type SubStatus } from "@/lib/core/status";
import { announce } from "@/lib/platform/db/sql";
import type { OperationEvent as EventRow } from "@/lib/platform/db/generated/client";
import { storedText } from "@/lib/platform/db/codecs";
import { type OperationEvent, parseEvent } from "./operation";
import { toBigIntOrNull } from "@/lib/platform/db/decimal";
import {
  isLegFinal,
  type LegResult,
  type LegState,
  type OperationSummary,
  summarizeLegs,
} from "./summary";
import type { FeeExcess } from "@/lib/core/capped-fees";

/** The state of an operation as its project's events report it. */
interface ReportedState {
  readonly id: string;
  readonly projectId: string;
  readonly kind: string;
  readonly status: string;
  readonly subStatus: string;
  readonly failure: Failure | null;
  readonly retryOf: string | null;
  /** Set for a quoted transfer. Its creation was reported together with the quote. */
  readonly quotedId: string | null;
  /** Set for a private transfer, which is created together with its operation. */
  readonly privateId: string | null;
}

/** Undefined for a step of a single leg, which is no event of the project. */
const asProjectEventType = (text: string): EventType | undefined =>
  EVENT_TYPES.find((type) => type === text);

/**
 * The project's events about a new state of an operation: one for the operation, and one for the
 * transfer that it carries out.
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
  const data = { operationId: operation.id, transferId, kind, status, subStatus, failure, retryOf };
  const own = { ...common, type: known, objectId: operation.id, data };
  const transferType = asProjectEventType(type.replace("operation.", "transfer."));
  const isReported = privateId === null && transferType === "transfer.created";
  const isNews = transferId !== null && transferType !== undefined && !isReported;
  return [own, ...(isNews ? [{ ...own, type: transferType, objectId: transferId }] : [])];
};

interface StateRow extends Omit<ReportedState, "failure"> {
  /** JSON text. */
  readonly failure: unknown;
}

const readState = async (
  tx: Tx,
  projectId: string,
  operationId: string,
): Promise<ReportedState | null> => {
  const [row] = await tx.$queryRaw<StateRow[]>`
    SELECT o.id, o.project_id AS "projectId", o.kind, o.status, o.sub_status AS "subStatus", o.failure, o.retry_of AS "retryOf",
      q.transfer_id AS "quotedId", p.id AS "privateId"
    FROM operation o
    LEFT JOIN quote q ON q.project_id = o.project_id AND q.operation_id = o.id
    LEFT JOIN privacy_transfer p ON p.project_id = o.project_id AND p.operation_id = o.id
    WHERE o.project_id = ${projectId} AND o.id = ${operationId}`;
  return row === undefined
    ? null
    : { ...row, failure: storedFailure.nullable().parse(row.failure) };
};

/**
 * Writes the project's events about the new state of an operation. Steps of single legs are not
 * events of the project. The caller holds the lock of the operation's row.
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

/** The Postgres channel that announces operations with new events. */
export const EVENT_CHANNEL = "operation_event";

/** Announces, when the transaction commits, that an operation has new events. */
export const announceEvents = (transaction: object, operationId: string): void => {
  announce(transaction, { channel: EVENT_CHANNEL, payload: operationId });
};

/**
 * Appends an event to the operation's list, and to the project's unless it is only a step of a leg.
 * The caller holds the lock of the operation's row, so that sequence numbers have no gaps or
 * duplicates.
 */
export const appendEvent = async (
  tx: Tx,
  event: { projectId: string; operationId: string; type: string; data: unknown; now: Date },
): Promise<void> => {
  await tx.$executeRaw`
    INSERT INTO operation_event (project_id, operation_id, seq, type, data, created_at)
    SELECT ${event.projectId}, ${event.operationId}, coalesce(max(seq), 0) + 1, ${event.type}, ${storedText(event.data)}::jsonb,
      ${event.now}
    FROM operation_event WHERE project_id = ${event.projectId} AND operation_id = ${event.operationId}`;
  await recordOperationEvents(tx, event);
  announceEvents(tx, event.operationId);
};

/** The sequence number after which a stream wants an operation's events. */
export interface EventCursor {
  readonly operationId: string;
  readonly afterSeq: number;
}

/** An operation's status and its events after the cursor, read in one statement. */
export interface OperationEvents {
  readonly operationId: string;
  readonly status: Status;
  readonly events: readonly OperationEvent[];
}

interface EventsRow {
  readonly operationId: string;
  readonly status: string;
  /** Null, like the fields below, when there is no new event. */
  readonly seq: number | null;
  readonly type: string;
  readonly data: EventRow["data"];
  readonly createdAt: Date;
}

// The events of an operation are numbered without gaps, so the next ones are found by number.
const EVENTS_AFTER = `
  SELECT o.id AS "operationId", o.status, e.seq, e.type, e.data, e.created_at AS "createdAt"
  FROM unnest($1::text[], $2::int[]) AS w (id, after_seq)
  JOIN operation o ON o.id = w.id
  LEFT JOIN operation_event e
    ON e.project_id = o.project_id AND e.operation_id = o.id AND e.seq > w.after_seq AND e.seq <= w.after_seq + $3
  ORDER BY o.id, e.seq`;

const WITH_NEWS = `
  SELECT DISTINCT e.operation_id AS id FROM unnest($1::text[], $2::int[]) AS w (id, after_seq)
  JOIN operation_event e ON e.operation_id = w.id AND e.seq > w.after_seq`;

const cursorColumns = (cursors: readonly EventCursor[]): [string[], number[]] => [
  cursors.map(({ operationId }) => operationId),
  cursors.map(({ afterSeq }) => afterSeq),
];

const groupEvents = (rows: readonly EventsRow[]): OperationEvents[] => {
  const found = new Map<
    string,
    { operationId: string; status: Status; events: OperationEvent[] }
  >();
  for (const { status, ...row } of rows) {
    const { operationId, seq } = row;
    const known = found.get(operationId) ?? { operationId, status: status as Status, events: [] };
    if (seq !== null) known.events.push(parseEvent({ ...row, seq }));
    found.set(operationId, known);
  }
  return [...found.values()];
};

/** Reads events for any number of streams with one statement. */
export const createEventRepository = ({ pool }: Pick<Database, "pool">) => ({
  eventsAfter: async (
    cursors: readonly EventCursor[],
    limit: number,
  ): Promise<readonly OperationEvents[]> => {
    const values = [...cursorColumns(cursors), limit];
    const { rows } = await pool.query<EventsRow>({
      name: "operation_events",
      text: EVENTS_AFTER,
      values,
    });
    return groupEvents(rows);
  },

  /** Finds which operations have events after their cursors, in one statement. */
  withNews: async (cursors: readonly EventCursor[]): Promise<readonly string[]> => {
    const values = cursorColumns(cursors);
    const { rows } = await pool.query<{ id: string }>({
      name: "operation_news",
      text: WITH_NEWS,
      values,
    });
    return rows.map(({ id }) => id);
  },
});

export type EventRepository = ReturnType<typeof createEventRepository>;

// The row of an operation inside a transaction: locked first, then updated from the states of its
// legs.

/** Identifies an operation of a project. */
export interface OperationKey {
  readonly projectId: string;
  readonly id: string;
}

interface LockedOperation {
  readonly id: string;
  readonly projectId: string;
  readonly kind: string;
  readonly status: Status;
  readonly subStatus: SubStatus;
  readonly minimumBase: bigint;
}

/**
 * Locks the operation's row, so that changes of one operation run one after another.
 * @throws Error when there is no such operation
 */
export const lockOperation = async (
  tx: Tx,
  { projectId, id }: OperationKey,
): Promise<LockedOperation> => {
  // CHECK constraints limit the columns to the values of these types.
  const [row] = await tx.$queryRaw<
    (Omit<LockedOperation, "minimumBase"> & { minimumBase: string })[]
  >`
    SELECT id, project_id AS "projectId", kind, status, sub_status AS "subStatus", minimum_base::text AS "minimumBase"
    FROM operation WHERE project_id = ${projectId} AND id = ${id} FOR NO KEY UPDATE`;
  if (row === undefined) throw new Error(`There is no operation ${id}.`);
  return { ...row, minimumBase: BigInt(row.minimumBase) };
};

/**
 * The operation's state as derived from its legs, in the order of their positions. Null when the
 * state does not change.
 * @param delayed whether it takes far longer than estimated; once true, it stays true
 */
export const settledState = <F = Failure>(
  operation: Pick<LockedOperation, "status" | "subStatus" | "minimumBase">,
  legs: readonly (LegResult & { readonly failure: F | null })[],
  delayed = false,
): (OperationSummary & { readonly failure: F | null }) | null => {
  const { minimumBase, subStatus } = operation;
  const next = summarizeLegs(legs, { minimumBase, delayed: delayed || subStatus === "delayed" });
  if (next.status === operation.status && next.subStatus === subStatus) return null;
  const hasEnded = legs.every(({ state }) => isLegFinal(state));
  const failure = hasEnded ? (legs.find((leg) => leg.failure !== null)?.failure ?? null) : null;
  return { ...next, failure };
};

/**
 * Updates the operation's status from its legs. The caller holds the lock of its row.
 * @param delayed whether it takes far longer than estimated; once true, it stays true
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

/** A chain's price and cap, in the form of one entry of the column `gas_waits`. */
export const gasWaitColumns = ({ pricePerGas, capPerGas }: FeeExcess) => ({
  price: pricePerGas.toString(),
  cap: capPerGas.toString(),
});

/**
 * Stores which network fees operations wait for. The waits are only information: no decision
 * depends on them, so a write needs no version check. An operation that has ended is not changed.
 */
export const createGasWaitRepository = (database: Database) => {
  const { prisma } = database;

  /** Updates the price of a stored wait. Returns false when none is stored. */
  const update = async (
    { projectId, id }: OperationKey,
    chain: string,
    entry: string,
  ): Promise<boolean> => {
    const count = await prisma.$executeRaw`
      UPDATE operation SET gas_waits = jsonb_set(gas_waits, ARRAY[${chain}], (gas_waits -> ${chain}) || ${entry}::jsonb)
      WHERE project_id = ${projectId} AND id = ${id} AND gas_waits ? ${chain}`;
    return count > 0;
  };

  return {
    /**
     * Stores the price for which the operation waits. The first wait is an event of the operation.
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
        const count = await tx.$executeRaw`
          UPDATE operation SET gas_waits = coalesce(gas_waits, '{}'::jsonb) || ${entry}::jsonb
          WHERE project_id = ${of.projectId} AND id = ${of.id} AND status IN ('pending', 'processing')
            AND NOT coalesce(gas_waits ? ${chain}, false)`;
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
        const count = await tx.$executeRaw`
          UPDATE operation SET gas_waits = nullif(gas_waits - ${chain}, '{}'::jsonb)
          WHERE project_id = ${of.projectId} AND id = ${of.id} AND gas_waits ? ${chain}`;
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
