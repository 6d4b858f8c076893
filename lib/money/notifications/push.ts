/** Push messages to a person's browsers, as long as the browser's session lasts. */
import type { UserActor } from "@/lib/core/actor";
import type { Clock } from "@/lib/core/clock";
import { DomainError, invalidRequest, notFound } from "@/lib/core/errors";
import { newId } from "@/lib/core/ids";
import type { Database } from "@/lib/platform/db/client";
import { sqlOn } from "@/lib/platform/db/sql";
import { retryAfterMs } from "@/lib/money/webhooks/service";
import type { Pusher } from "@/lib/money/ports/pusher";
import { mayBeTold } from "./notification";
import {
  findPush,
  listSubscriptions,
  type PushSubscription,
  removeSubscription,
  storeSubscription,
} from "./push-repository";
import { readAddressee } from "./repository";

interface PushDeps {
  readonly database: Database;
  /** Null when no key is configured. */
  readonly pusher: Pusher | null;
  readonly clock: Clock;
}

export interface PushSubscriptions {
  /** The key that browsers subscribe with; null when no push message is sent. */
  readonly publicKey: string | null;
  readonly data: readonly PushSubscription[];
}

interface NewSubscription {
  readonly endpoint: string;
  readonly keys: { readonly p256dh: string; readonly auth: string };
}

const isOff = (): DomainError =>
  new DomainError(
    "invalid_state",
    "This service sends no push messages. Whoever runs it sets VAPID_PRIVATE_KEY.",
  );

export const createPushService = ({ database, pusher, clock }: PushDeps) => {
  const reader = sqlOn(database.pool);
  return {
    /** The person's browsers, oldest first. */
    list: async ({ userId }: UserActor): Promise<PushSubscriptions> => ({
      publicKey: pusher?.publicKey ?? null,
      data: pusher === null ? [] : await listSubscriptions(reader, [userId]),
    }),

    /**
     * Stores the browser of the person's session, so that it gets push messages.
     * @throws DomainError `invalid_state` when no key is configured, `invalid_request` for a URL
     * that is not allowed
     */
    subscribe: async (
      { userId, sessionId }: UserActor,
      { endpoint, keys }: NewSubscription,
    ): Promise<PushSubscription> => {
      if (pusher === null) throw isOff();
      const problem = await pusher.check(endpoint);
      if (problem !== null)
        throw invalidRequest(
          [{ path: "endpoint", message: problem, code: "forbidden_target" }],
          problem,
        );
      const subscription = {
        id: newId("pushSubscription"),
        userId,
        sessionId,
        endpoint,
        ...keys,
        createdAt: clock.now(),
      };
      return database.rawTransaction((sql) => storeSubscription(sql, subscription));
    },

    /**
     * Removes a browser of the person, so that it gets no more messages.
     * @throws DomainError `not_found`
     */
    unsubscribe: async ({ userId }: UserActor, id: string): Promise<{ id: string }> => {
      const isRemoved = await database.rawTransaction((sql) =>
        removeSubscription(sql, { userId, id }),
      );
      if (!isRemoved) throw notFound();
      return { id };
    },
  };
};

type Turn = { readonly done: true } | { readonly done: false; readonly againInMs: number };
const DONE: Turn = { done: true };

const DAY_MS = 24 * 3_600_000;
const RETRY_MIN_MS = 5000;
const RETRY_MAX_MS = 3_600_000;
/**
 * HTTP statuses that a push service returns after the browser has unsubscribed, or has subscribed
 * with another key of this service.
 */
const GONE: ReadonlySet<number> = new Set([403, 404, 410]);

const isPassing = (statusCode: number | null): boolean =>
  statusCode === null || statusCode === 429 || statusCode >= 500;

/**
 * Milliseconds until the next try. The pause equals the age of the notification, so it doubles
 * with each try.
 */
const waitOf = (ageMs: number): number => Math.min(RETRY_MAX_MS, Math.max(RETRY_MIN_MS, ageMs));

export const createPushDelivery = ({ database, pusher, clock }: PushDeps) => {
  const reader = sqlOn(database.pool);
  return {
    /**
     * One turn of the job that pushes a notification to a browser. The job tries for a day.
     * @param jobId ids of the project, the person, the notification and the subscription
     */
    deliver: async (jobId: string, signal: AbortSignal): Promise<Turn> => {
      const [projectId = "", userId = "", notificationId = "", subscriptionId = ""] =
        jobId.split("/");
      const job = { projectId, userId, notificationId, subscriptionId };
      const due = pusher === null ? null : await findPush(reader, job);
      if (pusher === null || due === null) return DONE;
      const { notification, browser } = due;
      const ageMs = clock.now().getTime() - notification.createdAt.getTime();
      // The role is checked again, because the person may have left or changed role while the
      // message waited.
      const person = await database.rawTransaction((sql) => readAddressee(sql, job));
      if (person === null || !mayBeTold(person.role, notification.kind) || ageMs > DAY_MS)
        return DONE;
      const message = { title: notification.pushTitle, path: notification.path };
      const { statusCode, headers } = await pusher.push(browser, message, signal);
      // The worker stops, so the outcome is unknown and the message is pushed again.
      if (signal.aborted && statusCode === null)
        return { done: false, againInMs: RETRY_MIN_MS };
      if (statusCode !== null && GONE.has(statusCode)) {
        await database.rawTransaction((sql) => removeSubscription(sql, browser));
        return DONE;
      }
      if (!isPassing(statusCode)) return DONE;
      const againInMs = Math.max(
        retryAfterMs(headers["retry-after"], clock.now()) ?? 0,
        waitOf(ageMs),
      );
      return { done: false, againInMs };
    },
  };
};
