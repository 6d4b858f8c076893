import {
  EVENT_READERS,
  type EventGroup,
  groupOf,
  groupsNamed,
  KEY_GROUPS,
  scopesOfGroup,
  typesWhere,
} from "@/lib/contracts/event-readers";
import type { EventType } from "@/lib/contracts/events";
import { type Actor, mayReadPrivate, requireScope } from "@/lib/core/actor";
import { DomainError } from "@/lib/core/errors";
import { requirePermission, roleMay } from "@/lib/core/permissions";
import { newId } from "@/lib/core/ids";
import type { Tx } from "@/lib/platform/db/client";
import { type Sql, sqlOf, type SqlReader } from "@/lib/platform/db/sql";
import { eventsHead, insertOutbox, lastSequenceOf, listEvents } from "./repository";
import type { ArchivedRange, EventRow, OutboxRow } from "./rows";

// A caller may read the events of the objects that the caller may read.

const mayReadGroup = (actor: Actor, group: EventGroup): boolean => {
  if (actor.type === "apiKey")
    return scopesOfGroup(group)?.every((scope) => actor.scopes.includes(scope)) ?? false;
  const { permission } = EVENT_READERS[group];
  return permission === undefined || roleMay(actor.role, permission);
};

/**
 * Whether the caller may read events of this type. Every caller may read events without an object,
 * such as `webhook.test`.
 */
export const mayReadEvent = (actor: Actor, type: string): boolean => {
  const group = groupOf(type);
  return group === null || mayReadGroup(actor, group);
};

/** The types that the caller may read; null for all. */
const readableTypes = (actor: Actor): readonly EventType[] | null => {
  const types = typesWhere((group) => mayReadGroup(actor, group));
  return types.length === typesWhere(() => true).length ? null : types;
};

/**
 * The events in a caller's subscription. For an API key `*` means every group that keys can read.
 */
export const subscribedEvents = (actor: Actor, events: readonly string[]): readonly string[] =>
  actor.type === "apiKey" && events.includes("*")
    ? KEY_GROUPS.map((group) => `${group}.*`)
    : [...new Set(events)];

const peopleOnly = (group: EventGroup): DomainError =>
  new DomainError(
    "forbidden",
    `Events ${group}.* are about what only people may read, so an API key cannot have them sent. Nothing was changed; leave them out, or let a person do this.`,
  );

/**
 * Checks the scopes or the role that the events of a subscription need. Events that only people may
 * read pass this check, because a person decides where they are sent.
 * @throws DomainError `insufficient_scope` that names the missing scope, `forbidden` for a role
 */
export const requireScopesOfEvents = (actor: Actor, events: readonly string[]): void => {
  for (const group of groupsNamed(events)) {
    for (const scope of scopesOfGroup(group) ?? []) requireScope(actor, scope);
    const { permission } = EVENT_READERS[group];
    if (permission !== undefined) requirePermission(actor, permission);
  }
};

/**
 * Checks that the caller may read every event of a subscription, before the caller decides where
 * the events are sent.
 * @throws the DomainErrors of `requireScopesOfEvents`, and `forbidden` for events that keys cannot
 * read
 */
export const requireReadableEvents = (actor: Actor, events: readonly string[]): void => {
  requireScopesOfEvents(actor, events);
  const closed = groupsNamed(events).find((group) => scopesOfGroup(group) === null);
  if (actor.type === "apiKey" && closed !== undefined) throw peopleOnly(closed);
};

export { announceOutbox } from "./repository";
export type { EventRow, SequencedRange } from "./rows";

type EventData = Readonly<Record<string, string | number | boolean | null | object>>;

export interface NewEvent {
  readonly projectId: string;
  readonly type: EventType;
  /** The events of one object are delivered in order. */
  readonly objectId: string;
  /** Must not contain secrets, because it leaves the service. */
  readonly data: EventData;
  /**
   * True for a private movement: only callers who may read such movements get more than id, type
   * and sequence. Default false.
   */
  readonly private?: boolean;
  readonly at: Date;
}

/**
 * Stores events in the transaction of the state that they report, so that both are stored or
 * neither. Waits for no lock, and may be called anywhere in the transaction; numbers are assigned
 * after the commit (lib/news/events/sequencer.ts). The caller must hold the lock of the object's
 * row, otherwise two of its events may be numbered in the wrong order.
 * @example
 * await recordEventsOn(sql, [
 *   { projectId, type: "payout.completed", objectId: payoutId, data: { payoutId }, at: now },
 * ]);
 */
export const recordEventsOn = (sql: Sql, events: readonly NewEvent[]): Promise<void> =>
  insertOutbox(sql, toOutboxRows(events));

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

/** Like `recordEventsOn`, for Prisma transactions. */
export const recordEvents = (tx: Tx, events: readonly NewEvent[]): Promise<void> =>
  recordEventsOn(sqlOf(tx), events);

export interface EventPage {
  readonly data: readonly EventRow[];
  /**
   * The number after which the next page begins. Events that the caller may not read are skipped.
   */
  readonly nextAfter: number;
  readonly lastSequence: number;
  readonly archived: ArchivedRange | null;
  readonly mayReadPrivate: boolean;
}

/** The events of a project, for callers that missed some. */
export const createEventsService = ({ reader }: { readonly reader: SqlReader }) => ({
  /**
   * Returns up to `limit` events with a number above `after`, oldest first, and the project's last
   * number. Events that the caller may not read are left out. `archived` is the first archived
   * range that ends after `after`, with the name of its file; null when there is none. The
   * serializer omits the data of private events unless `mayReadPrivate`.
   */
  list: async (
    actor: Actor,
    query: { readonly after: number; readonly limit: number },
  ): Promise<EventPage> => {
    const { projectId } = actor;
    const types = readableTypes(actor);
    // Read before the events: all events up to this number are committed, so a page that is not
    // full includes all of them.
    const passed = types === null ? query.after : await lastSequenceOf(reader, projectId);
    const data = await listEvents(reader, { projectId, ...query, types });
    const newest = data.at(-1)?.sequence ?? query.after;
    const nextAfter = data.length === query.limit ? newest : Math.max(newest, passed);
    // Read after the events: if a month is archived between the two reads, the response names its
    // file, so that a gap is always reported.
    const head = await eventsHead(reader, { projectId, after: query.after });
    return { data, nextAfter, ...head, mayReadPrivate: mayReadPrivate(actor) };
  },
});
