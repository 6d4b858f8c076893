import type { NotificationKind } from "@/lib/contracts/notifications";
import { outageOf } from "@/lib/core/outage";
import {
  findDistributed,
  isDistributed,
  nodeOfProject,
  type Sql,
  type SqlReader,
} from "@/lib/platform/db/sql";
import { personLabel } from "@/lib/platform/db/person-label";
import { raw, sql } from "@/lib/platform/db/statement";
import {
  bool,
  count,
  int,
  type RowOf,
  table,
  text,
  time,
  arrayOf,
  float,
} from "@/lib/platform/db/table";
import type { SequencedRange } from "@/lib/news/events/service";
import { type DueEvent, IS_NEWS, type Names, parseEventPayload } from "./news";
import type { Choice, Recipient } from "./notification";
import { isKind, membersWithPreferences, newNotifications, type Notification } from "./rows";

const sequences = table({ sequence: count });

/**
 * Queues events that may lead to notifications, in the transaction that numbers the events. Waits
 * for no lock. The statement's text is constant, because the sequencer caches the statement's plan
 * by its text.
 */
export const queueNews = async (db: Sql, ranges: readonly SequencedRange[]): Promise<void> => {
  if (!isDistributed(db)) {
    await db.change(sql`
      INSERT INTO notification_due (project_id, sequence)
      SELECT e.project_id, e.sequence
      FROM unnest(
        ${ranges.map(({ projectId }) => projectId)}::text[],
        ${ranges.map(({ from }) => from)}::bigint[],
        ${ranges.map(({ to }) => to)}::bigint[]
      ) AS r (project_id, "from", "to")
      JOIN event e ON e.project_id = r.project_id AND e.sequence BETWEEN r."from" AND r."to"
      WHERE ${IS_NEWS}`);
    return;
  }
  for (const { projectId, from, to } of ranges) {
    const news = await sequences.all(
      db,
      sql`
        SELECT ${sequences.columns("e")} FROM event e
        WHERE e.project_id = ${projectId}
          AND e.sequence BETWEEN ${from}::bigint AND ${to}::bigint
          AND ${IS_NEWS}`,
    );
    if (news.length === 0) continue;
    await db.change(sql`
      INSERT INTO notification_due (project_id, sequence)
      SELECT ${projectId}, unnest(${news.map(({ sequence }) => sequence)}::bigint[])`);
  }
};

/**
 * A queued event that was read and is not taken from the queue yet. A queued event never changes,
 * so it need not be read again.
 */
export interface PeekedEvent extends Omit<DueEvent, "isVoted" | "depositUsd" | "nextAction"> {
  readonly sequence: number;
}

const events = table({
  projectId: text,
  sequence: count,
  id: text,
  type: text,
  objectId: text,
  /** JSON text. */
  payload: { ...text, select: (name: string) => `${name}::text` },
  createdAt: time,
  /** True for an event of a private movement. */
  private: bool,
});

const parsed = ({ payload, ...event }: RowOf<typeof events>): PeekedEvent => ({
  ...event,
  payload: parseEventPayload(payload),
});

/**
 * Maximum number of projects per read. It also limits how many projects are skipped because their
 * node is unreachable.
 */
const PROJECTS_MAX = 10_000;

const peekedKeys = table({ projectId: text, sequences: arrayOf(float), node: int });
type PeekedKeys = RowOf<typeof peekedKeys>;

/** The oldest queued events by project, without the projects in `seen`. */
const peekKeys = (
  db: SqlReader,
  limit: number,
  seen: readonly string[],
): Promise<PeekedKeys[]> =>
  peekedKeys.all(
    db,
    sql`
      SELECT project_id AS "projectId",
        array_agg(sequence::float8) AS sequences,
        ${raw(nodeOfProject("project_id"))} AS node
      FROM (
        SELECT project_id, sequence FROM notification_due
        WHERE project_id <> ALL(${seen}::text[])
        ORDER BY queued_at, project_id, sequence
        LIMIT ${limit}::int
      ) d
      GROUP BY project_id`,
  );

/**
 * Reads with one statement per project. Events that are not committed on their node yet, and
 * events on an unreachable node, are left for a later turn.
 */
const peekEach = async (db: SqlReader, limit: number): Promise<readonly PeekedEvent[]> => {
  const lost = new Set<number>();
  const seen: string[] = [];
  const found: PeekedEvent[] = [];
  const read = async ({ projectId, sequences: queued, node }: PeekedKeys): Promise<void> => {
    seen.push(projectId);
    if (lost.has(node)) return;
    try {
      const rows = await events.all(
        db,
        sql`
          SELECT ${events.columns("e")} FROM event e
          WHERE e.project_id = ${projectId} AND e.sequence = ANY(${queued}::bigint[])
          ORDER BY e.sequence`,
      );
      found.push(...rows.map(parsed));
    } catch (error) {
      if (outageOf(error) !== "database") throw error;
      lost.add(node);
    }
  };
  while (seen.length < PROJECTS_MAX && found.length < limit) {
    const keys = await peekKeys(db, limit - found.length, seen);
    if (keys.length === 0) break;
    for (const each of keys) await read(each);
  }
  return found;
};

export const peekDue = async (
  db: SqlReader,
  limit: number,
): Promise<readonly PeekedEvent[]> => {
  if (await findDistributed(db)) return peekEach(db, limit);
  const rows = await events.all(
    db,
    sql`
      SELECT ${events.columns("e")}
      FROM (
        SELECT project_id, sequence, queued_at FROM notification_due
        ORDER BY queued_at, project_id, sequence
        LIMIT ${limit}::int
      ) d
      JOIN event e ON e.project_id = d.project_id AND e.sequence = d.sequence
      ORDER BY d.queued_at, e.project_id, e.sequence`,
  );
  return rows.map(parsed);
};

const takenKeys = table({ projectId: text, sequence: count, isVoted: bool });

/**
 * Takes events from the queue, except those that another turn has taken. Other instances skip the
 * locked rows until the transaction ends, and find them again after a rollback.
 */
export const takeDue = async (
  db: Sql,
  peeked: readonly PeekedEvent[],
): Promise<readonly Omit<DueEvent, "depositUsd" | "nextAction">[]> => {
  const keyOf = ({
    projectId,
    sequence,
  }: Pick<PeekedEvent, "projectId" | "sequence">): string => `${projectId} ${String(sequence)}`;
  const byKey = new Map(peeked.map((event) => [keyOf(event), event]));
  const taken = await takenKeys.all(
    db,
    sql`
      WITH taken AS (
        DELETE FROM notification_due d USING (
          SELECT n.project_id, n.sequence, p.object_id
          FROM notification_due n
          JOIN unnest(
            ${peeked.map(({ projectId }) => projectId)}::text[],
            ${peeked.map(({ sequence }) => sequence)}::bigint[],
            ${peeked.map(({ objectId }) => objectId)}::text[]
          ) AS p (project_id, sequence, object_id)
            ON p.project_id = n.project_id AND p.sequence = n.sequence
          ORDER BY n.project_id, n.sequence
          FOR UPDATE OF n SKIP LOCKED
        ) n
        WHERE d.project_id = n.project_id AND d.sequence = n.sequence
        RETURNING d.project_id, d.sequence, n.object_id
      )
      SELECT t.project_id AS "projectId", t.sequence::float8 AS sequence, EXISTS (
        SELECT 1 FROM decision_request r
        WHERE r.project_id = t.project_id AND r.subject_id = t.object_id
      ) AS "isVoted"
      FROM taken t
      ORDER BY t.project_id, t.sequence`,
  );
  return taken.flatMap(({ isVoted, ...key }) => {
    const event = byKey.get(keyOf(key));
    return event === undefined ? [] : [{ ...event, isVoted }];
  });
};

export const dropDue = async (db: Sql, { projectId, sequence }: PeekedEvent): Promise<void> => {
  await db.change(sql`
    DELETE FROM notification_due
    WHERE project_id = ${projectId} AND sequence = ${sequence}::bigint`);
};

const PERSON_NAME = personLabel("left(u.address, 6) || '…' || right(u.address, 4)");

const names = table({ id: text, name: text });

export const readNames = async (
  db: SqlReader,
  {
    projectIds,
    ids,
  }: { readonly projectIds: readonly string[]; readonly ids: readonly string[] },
): Promise<Names> => {
  if (ids.length === 0) return new Map();
  const rows = await names.all(
    db,
    sql`
      SELECT u.id, ${PERSON_NAME} AS name FROM app_user u
      WHERE u.id = ANY (${ids}::text[])
        AND EXISTS (
          SELECT 1 FROM membership m
          WHERE m.project_id = ANY (${projectIds}::text[]) AND m.user_id = u.id
        )
      UNION ALL
      SELECT w.id, w.label FROM wallet w
      WHERE w.project_id = ANY (${projectIds}::text[])
        AND w.id = ANY (${ids}::text[])
        AND w.label IS NOT NULL
      UNION ALL
      SELECT k.id, k.name FROM api_key k
      WHERE k.project_id = ANY (${projectIds}::text[]) AND k.id = ANY (${ids}::text[])`,
  );
  return new Map(rows.map(({ id, name }) => [id, name]));
};

interface Member extends Recipient {
  readonly choices: Map<NotificationKind, Choice>;
}

export const readRecipients = async (
  db: SqlReader,
  projectIds: readonly string[],
): Promise<ReadonlyMap<string, readonly Recipient[]>> => {
  const rows = await membersWithPreferences.all(
    db,
    sql`
      SELECT m.project_id AS "projectId", m.user_id AS "userId", m.role,
        m.created_at AS "joinedAt", p.kind, p.in_app AS "inApp", p.mail, p.push,
        p.threshold_usd::text AS "thresholdUsd"
      FROM membership m
      LEFT JOIN notification_preference p
        ON p.project_id = m.project_id AND p.user_id = m.user_id
      WHERE m.project_id = ANY (${projectIds}::text[])
      ORDER BY m.project_id, m.user_id`,
  );
  const people = new Map<string, Map<string, Member>>();
  for (const row of rows) {
    const { projectId, userId, role, joinedAt, kind, inApp, mail, push, thresholdUsd } = row;
    const project = people.get(projectId) ?? new Map<string, Member>();
    people.set(projectId, project);
    const known = project.get(userId);
    const person: Member = known ?? {
      userId,
      role,
      joinedAt,
      choices: new Map(),
      largeDepositUsd: null,
    };
    project.set(userId, { ...person, largeDepositUsd: thresholdUsd ?? person.largeDepositUsd });
    if (kind !== null && isKind(kind))
      person.choices.set(kind, {
        inApp: inApp === true,
        mail: mail ?? "off",
        push: push === true,
      });
  }
  return new Map([...people].map(([projectId, project]) => [projectId, [...project.values()]]));
};

/**
 * Stores each notification that the person does not have yet, and sets when its mail is due. Boxes
 * are written in the order of their keys, to avoid deadlocks.
 */
export const insertNotifications = async (
  db: Sql,
  all: readonly Notification[],
  due: { readonly atOnce: Date; readonly daily: Date },
): Promise<void> => {
  if (all.length === 0) return;
  await db.change(sql`
    WITH made AS (
      INSERT INTO notification (${newNotifications.names})
      SELECT ${newNotifications.names} FROM ${newNotifications.list(all)} AS news
      ON CONFLICT (project_id, user_id, source) DO NOTHING
      RETURNING project_id, user_id, mail
    )
    INSERT INTO notification_box AS b (project_id, user_id, version, mail_due_at)
    SELECT project_id, user_id, 1, min(
      CASE mail
        WHEN 'at_once' THEN ${due.atOnce}::timestamptz
        WHEN 'daily' THEN ${due.daily}::timestamptz
      END
    )
    FROM made
    GROUP BY project_id, user_id
    ORDER BY project_id, user_id
    ON CONFLICT (project_id, user_id) DO UPDATE SET
      version = b.version + 1,
      mail_due_at = least(b.mail_due_at, EXCLUDED.mail_due_at)`);
};
