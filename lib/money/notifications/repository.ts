import type { MailTime, NotificationKind } from "@/lib/contracts/notifications";
import type { Sql, SqlReader } from "@/lib/platform/db/sql";
import type { Choice, ListedNotification, NotificationFilter } from "./notification";
import type { Role } from "@/lib/core/actor";

/** A person of a project, and the kinds that the person's role may see. */
export interface Owner {
  readonly projectId: string;
  readonly userId: string;
  readonly kinds: readonly NotificationKind[];
}

const LIST = `
  SELECT id, kind, title, detail, object_id AS "objectId", path, created_at AS "createdAt", read_at AS "readAt"
  FROM notification
  WHERE project_id = $1 AND user_id = $2 AND in_app AND kind = ANY ($3::text[]) AND ($4::text IS NULL OR id < $4)
    AND (NOT $6::boolean OR read_at IS NULL)
    AND ($7::timestamptz IS NULL OR created_at >= $7) AND ($8::timestamptz IS NULL OR created_at < $8)
  ORDER BY id DESC LIMIT $5::int`;

/** Newest first. */
export const listNotifications = (
  sql: SqlReader,
  { projectId, userId, kinds }: Owner,
  { filter, before, limit }: { filter: NotificationFilter; before: string | null; limit: number },
): Promise<readonly ListedNotification[]> => {
  const filters = [filter.unread === "true", filter.from ?? null, filter.to ?? null];
  return sql.query<ListedNotification>(LIST, [projectId, userId, kinds, before, limit, ...filters]);
};

const UNREAD_MAX = 1000;
const UNREAD = `
  SELECT count(*)::int AS count FROM (
    SELECT 1 FROM notification
    WHERE project_id = $1 AND user_id = $2 AND in_app AND read_at IS NULL AND kind = ANY ($3::text[]) LIMIT ${String(UNREAD_MAX)}
  ) n`;

export const countUnread = async (
  sql: SqlReader,
  { projectId, userId, kinds }: Owner,
): Promise<number> =>
  (await sql.query<{ count: number }>(UNREAD, [projectId, userId, kinds]))[0]?.count ?? 0;

const READ_NOTIFICATIONS = `
  WITH done AS (
    UPDATE notification SET read_at = $3::timestamptz
    WHERE project_id = $1 AND user_id = $2 AND in_app AND read_at IS NULL AND (id = ANY ($4::text[]) OR id <= $5)
    RETURNING project_id, user_id
  )
  UPDATE notification_box b SET version = b.version + 1
  FROM (SELECT DISTINCT project_id, user_id FROM done) d WHERE b.project_id = d.project_id AND b.user_id = d.user_id`;

/** Marks the given notifications, or all up to `upTo`, as read. Read ones stay unchanged. */
export const markRead = async (
  sql: Sql,
  { projectId, userId }: Pick<Owner, "projectId" | "userId">,
  read: { readonly ids: readonly string[]; readonly upTo: string | null; readonly at: Date },
): Promise<void> => {
  await sql.change(READ_NOTIFICATIONS, [
    projectId,
    userId,
    read.at.toISOString(),
    read.ids,
    read.upTo,
  ]);
};

interface Person {
  readonly projectId: string;
  readonly userId: string;
}

interface StoredPreference extends Choice {
  readonly kind: NotificationKind;
  /** Set only for large deposits. */
  readonly thresholdUsd: string | null;
}

const READ_PREFERENCES = `
  SELECT kind, in_app AS "inApp", mail, trim_scale(threshold_usd)::text AS "thresholdUsd" FROM notification_preference
  WHERE project_id = $1 AND user_id = $2`;

export const readPreferences = (
  sql: SqlReader,
  { projectId, userId }: Person,
): Promise<readonly StoredPreference[]> =>
  sql.query<StoredPreference>(READ_PREFERENCES, [projectId, userId]);

const WRITE = `
  INSERT INTO notification_preference (project_id, user_id, kind, in_app, mail, threshold_usd)
  SELECT $1, $2, * FROM unnest($3::text[], $4::boolean[], $5::text[], $6::numeric[])
  ON CONFLICT (project_id, user_id, kind) DO UPDATE
    SET in_app = EXCLUDED.in_app, mail = EXCLUDED.mail, threshold_usd = EXCLUDED.threshold_usd`;

export const writePreferences = async (
  sql: Sql,
  { projectId, userId }: Person,
  all: readonly StoredPreference[],
): Promise<void> => {
  await sql.change(WRITE, [
    projectId,
    userId,
    all.map(({ kind }) => kind),
    all.map(({ inApp }) => inApp),
    all.map(({ mail }) => mail),
    all.map(({ thresholdUsd }) => thresholdUsd),
  ]);
};

const STOP_MAIL = `
  UPDATE notification SET mail = 'none'
  WHERE project_id = $1 AND user_id = $2 AND mail IN ('at_once', 'daily') AND kind = ANY ($3::text[])`;

/** Cancels waiting mail of these kinds. */
export const stopMail = async (
  sql: Sql,
  { projectId, userId }: Person,
  kinds: readonly NotificationKind[],
): Promise<void> => {
  await sql.change(STOP_MAIL, [projectId, userId, kinds]);
};

const WANT_AT_ONCE = `
  SELECT u.id FROM unnest($2::text[]) AS u (id)
  LEFT JOIN notification_preference p ON p.project_id = $1 AND p.user_id = u.id AND p.kind = $3
  WHERE coalesce(p.mail, $4) = 'at_once'`;

/** Returns the people among these who want mail of this kind at once. */
export const wantMailAtOnce = async (
  sql: SqlReader,
  asked: {
    readonly projectId: string;
    readonly userIds: readonly string[];
    readonly kind: NotificationKind;
    /** The default for people without settings. */
    readonly standard: MailTime;
  },
): Promise<ReadonlySet<string>> => {
  const values = [asked.projectId, asked.userIds, asked.kind, asked.standard];
  return new Set((await sql.query<{ id: string }>(WANT_AT_ONCE, values)).map(({ id }) => id));
};

export interface GasAlert {
  readonly chainId: number;
  readonly account: "executor" | "paymaster";
  /** Coin balance of the account at the last read. */
  readonly balance: string;
  readonly since: Date;
  /** The last project whose people were notified. */
  readonly toldProjectId: string;
}

const RAISE = `
  INSERT INTO gas_alert (chain_id, account, balance, since) VALUES ($1::int, $2, $3, $4::timestamptz)
  ON CONFLICT (chain_id, account) DO UPDATE SET balance = EXCLUDED.balance`;

/** Opens the alert, unless it is already open. */
export const raiseAlert = async (
  sql: Sql,
  { chainId, account, balance, since }: Omit<GasAlert, "toldProjectId">,
): Promise<void> => {
  await sql.change(RAISE, [chainId, account, balance, since.toISOString()]);
};

export const endAlert = async (
  sql: Sql,
  { chainId, account }: Pick<GasAlert, "chainId" | "account">,
): Promise<void> => {
  await sql.change("DELETE FROM gas_alert WHERE chain_id = $1::int AND account = $2", [
    chainId,
    account,
  ]);
};

const OPEN = `
  SELECT chain_id AS "chainId", account, balance, since, told_project_id AS "toldProjectId" FROM gas_alert
  ORDER BY chain_id, account`;

/** The open alerts. */
export const listAlerts = (sql: SqlReader): Promise<readonly GasAlert[]> =>
  sql.query<GasAlert>(OPEN, []);

const CLAIM_ALERT = `
  SELECT chain_id AS "chainId", account, balance, since, told_project_id AS "toldProjectId" FROM gas_alert
  WHERE told_at IS NULL ORDER BY chain_id, account LIMIT 1 FOR UPDATE SKIP LOCKED`;

/** Locks an alert about which not all projects were notified. */
export const claimAlert = async (sql: Sql): Promise<GasAlert | null> =>
  (await sql.query<GasAlert>(CLAIM_ALERT, []))[0] ?? null;

const NEXT_PROJECTS = "SELECT id FROM project WHERE id > $1 ORDER BY id LIMIT $2::int";

export const nextProjects = async (
  sql: SqlReader,
  after: string,
  limit: number,
): Promise<readonly string[]> =>
  (await sql.query<{ id: string }>(NEXT_PROJECTS, [after, limit])).map(({ id }) => id);

const ADVANCE = `
  UPDATE gas_alert SET told_project_id = $3, told_at = $4::timestamptz WHERE chain_id = $1::int AND account = $2`;

/**
 * Stores the last project whose people were notified. @param toldAt null when more projects remain
 */
export const advanceAlert = async (
  sql: Sql,
  { chainId, account }: GasAlert,
  told: { readonly projectId: string; readonly toldAt: Date | null },
): Promise<void> => {
  await sql.change(ADVANCE, [chainId, account, told.projectId, told.toldAt?.toISOString() ?? null]);
};

interface Box {
  readonly projectId: string;
  readonly userId: string;
}

/** The person who owns a notification box, while the person is a member. */
interface Addressee {
  readonly projectName: string;
  readonly role: Role;
  /** The verified address; null when there is none. */
  readonly email: string | null;
}

export interface WaitingMail {
  readonly id: string;
  readonly kind: NotificationKind;
  readonly title: string;
  readonly detail: string | null;
  readonly path: string;
}

// Other instances skip the row until the transaction ends.
const CLAIM_BOX = `
  SELECT project_id AS "projectId", user_id AS "userId" FROM notification_box
  WHERE mail_due_at <= $1::timestamptz AND (mailed_at IS NULL OR mailed_at <= $2::timestamptz)
  ORDER BY mail_due_at LIMIT 1 FOR UPDATE SKIP LOCKED`;

/** Locks the box of a person whose mail is due, and who was not mailed after `mailedBefore`. */
export const claimBox = async (sql: Sql, now: Date, mailedBefore: Date): Promise<Box | null> =>
  (await sql.query<Box>(CLAIM_BOX, [now.toISOString(), mailedBefore.toISOString()]))[0] ?? null;

const ADDRESSEE = `
  SELECT p.name AS "projectName", m.role, CASE WHEN u.email_verified_at IS NOT NULL THEN u.email END AS email
  FROM membership m JOIN project p ON p.id = m.project_id JOIN app_user u ON u.id = m.user_id
  WHERE m.project_id = $1 AND m.user_id = $2`;

/** Null when the person is no longer a member. */
export const readAddressee = async (
  sql: Sql,
  { projectId, userId }: Box,
): Promise<Addressee | null> =>
  (await sql.query<Addressee>(ADDRESSEE, [projectId, userId]))[0] ?? null;

// A notification waiting for the daily mail is included when it was created before that mail was
// due.
const TAKE = `
  UPDATE notification SET mail = 'sent'
  WHERE project_id = $1 AND user_id = $2 AND (mail = 'at_once' OR (mail = 'daily' AND id < $3))
  RETURNING id, kind, title, detail, path`;

/**
 * Marks the due notifications as sent, and returns them.
 * @param dailyBefore the daily mail includes notifications whose ids are lower than this one
 */
export const takeWaiting = async (
  sql: Sql,
  { projectId, userId }: Box,
  dailyBefore: string,
): Promise<WaitingMail[]> =>
  [...(await sql.query<WaitingMail>(TAKE, [projectId, userId, dailyBefore]))].sort((a, b) =>
    a.id < b.id ? -1 : 1,
  );

const SETTLE = `
  UPDATE notification_box SET mailed_at = coalesce($3::timestamptz, mailed_at), mail_due_at = (
    SELECT CASE WHEN count(*) > 0 THEN $4::timestamptz END FROM notification n
    WHERE n.project_id = $1 AND n.user_id = $2 AND n.mail = 'daily'
  ) WHERE project_id = $1 AND user_id = $2`;

/** Sets when the person's next mail is due. @param mailedAt null when nothing was sent */
export const settleBox = async (
  sql: Sql,
  { projectId, userId }: Box,
  { mailedAt, daily }: { readonly mailedAt: Date | null; readonly daily: Date },
): Promise<void> => {
  await sql.change(SETTLE, [
    projectId,
    userId,
    mailedAt?.toISOString() ?? null,
    daily.toISOString(),
  ]);
};
