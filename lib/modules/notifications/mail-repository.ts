import type { NotificationKind } from "@/lib/contracts/notifications";
import type { Role } from "@/lib/core/actor";
import type { Sql } from "@/lib/db/sql";

export interface Box {
  readonly projectId: string;
  readonly userId: string;
}

/** The person who owns a box, while the person is a member. */
export interface Addressee {
  readonly projectName: string;
  readonly role: Role;
  /** The verified address; null: none. */
  readonly email: string | null;
}

export interface WaitingMail {
  readonly id: string;
  readonly kind: NotificationKind;
  readonly title: string;
  readonly detail: string | null;
  readonly path: string;
}

// Another instance skips the row until the transaction ends.
const CLAIM = `
  SELECT project_id AS "projectId", user_id AS "userId" FROM notification_box
  WHERE mail_due_at <= $1::timestamptz AND (mailed_at IS NULL OR mailed_at <= $2::timestamptz)
  ORDER BY mail_due_at LIMIT 1 FOR UPDATE SKIP LOCKED`;

/** Takes a person whose mail is due, and who was not mailed after `mailedBefore`. */
export const claimBox = async (sql: Sql, now: Date, mailedBefore: Date): Promise<Box | null> =>
  (await sql.query<Box>(CLAIM, [now.toISOString(), mailedBefore.toISOString()]))[0] ?? null;

const ADDRESSEE = `
  SELECT p.name AS "projectName", m.role, CASE WHEN u.email_verified_at IS NOT NULL THEN u.email END AS email
  FROM membership m JOIN project p ON p.id = m.project_id JOIN app_user u ON u.id = m.user_id
  WHERE m.project_id = $1 AND m.user_id = $2`;

/** Null when the person is no longer a member. */
export const readAddressee = async (sql: Sql, { projectId, userId }: Box): Promise<Addressee | null> =>
  (await sql.query<Addressee>(ADDRESSEE, [projectId, userId]))[0] ?? null;

// A notification that waits for the mail of the day goes with it when it was made before that mail was due.
const TAKE = `
  UPDATE notification SET mail = 'sent'
  WHERE project_id = $1 AND user_id = $2 AND (mail = 'at_once' OR (mail = 'daily' AND id < $3))
  RETURNING id, kind, title, detail, path`;

/** Takes what is due out of what waits. @param dailyBefore ids below it are in the mail of the day */
export const takeWaiting = async (sql: Sql, { projectId, userId }: Box, dailyBefore: string): Promise<WaitingMail[]> =>
  [...(await sql.query<WaitingMail>(TAKE, [projectId, userId, dailyBefore]))].sort((a, b) => (a.id < b.id ? -1 : 1));

const SETTLE = `
  UPDATE notification_box SET mailed_at = coalesce($3::timestamptz, mailed_at), mail_due_at = (
    SELECT CASE WHEN count(*) > 0 THEN $4::timestamptz END FROM notification n
    WHERE n.project_id = $1 AND n.user_id = $2 AND n.mail = 'daily'
  ) WHERE project_id = $1 AND user_id = $2`;

/** When the person's mail is due next. @param mailedAt null: nothing was sent */
export const settleBox = async (
  sql: Sql,
  { projectId, userId }: Box,
  { mailedAt, daily }: { readonly mailedAt: Date | null; readonly daily: Date },
): Promise<void> => {
  await sql.change(SETTLE, [projectId, userId, mailedAt?.toISOString() ?? null, daily.toISOString()]);
};
