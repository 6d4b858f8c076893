import type { NotificationKind } from "@/lib/contracts/notifications";
import type { Sql, SqlReader } from "@/lib/db/sql";
import type { ListedNotification } from "./notification";

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
  ORDER BY id DESC LIMIT $5::int`;

/** Newest first. */
export const listNotifications = (
  sql: SqlReader,
  { projectId, userId, kinds }: Owner,
  page: { readonly before: string | null; readonly limit: number },
): Promise<readonly ListedNotification[]> =>
  sql.query<ListedNotification>(LIST, [projectId, userId, kinds, page.before, page.limit]);

const UNREAD_MAX = 1000;
const UNREAD = `
  SELECT count(*)::int AS count FROM (
    SELECT 1 FROM notification
    WHERE project_id = $1 AND user_id = $2 AND in_app AND read_at IS NULL AND kind = ANY ($3::text[]) LIMIT ${String(UNREAD_MAX)}
  ) n`;

export const countUnread = async (sql: SqlReader, { projectId, userId, kinds }: Owner): Promise<number> =>
  (await sql.query<{ count: number }>(UNREAD, [projectId, userId, kinds]))[0]?.count ?? 0;

const READ = `
  WITH done AS (
    UPDATE notification SET read_at = $3::timestamptz
    WHERE project_id = $1 AND user_id = $2 AND in_app AND read_at IS NULL AND (id = ANY ($4::text[]) OR id <= $5)
    RETURNING project_id, user_id
  )
  UPDATE notification_box b SET version = b.version + 1
  FROM (SELECT DISTINCT project_id, user_id FROM done) d WHERE b.project_id = d.project_id AND b.user_id = d.user_id`;

/** Marks the named ones, or everything up to `upTo`, as read. Those that are read stay as they are. */
export const markRead = async (
  sql: Sql,
  { projectId, userId }: Pick<Owner, "projectId" | "userId">,
  read: { readonly ids: readonly string[]; readonly upTo: string | null; readonly at: Date },
): Promise<void> => {
  await sql.change(READ, [projectId, userId, read.at.toISOString(), read.ids, read.upTo]);
};
