import type { Clock } from "@/lib/core/clock";
import { outageOf } from "@/lib/core/outage";
import { announce, type Sql, sqlOn } from "@/lib/platform/db/sql";
import type { Database } from "@/lib/platform/db/client";
import { CHANGE_CHANNEL } from "@/lib/news/feed/service";
import {
  dropDue,
  insertNotifications,
  peekDue,
  readNames,
  readRecipients,
  takeDue,
  type PeekedEvent,
} from "./due-repository";
import { messagesOf } from "./channel-message";
import { insertMessages, readSubscribed } from "./channel-repository";
import { nextDaily } from "@/lib/core/clock";
import { insertPushes } from "./push-repository";
import { type News, notificationsOf, type Voters } from "./notification";
import {
  type Deposited,
  depositedBy,
  type DueEvent,
  namedIn,
  newsOf,
  saysWhereMoneyIs,
} from "./news";

export interface MakeDeps {
  readonly database: Database;
  readonly decisions: {
    eligible(
      projectId: string,
      id: string,
      userIds: readonly string[],
    ): Promise<ReadonlySet<string>>;
  };
  /** In US dollars; null when the price is unknown. */
  worthOf(deposited: Deposited): Promise<number | null>;
  nextActionOf(projectId: string, objectId: string): Promise<string | null>;
  readonly clock: Clock;
  readonly log: { error(fields: object, message: string): void };
}

const EVENTS_MAX = 100;

const readNews = async (sql: Sql, events: readonly DueEvent[]): Promise<readonly News[]> => {
  const projectIds = [...new Set(events.map(({ projectId }) => projectId))];
  const names = await readNames(sql, { projectIds, ids: events.flatMap(namedIn) });
  return events.flatMap((event) => newsOf(event, names) ?? []);
};

/** Facts for a notification that are not in its event. */
type Facts = Pick<DueEvent, "depositUsd" | "nextAction">;
const NO_FACTS: Facts = { depositUsd: null, nextAction: null };

/**
 * One turn takes events out of the queue and stores each person's notification, in one transaction.
 * So each person gets each event exactly once, even if an instance crashes. Any number of instances
 * may run turns at the same time.
 */
export const createMaking = (deps: MakeDeps) => {
  const { database, decisions, clock, log } = deps;
  const reader = sqlOn(database.pool);

  const votersOf = async (
    all: readonly News[],
    people: ReadonlyMap<string, readonly { userId: string }[]>,
  ) => {
    const voters = new Map<string, ReadonlySet<string>>();
    for (const { projectId, decisionId } of all) {
      if (decisionId === null) continue;
      const userIds = (people.get(projectId) ?? []).map(({ userId }) => userId);
      voters.set(decisionId, await decisions.eligible(projectId, decisionId, userIds));
    }
    return voters satisfies Voters;
  };

  const readFacts = async (event: PeekedEvent): Promise<Facts> => {
    if (saysWhereMoneyIs(event)) {
      const nextAction = await deps.nextActionOf(event.projectId, event.objectId);
      return { ...NO_FACTS, nextAction };
    }
    const deposited = depositedBy(event);
    if (deposited === null) return NO_FACTS;
    return { ...NO_FACTS, depositUsd: await deps.worthOf(deposited) };
  };

  /**
   * The facts by event id. They are read before the transaction, because prices need the network.
   * An event whose facts cannot be read is reported without them.
   */
  const factsOf = async (
    peeked: readonly PeekedEvent[],
  ): Promise<ReadonlyMap<string, Facts>> => {
    const facts = await Promise.all(
      peeked.map(
        async (event) => [event.id, await readFacts(event).catch(() => NO_FACTS)] as const,
      ),
    );
    return new Map(facts);
  };

  /**
   * Handles the events in one transaction.
   * @returns the number of events that no other instance has taken
   */
  const makeIn = (
    peeked: readonly PeekedEvent[],
    facts: ReadonlyMap<string, Facts>,
  ): Promise<number> =>
    database.rawTransaction(async (sql) => {
      const taken = await takeDue(sql, peeked);
      const events = taken.map((event) => ({ ...event, ...(facts.get(event.id) ?? NO_FACTS) }));
      const all = await readNews(sql, events);
      const people = await readRecipients(sql, [
        ...new Set(all.map(({ projectId }) => projectId)),
      ]);
      const voters = await votersOf(all, people);
      const now = clock.now();
      const made = all.flatMap((news) =>
        notificationsOf(news, people.get(news.projectId) ?? [], voters),
      );
      await insertNotifications(sql, made, { atOnce: now, daily: nextDaily(now) });
      await insertPushes(sql, made, now);
      const subscribed = await readSubscribed(sql, [...people.keys()]);
      await insertMessages(sql, messagesOf(all, subscribed));
      for (const payload of new Set(made.map(({ projectId }) => projectId)))
        announce(sql, { channel: CHANGE_CHANNEL, payload });
      return events.length;
    });

  /**
   * Handles a batch of events. When that fails, handles both halves of the batch separately, down
   * to the single event that cannot be read or stored. That event is dropped, so that it does not
   * block the others.
   * @returns the number of events that were handled or dropped
   */
  const make = async (
    peeked: readonly PeekedEvent[],
    facts: ReadonlyMap<string, Facts>,
  ): Promise<number> => {
    const [first] = peeked;
    if (first === undefined) return 0;
    try {
      return await makeIn(peeked, facts);
    } catch (error) {
      // Every event would fail during an outage; the next turn tries again.
      if (outageOf(error) !== null) throw error;
      if (peeked.length === 1) {
        await database.rawTransaction((sql) => dropDue(sql, first));
        const { projectId, id, type } = first;
        log.error(
          { projectId, eventId: id, type, error },
          "an event was dropped of which nobody can be notified",
        );
        return 1;
      }
      const half = Math.ceil(peeked.length / 2);
      return (
        (await make(peeked.slice(0, half), facts)) + (await make(peeked.slice(half), facts))
      );
    }
  };

  /**
   * Handles one batch of queued events.
   * @returns whether more events may be due now
   */
  const turn = async (): Promise<boolean> => {
    const peeked = await peekDue(reader, EVENTS_MAX);
    // With fewer events, the queue is empty or another instance has taken some of them. In both
    // cases this instance stops until it is called again.
    return (await make(peeked, await factsOf(peeked))) === EVENTS_MAX;
  };

  return {
    /** Runs until no event waits, or another instance has taken some. */
    makeDue: async (): Promise<void> => {
      while (await turn());
    },
  };
};
