import type { Status } from "@/lib/core/status";
import { announce } from "@/lib/db/announcements";
import type { Database, Tx } from "@/lib/db/client";
import type { OperationEvent as EventRow } from "@/lib/db/generated/client";
import { storedText } from "@/lib/ports/routing-json";
import { parseEvent, type OperationEvent } from "./operation";
import { recordOperationEvents } from "./project-event-repository";

/** On which operations with new events are announced. */
export const EVENT_CHANNEL = "operation_event";

/** Announces, when the transaction commits, that an operation has new events. */
export const announceEvents = (transaction: object, operationId: string): void => {
  announce(transaction, { channel: EVENT_CHANNEL, payload: operationId });
};

/**
 * Appends an event to the operation's list, and to the project's unless it is only a step of a leg. The caller holds
 * the lock of the operation's row, so that sequence numbers have no gaps or duplicates.
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

/** The position after which a stream wants an operation's events. */
export interface EventCursor {
  readonly operationId: string;
  readonly afterSeq: number;
}

/** An operation's status, and its events after the cursor, read at the same moment. */
export interface OperationEvents {
  readonly operationId: string;
  readonly status: Status;
  readonly events: readonly OperationEvent[];
}

interface EventsRow {
  readonly operationId: string;
  readonly status: string;
  /** Null, like the fields below, where there is no event. */
  readonly seq: number | null;
  readonly type: string;
  readonly data: EventRow["data"];
  readonly createdAt: Date;
}

// The events of an operation have no gaps, so the next ones are found by their numbers.
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
  const found = new Map<string, { operationId: string; status: Status; events: OperationEvent[] }>();
  for (const { status, ...row } of rows) {
    const { operationId, seq } = row;
    const known = found.get(operationId) ?? { operationId, status: status as Status, events: [] };
    if (seq !== null) known.events.push(parseEvent({ ...row, seq }));
    found.set(operationId, known);
  }
  return [...found.values()];
};

/** Reads events for any number of streams at once. */
export const createEventRepository = ({ pool }: Pick<Database, "pool">) => ({
  eventsAfter: async (cursors: readonly EventCursor[], limit: number): Promise<readonly OperationEvents[]> => {
    const values = [...cursorColumns(cursors), limit];
    const { rows } = await pool.query<EventsRow>({ name: "operation_events", text: EVENTS_AFTER, values });
    return groupEvents(rows);
  },

  /** The operations that have events after their cursors; one statement for any number of them. */
  withNews: async (cursors: readonly EventCursor[]): Promise<readonly string[]> => {
    const values = cursorColumns(cursors);
    const { rows } = await pool.query<{ id: string }>({ name: "operation_news", text: WITH_NEWS, values });
    return rows.map(({ id }) => id);
  },
});

export type EventRepository = ReturnType<typeof createEventRepository>;
