import { firstIdAt } from "@/lib/core/ids";
import type { Database } from "@/lib/platform/db/client";
import { readableJson } from "@/lib/platform/db/readable-json";
import { outageOf } from "@/lib/core/outage";
import { findDistributed, keptSqlOn, type SqlReader } from "@/lib/platform/db/sql";
import type { Source } from "./hint";

/**
 * Positions in the two lists that record a project's changes: its events, and its chain of the
 * audit log.
 */
export interface Cursor {
  readonly events: number;
  readonly audit: number;
}

export interface ProjectCursor extends Cursor {
  readonly projectId: string;
}

/** A row of one of the lists. */
export interface Found extends Source {
  readonly projectId: string;
  readonly list: "events" | "audit";
  readonly seq: number;
}

export interface Box {
  readonly projectId: string;
  readonly userId: string;
  readonly version: number;
}

const EVENT_COLUMNS = `
  e.sequence::float8 AS seq, e.type AS name,
    CASE WHEN e.type LIKE 'transfer.%' THEN ${readableJson("e.payload")}->>'operationId' ELSE e.object_id END AS "objectId",
    e.private, e.created_at AS at`;

const NEWER_AUDIT = `
  SELECT 'audit' AS list, c.project_id AS "projectId", l.seq::float8 AS seq, a.action AS name, a.subject AS "objectId", false AS private,
    a.created_at AS at
  FROM unnest($1::text[], $2::bigint[], $3::bigint[]) AS c (project_id, events, audit)
  CROSS JOIN LATERAL (
    SELECT seq, event_id FROM audit_link WHERE chain = c.project_id AND seq > c.audit ORDER BY seq LIMIT $4::int
  ) l
  JOIN audit_event a ON a.id = l.event_id`;

/**
 * Both lists are numbered after the commit and without gaps, so nothing is ever added below a
 * number that was read.
 */
const NEWER = `
  SELECT 'events' AS list, c.project_id AS "projectId", ${EVENT_COLUMNS}
  FROM unnest($1::text[], $2::bigint[], $3::bigint[]) AS c (project_id, events, audit)
  CROSS JOIN LATERAL (
    SELECT sequence, type, object_id, payload, private, created_at FROM event
    WHERE project_id = c.project_id AND sequence > c.events ORDER BY sequence LIMIT $4::int
  ) e
  UNION ALL ${NEWER_AUDIT}`;

const NEWER_EVENTS = `
  SELECT 'events' AS list, e.project_id AS "projectId", ${EVENT_COLUMNS}
  FROM event e WHERE e.project_id = $1 AND e.sequence > $2::bigint ORDER BY e.sequence LIMIT $3::int`;

const EVENTS_HEAD =
  "coalesce((SELECT last_sequence FROM event_counter WHERE project_id = $1), 0)::float8 AS events";
const AUDIT_HEAD = "coalesce((SELECT seq FROM audit_head WHERE chain = $1), 0)::float8 AS audit";
const HEAD = `SELECT ${EVENTS_HEAD}, ${AUDIT_HEAD}`;

// Starts from the newest: the first row that is older ends the search. The parameters are the
// project, its last number, the time, and a limit.
const RECENT_EVENTS = `
  SELECT coalesce((
    SELECT min(sequence) - 1 FROM (
      SELECT sequence, created_at FROM event WHERE project_id = $1 AND sequence <= $2::bigint ORDER BY sequence DESC LIMIT $4::int
    ) e WHERE created_at > $3::timestamptz
  ), $2::bigint)::float8 AS events`;
const RECENT_AUDIT = `
  SELECT coalesce((
    SELECT min(seq) - 1 FROM (
      SELECT l.seq, a.created_at FROM audit_link l JOIN audit_event a ON a.id = l.event_id
      WHERE l.chain = $1 AND l.seq <= $2::bigint ORDER BY l.seq DESC LIMIT $4::int
    ) a WHERE created_at > $3::timestamptz
  ), $2::bigint)::float8 AS audit`;

const BOXES = `
  SELECT b.project_id AS "projectId", b.user_id AS "userId", b.version::float8 AS version
  FROM unnest($1::text[], $2::text[]) AS w (project_id, user_id)
  JOIN notification_box b ON b.project_id = w.project_id AND b.user_id = w.user_id`;

const PARKED = `
  SELECT coalesce(o.project_id, p.project_id) AS "projectId", string_agg(j.id, ' ' ORDER BY j.id) AS ids
  FROM job j LEFT JOIN operation o ON o.id = j.id LEFT JOIN payout p ON p.id = j.id
  WHERE j.parked_at IS NOT NULL AND coalesce(o.project_id, p.project_id) = ANY ($1::text[]) GROUP BY 1`;

const NOTIFIED =
  "SELECT 1 FROM notification WHERE project_id = $1 AND user_id = $2 AND id > $3 LIMIT 1";

/**
 * Reads a position in each of the two lists with separate statements, because on a cluster a
 * project's events are on its node, and the audit log on the coordinator.
 */
const both = async (
  sql: SqlReader,
  { events, audit }: Record<"events" | "audit", readonly [string, readonly unknown[]]>,
): Promise<Cursor | null> => {
  const [[ofEvents], [ofAudit]] = await Promise.all([
    sql.query<Pick<Cursor, "events">>(...events),
    sql.query<Pick<Cursor, "audit">>(...audit),
  ]);
  return ofEvents === undefined || ofAudit === undefined ? null : { ...ofEvents, ...ofAudit };
};

/**
 * Reads the newer events of each project with a separate statement, as a cluster requires. Events
 * on an unreachable node are missing from the answer. The caller's cursors do not move past them,
 * so its next call reads them.
 * @throws when no project could be read
 */
const newerOfEach = async (
  sql: SqlReader,
  cursors: readonly ProjectCursor[],
  limit: number,
): Promise<Found[]> => {
  const found: Found[] = [];
  const failures: unknown[] = [];
  for (const { projectId, events } of cursors)
    try {
      found.push(...(await sql.query<Found>(NEWER_EVENTS, [projectId, events, limit])));
    } catch (error) {
      if (outageOf(error) !== "database") throw error;
      failures.push(error);
    }
  if (failures.length > 0 && failures.length === cursors.length) throw failures[0];
  return found;
};

const valuesOf = (cursors: readonly ProjectCursor[]): readonly (readonly (string | number)[])[] => [
  cursors.map(({ projectId }) => projectId),
  cursors.map(({ events }) => events),
  cursors.map(({ audit }) => audit),
];

/** Reads what changed, for any number of streams at once. */
export const createChangesRepository = ({ pool }: Pick<Database, "pool">) => {
  const sql = keptSqlOn(pool);
  return {
    /** The rows of each project after its cursor, at most `limit` of each list. */
    newer: async (cursors: readonly ProjectCursor[], limit: number): Promise<readonly Found[]> => {
      if (!(await findDistributed(sql)))
        return sql.query<Found>(NEWER, [...valuesOf(cursors), limit]);
      const events = await newerOfEach(sql, cursors, limit);
      return [...events, ...(await sql.query<Found>(NEWER_AUDIT, [...valuesOf(cursors), limit]))];
    },
    /** The newest numbers of a project. */
    head: async (projectId: string): Promise<Cursor> => {
      const head = (await findDistributed(sql))
        ? await both(sql, {
            events: [`SELECT ${EVENTS_HEAD}`, [projectId]],
            audit: [`SELECT ${AUDIT_HEAD}`, [projectId]],
          })
        : (await sql.query<Cursor>(HEAD, [projectId]))[0];
      return head ?? { events: 0, audit: 0 };
    },
    /**
     * The position before the rows that are not older than `since`, at most `limit` rows before the
     * cursor.
     */
    recent: async (
      { projectId, events, audit }: ProjectCursor,
      since: Date,
      limit: number,
    ): Promise<Cursor> => {
      const page = [since.toISOString(), limit];
      const first = await both(sql, {
        events: [RECENT_EVENTS, [projectId, events, ...page]],
        audit: [RECENT_AUDIT, [projectId, audit, ...page]],
      });
      return first ?? { events, audit };
    },
    /**
     * The versions of people's lists of notifications; a person who was never notified has none.
     */
    boxes: (people: readonly Omit<Box, "version">[]): Promise<readonly Box[]> =>
      sql.query<Box>(BOXES, [
        people.map(({ projectId }) => projectId),
        people.map(({ userId }) => userId),
      ]),
    /** The parked jobs of each project that has some, because no event announces them. */
    parked: async (projectIds: readonly string[]): Promise<ReadonlyMap<string, string>> => {
      const rows = await sql.query<{ projectId: string; ids: string }>(PARKED, [projectIds]);
      return new Map(rows.map(({ projectId, ids }) => [projectId, ids]));
    },
    wasNotifiedSince: async (
      { projectId, userId }: Omit<Box, "version">,
      since: Date,
    ): Promise<boolean> =>
      (await sql.query(NOTIFIED, [projectId, userId, firstIdAt("notification", since)])).length > 0,
  };
};

export type ChangesRepository = ReturnType<typeof createChangesRepository>;

/**
 * The Postgres channel that announces projects with new events, audit entries or notifications. The
 * payload is the project's id.
 */
export const CHANGE_CHANNEL = "project_change";
