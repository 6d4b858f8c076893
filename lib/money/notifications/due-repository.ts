import type { Role } from "@/lib/core/actor";
import {
  NOTIFICATION_KINDS,
  type MailTime,
  type NotificationKind,
} from "@/lib/contracts/notifications";
import { outageOf } from "@/lib/core/outage";
import {
  findDistributed,
  isDistributed,
  nodeOfProject,
  type Sql,
  type SqlReader,
} from "@/lib/platform/db/sql";
import type { SequencedRange } from "@/lib/news/events/service";
import { type DueEvent, IS_NEWS, type Names, parseEventPayload } from "./news";
import type { Choice, Notification, Recipient } from "./notification";

const QUEUE = `
  INSERT INTO notification_due (project_id, sequence)
  SELECT e.project_id, e.sequence FROM unnest($1::text[], $2::bigint[], $3::bigint[]) AS r (project_id, "from", "to")
  JOIN event e ON e.project_id = r.project_id AND e.sequence BETWEEN r."from" AND r."to"
  WHERE ${IS_NEWS}`;

const NEWS_OF_PROJECT = `
  SELECT e.sequence::float8 AS sequence FROM event e
  WHERE e.project_id = $1 AND e.sequence BETWEEN $2::bigint AND $3::bigint AND ${IS_NEWS}`;
const QUEUE_OF_PROJECT =
  "INSERT INTO notification_due (project_id, sequence) SELECT $1, unnest($2::bigint[])";

/**
 * Queues events that may lead to notifications, in the transaction that numbers them. It waits for
 * no lock.
 */
export const queueNews = async (sql: Sql, ranges: readonly SequencedRange[]): Promise<void> => {
  if (isDistributed(sql)) {
    for (const { projectId, from, to } of ranges) {
      const news = await sql.query<{ sequence: number }>(NEWS_OF_PROJECT, [projectId, from, to]);
      if (news.length > 0)
        await sql.change(QUEUE_OF_PROJECT, [projectId, news.map(({ sequence }) => sequence)]);
    }
    return;
  }
  await sql.change(QUEUE, [
    ranges.map(({ projectId }) => projectId),
    ranges.map(({ from }) => from),
    ranges.map(({ to }) => to),
  ]);
};

/** A queued event. It never changes, so it is read before it is taken. */
export interface PeekedEvent extends Omit<DueEvent, "isVoted" | "depositUsd" | "nextAction"> {
  readonly sequence: number;
}

type Stored = Omit<PeekedEvent, "payload"> & { readonly payload: string };
const parsed = ({ payload, ...event }: Stored): PeekedEvent => ({
  ...event,
  payload: parseEventPayload(payload),
});

const EVENT_COLUMNS = `
  e.project_id AS "projectId", e.sequence::float8 AS sequence, e.id, e.type, e.object_id AS "objectId", e.payload::text AS payload,
  e.created_at AS "createdAt"`;

const PEEK = `
  SELECT ${EVENT_COLUMNS}
  FROM (SELECT project_id, sequence, queued_at FROM notification_due ORDER BY queued_at, project_id, sequence LIMIT $1::int) d
  JOIN event e ON e.project_id = d.project_id AND e.sequence = d.sequence ORDER BY d.queued_at, 1, 2`;

const PEEK_KEYS = `
  SELECT project_id AS "projectId", array_agg(sequence::float8) AS sequences, ${nodeOfProject("project_id")} AS node FROM (
    SELECT project_id, sequence FROM notification_due WHERE project_id <> ALL($2::text[])
    ORDER BY queued_at, project_id, sequence LIMIT $1::int
  ) d GROUP BY project_id`;
const EVENTS_OF_PROJECT = `
  SELECT ${EVENT_COLUMNS} FROM event e WHERE e.project_id = $1 AND e.sequence = ANY($2::bigint[]) ORDER BY e.sequence`;

/** Maximum number of projects that one read covers, or skips because their node is unreachable. */
const PROJECTS_MAX = 10_000;

interface PeekedKeys {
  readonly projectId: string;
  readonly sequences: readonly number[];
  readonly node: number;
}

/**
 * One statement for each project. Events that their node has not committed yet, and those of an
 * unreachable node, are left for a later turn.
 */
const peekEach = async (sql: SqlReader, limit: number): Promise<readonly PeekedEvent[]> => {
  const lost = new Set<number>();
  const seen: string[] = [];
  const found: PeekedEvent[] = [];
  const read = async ({ projectId, sequences, node }: PeekedKeys): Promise<void> => {
    seen.push(projectId);
    if (lost.has(node)) return;
    try {
      found.push(
        ...(await sql.query<Stored>(EVENTS_OF_PROJECT, [projectId, sequences])).map(parsed),
      );
    } catch (error) {
      if (outageOf(error) !== "database") throw error;
      lost.add(node);
    }
  };
  while (seen.length < PROJECTS_MAX && found.length < limit) {
    const keys = await sql.query<PeekedKeys>(PEEK_KEYS, [limit - found.length, seen]);
    if (keys.length === 0) break;
    for (const each of keys) await read(each);
  }
  return found;
};

/** The queued events of all projects, the oldest first. Other instances see the same events. */
export const peekDue = async (sql: SqlReader, limit: number): Promise<readonly PeekedEvent[]> => {
  if (await findDistributed(sql)) return peekEach(sql, limit);
  return (await sql.query<Stored>(PEEK, [limit])).map(parsed);
};

// Other instances skip these rows until the transaction ends, and find them again when it is rolled
// back.
const TAKE = `
  WITH taken AS (
    DELETE FROM notification_due d USING (
      SELECT n.project_id, n.sequence, p.object_id FROM notification_due n
      JOIN unnest($1::text[], $2::bigint[], $3::text[]) AS p (project_id, sequence, object_id)
        ON p.project_id = n.project_id AND p.sequence = n.sequence
      ORDER BY n.project_id, n.sequence FOR UPDATE OF n SKIP LOCKED
    ) n WHERE d.project_id = n.project_id AND d.sequence = n.sequence
    RETURNING d.project_id, d.sequence, n.object_id
  )
  SELECT t.project_id AS "projectId", t.sequence::float8 AS sequence, EXISTS (
    SELECT 1 FROM decision_request r WHERE r.project_id = t.project_id AND r.subject_id = t.object_id
  ) AS "isVoted"
  FROM taken t ORDER BY t.project_id, t.sequence`;

/** Takes those of the events that no other turn has taken. */
export const takeDue = async (
  sql: Sql,
  peeked: readonly PeekedEvent[],
): Promise<readonly Omit<DueEvent, "depositUsd" | "nextAction">[]> => {
  const keyOf = ({ projectId, sequence }: Pick<PeekedEvent, "projectId" | "sequence">): string =>
    `${projectId} ${String(sequence)}`;
  const events = new Map(peeked.map((event) => [keyOf(event), event]));
  const taken = await sql.query<
    Pick<PeekedEvent, "projectId" | "sequence"> & { readonly isVoted: boolean }
  >(TAKE, [
    peeked.map(({ projectId }) => projectId),
    peeked.map(({ sequence }) => sequence),
    peeked.map(({ objectId }) => objectId),
  ]);
  return taken.flatMap(({ isVoted, ...key }) => {
    const event = events.get(keyOf(key));
    return event === undefined ? [] : [{ ...event, isVoted }];
  });
};

const DROP = "DELETE FROM notification_due WHERE project_id = $1 AND sequence = $2";

/** Removes an event from the queue without a notification. */
export const dropDue = async (sql: Sql, { projectId, sequence }: PeekedEvent): Promise<void> => {
  await sql.change(DROP, [projectId, sequence]);
};

// The name of a person: the verified address, or else the beginning and end of the wallet's
// address.
const PERSON_NAME =
  "coalesce(CASE WHEN u.email_verified_at IS NOT NULL THEN u.email END, left(u.address, 6) || '…' || right(u.address, 4))";

const NAMES = `
  SELECT u.id, ${PERSON_NAME} AS name FROM app_user u WHERE u.id = ANY ($2::text[])
    AND EXISTS (SELECT 1 FROM membership m WHERE m.project_id = ANY ($1::text[]) AND m.user_id = u.id)
  UNION ALL
  SELECT w.id, w.label FROM wallet w WHERE w.project_id = ANY ($1::text[]) AND w.id = ANY ($2::text[]) AND w.label IS NOT NULL
  UNION ALL
  SELECT k.id, k.name FROM api_key k WHERE k.project_id = ANY ($1::text[]) AND k.id = ANY ($2::text[])`;

/** Names of members, wallets and keys of these projects. */
export const readNames = async (
  sql: SqlReader,
  { projectIds, ids }: { readonly projectIds: readonly string[]; readonly ids: readonly string[] },
): Promise<Names> => {
  if (ids.length === 0) return new Map();
  const rows = await sql.query<{ id: string; name: string }>(NAMES, [projectIds, ids]);
  return new Map(rows.map(({ id, name }) => [id, name]));
};

interface MemberRow {
  readonly projectId: string;
  readonly userId: string;
  readonly role: string;
  readonly joinedAt: Date;
  readonly kind: string | null;
  readonly inApp: boolean | null;
  readonly mail: string | null;
  readonly thresholdUsd: string | null;
}

const MEMBERS = `
  SELECT m.project_id AS "projectId", m.user_id AS "userId", m.role, m.created_at AS "joinedAt", p.kind, p.in_app AS "inApp", p.mail,
    p.threshold_usd::text AS "thresholdUsd"
  FROM membership m
  LEFT JOIN notification_preference p ON p.project_id = m.project_id AND p.user_id = m.user_id
  WHERE m.project_id = ANY ($1::text[]) ORDER BY m.project_id, m.user_id`;

const isKind = (text: string): text is NotificationKind =>
  (NOTIFICATION_KINDS as readonly string[]).includes(text);

/** The members of each project, with their settings. */
export const readRecipients = async (
  sql: SqlReader,
  projectIds: readonly string[],
): Promise<ReadonlyMap<string, readonly Recipient[]>> => {
  const rows = await sql.query<MemberRow>(MEMBERS, [projectIds]);
  const people = new Map<
    string,
    Map<string, Recipient & { choices: Map<NotificationKind, Choice> }>
  >();
  for (const { projectId, userId, role, joinedAt, kind, inApp, mail, thresholdUsd } of rows) {
    const project =
      people.get(projectId) ??
      new Map<string, Recipient & { choices: Map<NotificationKind, Choice> }>();
    people.set(projectId, project);
    const known = project.get(userId);
    const person = known ?? {
      userId,
      role: role as Role,
      joinedAt,
      choices: new Map(),
      largeDepositUsd: null,
    };
    project.set(userId, { ...person, largeDepositUsd: thresholdUsd ?? person.largeDepositUsd });
    if (kind !== null && isKind(kind))
      person.choices.set(kind, { inApp: inApp === true, mail: (mail ?? "off") as MailTime });
  }
  return new Map([...people].map(([projectId, project]) => [projectId, [...project.values()]]));
};

// Boxes are written in the order of their keys, so that two turns cannot deadlock.
const INSERT = `
  WITH made AS (
    INSERT INTO notification (project_id, user_id, id, kind, source, title, detail, object_id, path, in_app, mail, created_at)
    SELECT * FROM unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::text[], $6::text[], $7::text[], $8::text[], $9::text[],
      $10::boolean[], $11::text[], $12::timestamptz[])
    ON CONFLICT (project_id, user_id, source) DO NOTHING
    RETURNING project_id, user_id, mail
  )
  INSERT INTO notification_box AS b (project_id, user_id, version, mail_due_at)
  SELECT project_id, user_id, 1, min(CASE mail WHEN 'at_once' THEN $13::timestamptz WHEN 'daily' THEN $14::timestamptz END)
  FROM made GROUP BY project_id, user_id ORDER BY project_id, user_id
  ON CONFLICT (project_id, user_id) DO UPDATE
    SET version = b.version + 1, mail_due_at = least(b.mail_due_at, EXCLUDED.mail_due_at)`;

/** Stores each notification that the person does not have yet, and sets when its mail is due. */
export const insertNotifications = async (
  sql: Sql,
  all: readonly Notification[],
  due: { readonly atOnce: Date; readonly daily: Date },
): Promise<void> => {
  if (all.length === 0) return;
  const column = <T>(of: (one: Notification) => T): T[] => all.map(of);
  await sql.change(INSERT, [
    column(({ projectId }) => projectId),
    column(({ userId }) => userId),
    column(({ id }) => id),
    column(({ kind }) => kind),
    column(({ source }) => source),
    column(({ title }) => title),
    column(({ detail }) => detail),
    column(({ objectId }) => objectId),
    column(({ path }) => path),
    column(({ inApp }) => inApp),
    column(({ mail }) => mail),
    column(({ createdAt }) => createdAt.toISOString()),
    due.atOnce.toISOString(),
    due.daily.toISOString(),
  ]);
};
