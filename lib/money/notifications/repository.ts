import type { MailTime, NotificationKind } from "@/lib/contracts/notifications";
import type { Sql, SqlReader } from "@/lib/platform/db/sql";
import { join, raw, sql } from "@/lib/platform/db/statement";
import { int, type RowOf, table, text } from "@/lib/platform/db/table";
import type { NotificationFilter } from "./notification";
import {
  addressees,
  approvalEnds,
  boxes,
  type GasAlert,
  gasAlerts,
  isKind,
  type ListedNotification,
  listedNotifications,
  mailedNotifications,
  preferences,
  type WaitingMail,
} from "./rows";

const ids = table({ id: text });
const names = table({ name: text });

export const readProjectName = async (db: SqlReader, projectId: string): Promise<string> => {
  const found = await names.first(db, sql`SELECT name FROM project WHERE id = ${projectId}`);
  return found?.name ?? "";
};

/** A person of a project, and the kinds that the person's role may see. */
export interface Owner {
  readonly projectId: string;
  readonly userId: string;
  readonly kinds: readonly NotificationKind[];
}

/** SQL: the result of an approval for which an operation or payout waited. */
const ENDED_WAITING = raw(
  `CASE
    WHEN sub_status = 'awaiting_approval' AND status IN ('cancelled', 'expired') THEN status
    ELSE 'approved'
  END AS ended`,
);
const WAITS = raw("status = 'pending' AND sub_status = 'awaiting_approval'");

const readEnds = async (
  db: SqlReader,
  projectId: string,
  objectIds: readonly string[],
): Promise<ReadonlyMap<string, ListedNotification["ended"]>> => {
  if (objectIds.length === 0) return new Map();
  const here = sql`project_id = ${projectId} AND id = ANY (${objectIds}::text[])`;
  const found = await approvalEnds.all(
    db,
    sql`
      SELECT ${approvalEnds.columns("e")}
      FROM (
        SELECT id, state AS ended FROM decision_request WHERE ${here} AND state <> 'open'
        UNION ALL
        SELECT id, ${ENDED_WAITING} FROM operation WHERE ${here} AND NOT (${WAITS})
        UNION ALL
        SELECT id, ${ENDED_WAITING} FROM payout WHERE ${here} AND NOT (${WAITS})
      ) AS e`,
  );
  return new Map(found.map(({ id, ended }) => [id, ended]));
};

/** The notifications of a person, newest first. */
export const listNotifications = async (
  db: SqlReader,
  { projectId, userId, kinds }: Owner,
  {
    filter,
    before,
    limit,
  }: { filter: NotificationFilter; before: string | null; limit: number },
): Promise<readonly ListedNotification[]> => {
  const { unread, from, to } = filter;
  const conditions = [
    sql`n.project_id = ${projectId}`,
    sql`n.user_id = ${userId}`,
    sql`n.in_app`,
    sql`n.kind = ANY (${kinds}::text[])`,
    ...(before === null ? [] : [sql`n.id < ${before}`]),
    ...(unread === "true" ? [sql`n.read_at IS NULL`] : []),
    ...(from === undefined ? [] : [sql`n.created_at >= ${from}::timestamptz`]),
    ...(to === undefined ? [] : [sql`n.created_at < ${to}::timestamptz`]),
  ];
  const rows = await listedNotifications.all(
    db,
    sql`
      SELECT ${listedNotifications.columns("n")} FROM notification n
      WHERE ${join(conditions, " AND ")}
      ORDER BY n.id DESC
      LIMIT ${limit}::int`,
  );
  const waited = rows.flatMap(({ kind, objectId }) =>
    kind === "approval_waiting" ? (objectId ?? []) : [],
  );
  const ends = await readEnds(db, projectId, waited);
  return rows.map((row) => ({
    ...row,
    ended: row.kind === "approval_waiting" ? (ends.get(row.objectId ?? "") ?? null) : null,
  }));
};

const UNREAD_MAX = 1000;
const counts = table({ count: int });

export const countUnread = async (
  db: SqlReader,
  { projectId, userId, kinds }: Owner,
): Promise<number> => {
  const unread = await counts.first(
    db,
    sql`
      SELECT count(*)::int AS count FROM (
        SELECT 1 FROM notification
        WHERE project_id = ${projectId}
          AND user_id = ${userId}
          AND in_app
          AND read_at IS NULL
          AND kind = ANY (${kinds}::text[])
        LIMIT ${raw(String(UNREAD_MAX))}
      ) n`,
  );
  return unread?.count ?? 0;
};

/**
 * Marks the listed notifications, or all up to `upTo`, as read. Earlier reading times are not
 * changed.
 */
export const markRead = async (
  db: Sql,
  { projectId, userId }: Pick<Owner, "projectId" | "userId">,
  read: { readonly ids: readonly string[]; readonly upTo: string | null; readonly at: Date },
): Promise<void> => {
  await db.change(sql`
    WITH done AS (
      UPDATE notification SET read_at = ${read.at}::timestamptz
      WHERE project_id = ${projectId}
        AND user_id = ${userId}
        AND in_app
        AND read_at IS NULL
        AND (id = ANY (${read.ids}::text[]) OR id <= ${read.upTo})
      RETURNING project_id, user_id
    )
    UPDATE notification_box b SET version = b.version + 1
    FROM (SELECT DISTINCT project_id, user_id FROM done) d
    WHERE b.project_id = d.project_id AND b.user_id = d.user_id`);
};

type Person = RowOf<typeof boxes>;

interface StoredPreference extends RowOf<typeof preferences> {
  readonly kind: NotificationKind;
}

export const readPreferences = async (
  db: SqlReader,
  { projectId, userId }: Person,
): Promise<readonly StoredPreference[]> => {
  const stored = await preferences.all(
    db,
    sql`
      SELECT ${preferences.columns()} FROM notification_preference
      WHERE project_id = ${projectId} AND user_id = ${userId}`,
  );
  return stored.flatMap(({ kind, ...choice }) => (isKind(kind) ? [{ kind, ...choice }] : []));
};

export const writePreferences = async (
  db: Sql,
  { projectId, userId }: Person,
  all: readonly StoredPreference[],
): Promise<void> => {
  await db.change(sql`
    INSERT INTO notification_preference (project_id, user_id, ${preferences.names})
    SELECT ${projectId}, ${userId}, ${preferences.names} FROM ${preferences.list(all)} AS chosen
    ON CONFLICT (project_id, user_id, kind) DO UPDATE SET
      in_app = EXCLUDED.in_app,
      mail = EXCLUDED.mail,
      push = EXCLUDED.push,
      threshold_usd = EXCLUDED.threshold_usd`);
};

export const stopMail = async (
  db: Sql,
  { projectId, userId }: Person,
  kinds: readonly NotificationKind[],
): Promise<void> => {
  await db.change(sql`
    UPDATE notification SET mail = 'none'
    WHERE project_id = ${projectId}
      AND user_id = ${userId}
      AND mail IN ('at_once', 'daily')
      AND kind = ANY (${kinds}::text[])`);
};

/** Returns the ids of the people who want mail of this kind at once. */
export const wantMailAtOnce = async (
  db: SqlReader,
  people: {
    readonly projectId: string;
    readonly userIds: readonly string[];
    readonly kind: NotificationKind;
    /** The default for people without settings. */
    readonly standard: MailTime;
  },
): Promise<ReadonlySet<string>> => {
  const rows = await ids.all(
    db,
    sql`
      SELECT u.id FROM unnest(${people.userIds}::text[]) AS u (id)
      LEFT JOIN notification_preference p
        ON p.project_id = ${people.projectId} AND p.user_id = u.id AND p.kind = ${people.kind}
      WHERE coalesce(p.mail, ${people.standard}) = 'at_once'`,
  );
  return new Set(rows.map(({ id }) => id));
};

export const raiseAlert = async (
  db: Sql,
  { chainId, account, balance, since }: Omit<GasAlert, "toldProjectId">,
): Promise<void> => {
  await db.change(sql`
    INSERT INTO gas_alert (chain_id, account, balance, since)
    VALUES (${chainId}::int, ${account}, ${balance}, ${since}::timestamptz)
    ON CONFLICT (chain_id, account) DO UPDATE SET balance = EXCLUDED.balance`);
};

export const endAlert = async (
  db: Sql,
  { chainId, account }: Pick<GasAlert, "chainId" | "account">,
): Promise<void> => {
  await db.change(sql`
    DELETE FROM gas_alert WHERE chain_id = ${chainId}::int AND account = ${account}`);
};

export const listAlerts = (db: SqlReader): Promise<readonly GasAlert[]> =>
  gasAlerts.all(
    db,
    sql`SELECT ${gasAlerts.columns()} FROM gas_alert ORDER BY chain_id, account`,
  );

/** Locks an alert about which some projects have not been notified yet. */
export const claimAlert = (db: Sql): Promise<GasAlert | null> =>
  gasAlerts.first(
    db,
    sql`
      SELECT ${gasAlerts.columns()} FROM gas_alert
      WHERE told_at IS NULL
      ORDER BY chain_id, account
      LIMIT 1
      FOR UPDATE SKIP LOCKED`,
  );

export const nextProjects = async (
  db: SqlReader,
  after: string,
  limit: number,
): Promise<readonly string[]> => {
  const rows = await ids.all(
    db,
    sql`SELECT id FROM project WHERE id > ${after} ORDER BY id LIMIT ${limit}::int`,
  );
  return rows.map(({ id }) => id);
};

/**
 * Stores the last project whose people were notified.
 * @param told `toldAt` is null while more projects remain
 */
export const advanceAlert = async (
  db: Sql,
  { chainId, account }: GasAlert,
  told: { readonly projectId: string; readonly toldAt: Date | null },
): Promise<void> => {
  await db.change(sql`
    UPDATE gas_alert SET
      told_project_id = ${told.projectId},
      told_at = ${told.toldAt}::timestamptz
    WHERE chain_id = ${chainId}::int AND account = ${account}`);
};

/**
 * Locks the box of a person whose mail is due, and who was not mailed after `mailedBefore`. Other
 * instances skip the row until the transaction ends.
 */
export const claimBox = (db: Sql, now: Date, mailedBefore: Date): Promise<Person | null> =>
  boxes.first(
    db,
    sql`
      SELECT ${boxes.columns()} FROM notification_box
      WHERE mail_due_at <= ${now}::timestamptz
        AND (mailed_at IS NULL OR mailed_at <= ${mailedBefore}::timestamptz)
      ORDER BY mail_due_at
      LIMIT 1
      FOR UPDATE SKIP LOCKED`,
  );

/**
 * The recipient of a person's notifications in a project; null when the person is no longer a
 * member.
 */
export const readAddressee = (
  db: Sql,
  { projectId, userId }: Person,
): Promise<RowOf<typeof addressees> | null> =>
  addressees.first(
    db,
    sql`
      SELECT p.name AS "projectName", m.role,
        CASE WHEN u.email_verified_at IS NOT NULL THEN u.email END AS email
      FROM membership m
      JOIN project p ON p.id = m.project_id
      JOIN app_user u ON u.id = m.user_id
      WHERE m.project_id = ${projectId} AND m.user_id = ${userId}`,
  );

/**
 * Marks the due notifications as sent, and returns them.
 * @param dailyBefore the daily mail includes notifications with lower ids than this one
 */
export const takeWaiting = async (
  db: Sql,
  { projectId, userId }: Person,
  dailyBefore: string,
): Promise<WaitingMail[]> => {
  const taken = await mailedNotifications.all(
    db,
    sql`
      UPDATE notification SET mail = 'sent'
      WHERE project_id = ${projectId}
        AND user_id = ${userId}
        AND (mail = 'at_once' OR (mail = 'daily' AND id < ${dailyBefore}))
      RETURNING ${mailedNotifications.columns()}`,
  );
  return taken.sort((a, b) => (a.id < b.id ? -1 : 1));
};

/**
 * Sets when the person's next mail is due.
 * @param mail `mailedAt` is null when nothing was sent
 */
export const settleBox = async (
  db: Sql,
  { projectId, userId }: Person,
  { mailedAt, daily }: { readonly mailedAt: Date | null; readonly daily: Date },
): Promise<void> => {
  await db.change(sql`
    UPDATE notification_box SET
      mailed_at = coalesce(${mailedAt}::timestamptz, mailed_at),
      mail_due_at = (
        SELECT CASE WHEN count(*) > 0 THEN ${daily}::timestamptz END FROM notification n
        WHERE n.project_id = ${projectId} AND n.user_id = ${userId} AND n.mail = 'daily'
      )
    WHERE project_id = ${projectId} AND user_id = ${userId}`);
};
