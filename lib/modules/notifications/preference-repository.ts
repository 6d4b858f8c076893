import type { MailTime, NotificationKind } from "@/lib/contracts/notifications";
import type { Sql, SqlReader } from "@/lib/db/sql";
import type { Choice } from "./kinds";

interface Person {
  readonly projectId: string;
  readonly userId: string;
}

export interface StoredPreference extends Choice {
  readonly kind: NotificationKind;
  /** Of large deposits alone. */
  readonly thresholdUsd: string | null;
}

const READ = `
  SELECT kind, in_app AS "inApp", mail, trim_scale(threshold_usd)::text AS "thresholdUsd" FROM notification_preference
  WHERE project_id = $1 AND user_id = $2`;

export const readPreferences = (sql: SqlReader, { projectId, userId }: Person): Promise<readonly StoredPreference[]> =>
  sql.query<StoredPreference>(READ, [projectId, userId]);

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

/** Mail of these kinds that still waits is not sent. */
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

/** The people among them who want mail of this kind at once. */
export const wantMailAtOnce = async (
  sql: SqlReader,
  asked: {
    readonly projectId: string;
    readonly userIds: readonly string[];
    readonly kind: NotificationKind;
    /** The default for people who chose nothing. */
    readonly standard: MailTime;
  },
): Promise<ReadonlySet<string>> => {
  const values = [asked.projectId, asked.userIds, asked.kind, asked.standard];
  return new Set((await sql.query<{ id: string }>(WANT_AT_ONCE, values)).map(({ id }) => id));
};
