import { mayReadPrivate, type Actor } from "@/lib/core/actor";
import type { EventType } from "@/lib/contracts/events";
import { newId } from "@/lib/core/ids";
import type { Tx } from "@/lib/db/client";
import { sqlOf, type Sql, type SqlReader } from "@/lib/db/sql";
import type { StatementPart } from "@/lib/db/together";
import {
  eventsHead,
  insertOutbox,
  listEvents,
  outboxPart,
  type ArchivedRange,
  type EventRow,
  type OutboxRow,
} from "./repository";

export { announceOutbox } from "./repository";
export type { EventRow, SequencedRange } from "./repository";

export type EventData = Readonly<Record<string, string | number | boolean | null | object>>;

export interface NewEvent {
  readonly projectId: string;
  readonly type: EventType;
  /** The object of the event. The events of one object are delivered in order. */
  readonly objectId: string;
  /** Never a secret: it leaves the service. */
  readonly data: EventData;
  /** Of a private movement: only those who may read such movements get more than id, type and sequence. Default false. */
  readonly private?: boolean;
  readonly at: Date;
}

/**
 * Stores events in the transaction of the state that they report: neither is there without the other. It only appends, so it may come
 * at any place of the transaction and waits for nobody; numbers are given after the commit (lib/modules/events/sequencer.ts). Whoever
 * writes events of an object must hold the lock of the object's row, or two events of it may be numbered in the wrong order.
 * @example
 * await recordEventsOn(sql, [{ projectId, type: "payout.completed", objectId: payoutId, data: { payoutId }, at: now }]);
 */
export const recordEventsOn = (sql: Sql, events: readonly NewEvent[]): Promise<void> =>
  insertOutbox(sql, toOutboxRows(events));

/**
 * The events of `recordEventsOn` as a part of the statement that stores the state. The caller also calls `announceOutbox`, or the events wait until the
 * sequencer polls.
 */
export const eventsPart = (events: readonly NewEvent[]): StatementPart => outboxPart(toOutboxRows(events));

const toOutboxRows = (events: readonly NewEvent[]): OutboxRow[] =>
  events.map(({ projectId, type, objectId, data, private: isPrivate = false, at }) => ({
    projectId,
    id: newId("event"),
    type,
    objectId,
    payload: JSON.stringify(data),
    private: isPrivate,
    createdAt: at,
  }));

/** As `recordEventsOn`, for transactions of Prisma's. */
export const recordEvents = (tx: Tx, events: readonly NewEvent[]): Promise<void> => recordEventsOn(sqlOf(tx), events);

export interface EventPage {
  readonly data: readonly EventRow[];
  readonly lastSequence: number;
  readonly archived: ArchivedRange | null;
  readonly mayReadPrivate: boolean;
}

/** The events of a project, for callers that missed some of them. */
export const createEventsService = ({ reader }: { readonly reader: SqlReader }) => ({
  /**
   * Up to `limit` events with a number above `after`, oldest first, and the project's last number. `archived` names the file that has those
   * which are missing. The serializer leaves the data of private ones out unless `mayReadPrivate`.
   */
  list: async (actor: Actor, query: { readonly after: number; readonly limit: number }): Promise<EventPage> => {
    const { projectId } = actor;
    const data = await listEvents(reader, { projectId, ...query });
    // Read after the events: when a month is archived between the two reads, the answer names its file, and no gap goes unsaid.
    const head = await eventsHead(reader, { projectId, after: query.after });
    return { data, ...head, mayReadPrivate: mayReadPrivate(actor) };
  },
});
