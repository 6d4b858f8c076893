/** Stores the browsers that get push messages, and finds the browsers for a notification. */
import { NOTIFICATION_KINDS } from "@/lib/contracts/notifications";
import type { Sql, SqlReader } from "@/lib/platform/db/sql";
import { raw, sql } from "@/lib/platform/db/statement";
import { oneOf, type RowOf, table, text, time } from "@/lib/platform/db/table";
import { insertJobOn } from "@/lib/platform/jobs/service";
import { z } from "zod";
import type { Notification } from "./rows";

/** Table `push_subscription`: a browser to which a person's push messages are sent. */
const subscriptions = table({
  id: text,
  userId: text,
  sessionId: text,
  endpoint: text,
  p256dh: text,
  auth: text,
  createdAt: time,
});

export type PushSubscription = RowOf<typeof subscriptions>;

/**
 * SQL: whether the session of the subscription `p` lasts. A subscription ends with its session.
 */
const LIVES = raw(
  `EXISTS (
    SELECT 1 FROM session s
    WHERE s.id = p.session_id AND s.revoked_at IS NULL AND s.expires_at > now()
  )`,
);

/** The push subscriptions of these people, oldest first. */
export const listSubscriptions = (
  db: SqlReader,
  userIds: readonly string[],
): Promise<PushSubscription[]> =>
  subscriptions.all(
    db,
    sql`
      SELECT ${subscriptions.columns("p")} FROM push_subscription p
      WHERE p.user_id = ANY (${userIds}::text[]) AND ${LIVES}
      ORDER BY p.id`,
  );

const findSubscription = (db: SqlReader, id: string): Promise<PushSubscription | null> =>
  subscriptions.first(
    db,
    sql`
      SELECT ${subscriptions.columns("p")} FROM push_subscription p
      WHERE p.id = ${id} AND ${LIVES}`,
  );

const SUBSCRIPTIONS_MAX = 20;

/**
 * Stores the subscription. It replaces earlier subscriptions of the same session or the same
 * browser; a repeated subscription of the same browser keeps its earlier id. The person's oldest
 * subscriptions above the maximum are removed.
 */
export const storeSubscription = async (
  db: Sql,
  subscription: PushSubscription,
): Promise<PushSubscription> => {
  const { userId, sessionId, endpoint } = subscription;
  await db.change(sql`
    DELETE FROM push_subscription
    WHERE endpoint <> ${endpoint}
      AND (session_id = ${sessionId} OR id IN (
        SELECT id FROM push_subscription
        WHERE user_id = ${userId}
        ORDER BY id DESC
        OFFSET ${raw(String(SUBSCRIPTIONS_MAX - 1))}
      ))`);
  const stored = await subscriptions.first(
    db,
    sql`
      INSERT INTO push_subscription AS p (${subscriptions.names})
      VALUES (${subscriptions.values(subscription)})
      ON CONFLICT (endpoint) DO UPDATE SET
        user_id = EXCLUDED.user_id,
        session_id = EXCLUDED.session_id,
        p256dh = EXCLUDED.p256dh,
        auth = EXCLUDED.auth
      RETURNING ${subscriptions.columns("p")}`,
  );
  return stored ?? subscription;
};

export const removeSubscription = async (
  db: Sql,
  { userId, id }: Pick<PushSubscription, "userId" | "id">,
): Promise<boolean> => {
  const removed = await db.change(sql`
    DELETE FROM push_subscription WHERE user_id = ${userId} AND id = ${id}`);
  return removed === 1;
};

const PUSH_QUEUE = "push";

/** Stores a job for each browser of the people whose notifications are pushed. */
export const insertPushes = async (
  db: Sql,
  all: readonly Notification[],
  now: Date,
): Promise<void> => {
  const pushed = all.filter(({ pushTitle }) => pushTitle !== null);
  if (pushed.length === 0) return;
  const browsers = await listSubscriptions(db, [
    ...new Set(pushed.map(({ userId }) => userId)),
  ]);
  for (const { projectId, userId, id } of pushed)
    for (const browser of browsers)
      if (browser.userId === userId)
        await insertJobOn(db, {
          id: [projectId, userId, id, browser.id].join("/"),
          queue: PUSH_QUEUE,
          runAt: now,
        });
};

const pushed = table({
  kind: oneOf(z.enum(NOTIFICATION_KINDS)),
  pushTitle: text,
  path: text,
  createdAt: time,
});

export interface DuePush {
  readonly notification: RowOf<typeof pushed>;
  readonly browser: PushSubscription;
}

/**
 * The notification and the browser of a push job. Null when the notification was read or deleted,
 * or when the browser gets no more messages.
 */
export const findPush = async (
  db: SqlReader,
  job: {
    readonly projectId: string;
    readonly userId: string;
    readonly notificationId: string;
    readonly subscriptionId: string;
  },
): Promise<DuePush | null> => {
  const { projectId, userId, notificationId, subscriptionId } = job;
  const [notification, browser] = await Promise.all([
    pushed.first(
      db,
      sql`
        SELECT ${pushed.columns()} FROM notification
        WHERE project_id = ${projectId}
          AND user_id = ${userId}
          AND id = ${notificationId}
          AND push_title IS NOT NULL
          AND read_at IS NULL`,
    ),
    findSubscription(db, subscriptionId),
  ]);
  return notification === null || browser === null || browser.userId !== userId
    ? null
    : { notification, browser };
};
