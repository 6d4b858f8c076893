import { firstIdAt } from "@/lib/core/ids";
import type { Database } from "@/lib/platform/db/client";
import { readableJson } from "@/lib/platform/db/readable-json";
import { outageOf } from "@/lib/core/outage";
import { findDistributed, keptSqlOn, type SqlReader } from "@/lib/platform/db/sql";
import { raw, sql, type Statement } from "@/lib/platform/db/statement";
import { type Box, boxes, changes, type Cursor, cursors, type Found, parkedJobs } from "./rows";

// The statements run often, and connections cache their plans by their texts, so the texts are
// constant.

export interface ProjectCursor extends Cursor {
  readonly projectId: string;
}

const EVENT_COLUMNS = raw(`
  e.sequence::float8 AS seq, e.type AS name,
  CASE
    WHEN e.type LIKE 'transfer.%' THEN ${readableJson("e.payload")}->>'operationId'
    ELSE e.object_id
  END AS "objectId",
  e.private, e.created_at AS at`);

/** The cursors as rows `c` of a FROM clause. */
const listOf = (after: readonly ProjectCursor[]): Statement => sql`
  unnest(
    ${after.map(({ projectId }) => projectId)}::text[],
    ${after.map(({ events }) => events)}::bigint[],
    ${after.map(({ audit }) => audit)}::bigint[]
  ) AS c (project_id, events, audit)`;

const newerAudit = (after: readonly ProjectCursor[], limit: number): Statement => sql`
  SELECT 'audit' AS list, c.project_id AS "projectId", l.seq::float8 AS seq, a.action AS name,
    a.subject AS "objectId", false AS private, a.created_at AS at
  FROM ${listOf(after)}
  CROSS JOIN LATERAL (
    SELECT seq, event_id FROM audit_link
    WHERE chain = c.project_id AND seq > c.audit
    ORDER BY seq
    LIMIT ${limit}::int
  ) l
  JOIN audit_event a ON a.id = l.event_id`;

/**
 * SQL: the events and audit entries after the cursors. Both are numbered after the commit and
 * without gaps, so no row is ever added below a number that was read.
 */
const newerOfBoth = (after: readonly ProjectCursor[], limit: number): Statement => sql`
  SELECT 'events' AS list, c.project_id AS "projectId", ${EVENT_COLUMNS}
  FROM ${listOf(after)}
  CROSS JOIN LATERAL (
    SELECT sequence, type, object_id, payload, private, created_at FROM event
    WHERE project_id = c.project_id AND sequence > c.events
    ORDER BY sequence
    LIMIT ${limit}::int
  ) e
  UNION ALL ${newerAudit(after, limit)}`;

const newerEvents = ({ projectId, events }: ProjectCursor, limit: number): Statement => sql`
  SELECT 'events' AS list, e.project_id AS "projectId", ${EVENT_COLUMNS}
  FROM event e
  WHERE e.project_id = ${projectId} AND e.sequence > ${events}::bigint
  ORDER BY e.sequence
  LIMIT ${limit}::int`;

const eventsHead = (projectId: string): Statement => sql`
  coalesce(
    (SELECT last_sequence FROM event_counter WHERE project_id = ${projectId}), 0
  )::float8 AS events`;

const auditHead = (projectId: string): Statement => sql`
  coalesce((SELECT seq FROM audit_head WHERE chain = ${projectId}), 0)::float8 AS audit`;

interface Recent {
  readonly since: Date;
  readonly limit: number;
}

// SQL: the position before the first recent row of each list. Both searches start from the newest
// row and end at the first row that is older than `since`.

const recentEvents = (
  { projectId, events }: ProjectCursor,
  { since, limit }: Recent,
): Statement => sql`
  SELECT coalesce((
    SELECT min(sequence) - 1
    FROM (
      SELECT sequence, created_at FROM event
      WHERE project_id = ${projectId} AND sequence <= ${events}::bigint
      ORDER BY sequence DESC
      LIMIT ${limit}::int
    ) e
    WHERE created_at > ${since}::timestamptz
  ), ${events}::bigint)::float8 AS events`;

const recentAudit = (
  { projectId, audit }: ProjectCursor,
  { since, limit }: Recent,
): Statement => sql`
  SELECT coalesce((
    SELECT min(seq) - 1
    FROM (
      SELECT l.seq, a.created_at
      FROM audit_link l
      JOIN audit_event a ON a.id = l.event_id
      WHERE l.chain = ${projectId} AND l.seq <= ${audit}::bigint
      ORDER BY l.seq DESC
      LIMIT ${limit}::int
    ) a
    WHERE created_at > ${since}::timestamptz
  ), ${audit}::bigint)::float8 AS audit`;

const eventCursors = cursors.pick("events");
const auditCursors = cursors.pick("audit");

/**
 * Reads a position in each of the two lists with separate statements, because on a cluster a
 * project's events are on its node, and the audit log on the coordinator.
 */
const both = async (
  db: SqlReader,
  { events, audit }: Record<"events" | "audit", Statement>,
): Promise<Cursor | null> => {
  const [ofEvents, ofAudit] = await Promise.all([
    eventCursors.first(db, events),
    auditCursors.first(db, audit),
  ]);
  return ofEvents === null || ofAudit === null ? null : { ...ofEvents, ...ofAudit };
};

/**
 * Reads the newer events with one statement per project, as a cluster requires. Events on an
 * unreachable node are missing from the result. The caller's cursors do not move past them, so its
 * next call reads them.
 * @throws when no project could be read
 */
const newerOfEach = async (
  db: SqlReader,
  after: readonly ProjectCursor[],
  limit: number,
): Promise<Found[]> => {
  const found: Found[] = [];
  const failures: unknown[] = [];
  for (const cursor of after)
    try {
      found.push(...(await changes.all(db, newerEvents(cursor, limit))));
    } catch (error) {
      if (outageOf(error) !== "database") throw error;
      failures.push(error);
    }
  if (failures.length > 0 && failures.length === after.length) throw failures[0];
  return found;
};

/** Reads changes for any number of streams at once. */
export const createChangesRepository = ({ pool }: Pick<Database, "pool">) => {
  const db = keptSqlOn(pool);
  return {
    /** The rows of each project after its cursor, at most `limit` of each list. */
    newer: async (
      after: readonly ProjectCursor[],
      limit: number,
    ): Promise<readonly Found[]> => {
      if (!(await findDistributed(db))) return changes.all(db, newerOfBoth(after, limit));
      const events = await newerOfEach(db, after, limit);
      return [...events, ...(await changes.all(db, newerAudit(after, limit)))];
    },
    head: async (projectId: string): Promise<Cursor> => {
      const [events, audit] = [eventsHead(projectId), auditHead(projectId)];
      const head = (await findDistributed(db))
        ? await both(db, { events: sql`SELECT ${events}`, audit: sql`SELECT ${audit}` })
        : await cursors.first(db, sql`SELECT ${events}, ${audit}`);
      return head ?? { events: 0, audit: 0 };
    },
    /**
     * The position before the first row that is newer than `since`. In each list, the position is
     * at most `limit` rows before the cursor.
     */
    recent: async (cursor: ProjectCursor, since: Date, limit: number): Promise<Cursor> => {
      const first = await both(db, {
        events: recentEvents(cursor, { since, limit }),
        audit: recentAudit(cursor, { since, limit }),
      });
      return first ?? { events: cursor.events, audit: cursor.audit };
    },
    /**
     * The versions of people's lists of notifications. A person without notifications is missing.
     */
    boxes: (people: readonly Omit<Box, "version">[]): Promise<readonly Box[]> =>
      boxes.all(
        db,
        sql`
          SELECT ${boxes.columns("b")}
          FROM unnest(
            ${people.map(({ projectId }) => projectId)}::text[],
            ${people.map(({ userId }) => userId)}::text[]
          ) AS w (project_id, user_id)
          JOIN notification_box b ON b.project_id = w.project_id AND b.user_id = w.user_id`,
      ),
    /** The ids of parked jobs, by project. They are polled, because no event announces them. */
    parked: async (projectIds: readonly string[]): Promise<ReadonlyMap<string, string>> => {
      const rows = await parkedJobs.all(
        db,
        sql`
          SELECT coalesce(o.project_id, p.project_id) AS "projectId",
            string_agg(j.id, ' ' ORDER BY j.id) AS ids
          FROM job j
          LEFT JOIN operation o ON o.id = j.id
          LEFT JOIN payout p ON p.id = j.id
          WHERE j.parked_at IS NOT NULL
            AND coalesce(o.project_id, p.project_id) = ANY (${projectIds}::text[])
          GROUP BY 1`,
      );
      return new Map(rows.map(({ projectId, ids }) => [projectId, ids]));
    },
    wasNotifiedSince: async (
      { projectId, userId }: Omit<Box, "version">,
      since: Date,
    ): Promise<boolean> => {
      const rows = await db.query(sql`
        SELECT 1 FROM notification
        WHERE project_id = ${projectId}
          AND user_id = ${userId}
          AND id > ${firstIdAt("notification", since)}
        LIMIT 1`);
      return rows.length > 0;
    },
  };
};

export type ChangesRepository = ReturnType<typeof createChangesRepository>;

/** The Postgres channel of project ids with new events, audit entries or notifications. */
export const CHANGE_CHANNEL = "project_change";
