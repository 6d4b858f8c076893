import { type Actor, mayReadPrivate } from "@/lib/core/actor";
import type { Clock } from "@/lib/core/clock";
import { notFound } from "@/lib/core/errors";
import { isId, newId } from "@/lib/core/ids";
import type { Database } from "@/lib/platform/db/client";
import { isDistributed, type Sql, sqlOn, type SqlReader } from "@/lib/platform/db/sql";
import { mayReadEvent, requireScopesOfEvents } from "@/lib/news/events/service";
import type { Attempt, Delivery, EndpointKey, EndpointView } from "./rows";
import { deliveryBody } from "./rules";
import {
  findDelivery,
  type FoundDelivery,
  hasEvent,
  insertDelivery,
  listAttempts,
  listDeliveries,
  type NewDelivery,
} from "./delivery-repository";
import { wakeEndpoint } from "./lane-repository";
import { eventIsArchived, isArchived, isDisabled, rangeTooLong } from "./errors";
import { archiveOf, replayEvents } from "./fan-out-repository";

interface DeliveriesDeps {
  readonly database: Database;
  readonly clock: Clock;
  /**
   * The project's endpoint with this id.
   * @throws DomainError `not_found`
   */
  find(projectId: string, endpointId: string): Promise<EndpointView>;
  /**
   * Requires the permission to manage endpoints.
   * @throws DomainError `forbidden`
   */
  mayChange(actor: Actor): void;
}

const REPLAY_NUMBERS_MAX = 10_000;
const TEST_TYPE = "webhook.test";

/** Removes details from an attempt, including the receiver's response, which may repeat them. */
const withoutDetails = (delivery: FoundDelivery, attempt: Attempt): Attempt => {
  const event = { ...delivery, objectSequence: 0, payload: "{}" };
  const requestBody = deliveryBody(event, { payload: "thin", includePrivate: false });
  return { ...attempt, requestBody, responseBody: attempt.responseBody === null ? null : "" };
};

/**
 * Stores deliveries and wakes their endpoint in the same transaction. On a cluster, the deliveries
 * are on a node and the endpoint is on the coordinator. The node may commit later, so a worker
 * that is woken by the coordinator may not see the deliveries yet. The endpoint is therefore woken
 * again after the commit.
 */
const createQueueing =
  ({ database, clock }: Pick<DeliveriesDeps, "database" | "clock">) =>
  async <T>(key: EndpointKey, work: (sql: Sql) => Promise<T>): Promise<T> => {
    const result = await database.rawTransaction(async (sql) => {
      if (!(await wakeEndpoint(sql, key, clock.now()))) throw notFound();
      return work(sql);
    });
    if (isDistributed(database.pool))
      await database.rawStatement((sql) => wakeEndpoint(sql, key, clock.now()));
    return result;
  };

interface DeliveryQuery {
  readonly limit: number;
  readonly cursor?: string | undefined;
  readonly status?: string | undefined;
  readonly type?: string | undefined;
}

const createList =
  ({ find, reader }: Pick<DeliveriesDeps, "find"> & { readonly reader: SqlReader }) =>
  async (
    projectId: string,
    endpointId: string,
    query: DeliveryQuery,
  ): Promise<{ data: readonly Delivery[]; nextCursor: string | null }> => {
    await find(projectId, endpointId);
    const { cursor: before, limit, ...filter } = query;
    const rows = await listDeliveries(reader, {
      projectId,
      endpointId,
      ...filter,
      before,
      limit: limit + 1,
    });
    const data = rows.slice(0, limit);
    return { data, nextCursor: rows.length > limit ? (data.at(-1)?.id ?? null) : null };
  };

/** Lists deliveries, and queues new ones on request. The worker sends them. */
export const createDeliveriesService = ({
  database,
  clock,
  find,
  mayChange,
}: DeliveriesDeps) => {
  const reader = sqlOn(database.pool);

  const get = async (projectId: string, id: string): Promise<FoundDelivery> => {
    const delivery = isId("delivery", id) ? await findDelivery(reader, projectId, id) : null;
    if (delivery === null) throw notFound();
    return delivery;
  };

  const awake = async (actor: Actor, endpointId: string): Promise<EndpointView> => {
    mayChange(actor);
    const endpoint = await find(actor.projectId, endpointId);
    if (endpoint.status === "disabled") throw isDisabled();
    return endpoint;
  };

  const queue = createQueueing({ database, clock });

  const add = async (delivery: Omit<NewDelivery, "id" | "createdAt">): Promise<Delivery> => {
    const id = newId("delivery");
    await queue(delivery, async (sql) => {
      await insertDelivery(sql, { ...delivery, id, createdAt: clock.now() });
      // Checked after the insert, because the insert waits for an archive run that removes the
      // event. A test delivery has no event.
      const hasNone =
        delivery.sequence > 0 && !(await hasEvent(sql, delivery.projectId, delivery.sequence));
      if (hasNone) throw eventIsArchived();
    });
    return get(delivery.projectId, id);
  };

  return {
    list: createList({ find, reader }),

    /**
     * A delivery with its attempts, without details that the actor may not read.
     * @throws DomainError `not_found`
     */
    get: async (
      actor: Actor,
      id: string,
    ): Promise<{ delivery: Delivery; attempts: readonly Attempt[] }> => {
      const { projectId } = actor;
      const delivery = await get(projectId, id);
      const attempts = await listAttempts(reader, projectId, id);
      const isShown =
        mayReadEvent(actor, delivery.type) && (!delivery.private || mayReadPrivate(actor));
      return {
        delivery,
        attempts: isShown ? attempts : attempts.map((one) => withoutDetails(delivery, one)),
      };
    },

    /**
     * Queues a test delivery to the endpoint.
     * @throws DomainError `not_found`, `invalid_state` while the endpoint is disabled
     */
    test: async (actor: Actor, endpointId: string): Promise<Delivery> => {
      const { projectId } = await awake(actor, endpointId);
      const event = {
        eventId: newId("event"),
        type: TEST_TYPE,
        sequence: 0,
        previousSequence: null,
      };
      return add({ projectId, endpointId, kind: "test", objectId: endpointId, ...event });
    },

    /**
     * Queues the event of a delivery once more, whatever the delivery's outcome.
     * @throws DomainError `not_found`, `invalid_state`
     */
    resend: async (actor: Actor, id: string): Promise<Delivery> => {
      const { projectId, endpointId, eventId, type, sequence, previousSequence, objectId } =
        await get(actor.projectId, id);
      await awake(actor, endpointId);
      requireScopesOfEvents(actor, [type]);
      return add({
        projectId,
        endpointId,
        kind: "resend",
        eventId,
        type,
        sequence,
        previousSequence,
        objectId,
      });
    },

    /**
     * Queues the events with the sequence numbers `from` to `to`, both inclusive, once more.
     * @returns the number of queued events
     * @throws DomainError `invalid_request`, `invalid_state`
     */
    replay: async (
      actor: Actor,
      endpointId: string,
      { from, to }: { readonly from: number; readonly to: number },
    ): Promise<{ queued: number }> => {
      if (to - from >= REPLAY_NUMBERS_MAX) throw rangeTooLong(REPLAY_NUMBERS_MAX);
      const { projectId, events } = await awake(actor, endpointId);
      requireScopesOfEvents(actor, events);
      const range = { projectId, endpointId, events, from, to, now: clock.now() };
      const queued = await queue(range, async (sql) => {
        const count = await replayEvents(sql, range);
        const file = await archiveOf(sql, range);
        if (file !== null) throw isArchived(file);
        return count;
      });
      return { queued };
    },
  };
};
