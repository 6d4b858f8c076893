import { z } from "zod";
import {
  announce,
  findDistributed,
  nodeOfProject,
  type Sql,
  type SqlReader,
} from "@/lib/platform/db/sql";

/**
 * Column `payload`. Its members depend on the type of the event and on the version that wrote it.
 */
const storedPayload = z.record(z.string(), z.unknown());

export interface EventRow {
  readonly projectId: string;
  readonly id: string;
  readonly type: string;
  readonly sequence: number;
  readonly objectId: string;
  readonly objectSequence: number;
  readonly payload: z.output<typeof storedPayload>;
  readonly private: boolean;
  readonly createdAt: Date;
}

export interface OutboxRow {
  readonly projectId: string;
  readonly id: string;
  readonly type: string;
  readonly objectId: string;
  /** JSON. */
  readonly payload: string;
  readonly private: boolean;
  readonly createdAt: Date;
}

const INSERT = `
  INSERT INTO event_outbox (project_id, id, type, object_id, payload, private, created_at)
  SELECT project_id, id, type, object_id, payload::json, private, created_at
  FROM unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::text[], $6::boolean[], $7::timestamptz[])
    WITH ORDINALITY AS e (project_id, id, type, object_id, payload, private, created_at, place)
  ORDER BY place`;

/**
 * The in-process channel that announces committed events. The sequencer then gives them numbers.
 */
export const OUTBOX_CHANNEL = "event_outbox";

/**
 * Announces, when the transaction commits, that it has stored events. Other processes find them
 * when they poll.
 */
export const announceOutbox = (transaction: object): void => {
  announce(transaction, { channel: OUTBOX_CHANNEL, payload: "", isLocal: true });
};

export const insertOutbox = async (sql: Sql, rows: readonly OutboxRow[]): Promise<void> => {
  if (rows.length === 0) return;
  announceOutbox(sql);
  await sql.change(INSERT, [
    rows.map((row) => row.projectId),
    rows.map((row) => row.id),
    rows.map((row) => row.type),
    rows.map((row) => row.objectId),
    rows.map((row) => row.payload),
    rows.map((row) => row.private),
    rows.map((row) => row.createdAt.toISOString()),
  ]);
};

const LAST = "SELECT last_sequence::float8 AS last FROM event_counter WHERE project_id = $1";

// The numbers stay far below 2^53.
const LIST = `
  SELECT e.project_id AS "projectId", e.id, e.type, e.sequence::float8 AS sequence, e.object_id AS "objectId",
    e.object_sequence::float8 AS "objectSequence", e.payload::text AS payload, e.private, e.created_at AS "createdAt"
  FROM event e WHERE e.project_id = $1 AND e.sequence > $2::bigint AND ($4::text[] IS NULL OR e.type = ANY ($4::text[]))
  ORDER BY e.sequence LIMIT $3::int`;

/** The newest sequence number of a project. */
export const lastSequenceOf = async (sql: SqlReader, projectId: string): Promise<number> =>
  (await sql.query<{ last: number }>(LAST, [projectId]))[0]?.last ?? 0;

/** In order of their sequence numbers, beginning after `after`. */
export const listEvents = async (
  sql: SqlReader,
  query: {
    readonly projectId: string;
    readonly after: number;
    readonly limit: number;
    /** Default null: all types. */
    readonly types?: readonly string[] | null;
  },
): Promise<readonly EventRow[]> => {
  const values = [query.projectId, query.after, query.limit, query.types ?? null];
  const rows = await sql.query<Omit<EventRow, "payload"> & { readonly payload: string }>(
    LIST,
    values,
  );
  return rows.map((row) => ({ ...row, payload: storedPayload.parse(JSON.parse(row.payload)) }));
};

/** Events of a month that were written to a file. */
export interface ArchivedRange {
  /** `2026-01`. */
  readonly month: string;
  readonly firstSequence: number;
  readonly lastSequence: number;
  readonly file: string;
}

// The row of the counter has the last number, so a project without one has no archive either.
const HEAD = `
  SELECT c.last_sequence::float8 AS last, a.month, a.first_sequence::float8 AS "firstSequence", a.last_sequence::float8 AS "lastSequence", a.file
  FROM event_counter c LEFT JOIN LATERAL (
    SELECT month, first_sequence, last_sequence, file FROM archived_events
    WHERE project_id = c.project_id AND last_sequence > $2::bigint ORDER BY first_sequence LIMIT 1
  ) a ON true WHERE c.project_id = $1`;

const NEXT_ARCHIVED = `
  SELECT month, first_sequence::float8 AS "firstSequence", last_sequence::float8 AS "lastSequence", file FROM archived_events
  WHERE project_id = $1 AND last_sequence > $2::bigint ORDER BY first_sequence LIMIT 1`;

type HeadRow = { readonly last: number } & {
  readonly [Field in keyof ArchivedRange]: ArchivedRange[Field] | null;
};

/** The project's last number, and the first archived range after `after`. */
export const eventsHead = async (
  sql: SqlReader,
  { projectId, after }: { readonly projectId: string; readonly after: number },
): Promise<{ readonly lastSequence: number; readonly archived: ArchivedRange | null }> => {
  if (await findDistributed(sql)) {
    const lastSequence = await lastSequenceOf(sql, projectId);
    const [archived = null] = await sql.query<ArchivedRange>(NEXT_ARCHIVED, [projectId, after]);
    return { lastSequence, archived };
  }
  const [row] = await sql.query<HeadRow>(HEAD, [projectId, after]);
  if (row === undefined) return { lastSequence: 0, archived: null };
  const { last, month, firstSequence, lastSequence, file } = row;
  const isArchived =
    month !== null && firstSequence !== null && lastSequence !== null && file !== null;
  return {
    lastSequence: last,
    archived: isArchived ? { month, firstSequence, lastSequence, file } : null,
  };
};

/** Sequence numbers of a project that were assigned together. */
export interface SequencedRange {
  readonly projectId: string;
  readonly from: number;
  readonly to: number;
}

/** The key of an advisory lock: any number that no other lock uses. */
const LOCK = 0x43_57_45_56;

/**
 * Allows one sequencer at a time. The lock ends with the transaction, so it does not outlive a
 * crash and needs no session.
 */
export const takeSequencerLock = async (sql: SqlReader): Promise<boolean> => {
  const rows = await sql.query<{ taken: boolean }>(
    "SELECT pg_try_advisory_xact_lock($1::bigint) AS taken",
    [LOCK],
  );
  return rows[0]?.taken === true;
};

/**
 * SQL, the query `project` of WITH RECURSIVE: the next $2 projects after $1 with events in the
 * outbox, and a row of NULL when there are fewer.
 */
const OUTBOX_PROJECTS = `project AS (
    (SELECT project_id, 1 AS n FROM event_outbox WHERE project_id > $1 ORDER BY project_id LIMIT 1)
    UNION ALL
    SELECT (SELECT o.project_id FROM event_outbox o WHERE o.project_id > p.project_id ORDER BY o.project_id LIMIT 1), p.n + 1
    FROM project p WHERE p.project_id IS NOT NULL AND p.n < $2::int
  )`;

// Numbers the events of the next $2 projects after project $1, at most $3 of each, so that a
// project with many events does not delay the others. Writers of one object wait for each other's
// commit, so the positions of its events are in the order of the commits. Writers read their clock
// long before they commit, and instances have different clocks: an event that is older than its
// predecessor gets the predecessor's time, so that times never go backwards in the order of the
// numbers.
const SEQUENCE = `
  WITH RECURSIVE ${OUTBOX_PROJECTS}, due AS (
    SELECT p.project_id, w.position FROM project p
    CROSS JOIN LATERAL (
      SELECT position FROM event_outbox o WHERE o.project_id = p.project_id ORDER BY o.position LIMIT $3::int
    ) w
  ), taken AS (
    DELETE FROM event_outbox o USING due d WHERE o.project_id = d.project_id AND o.position = d.position RETURNING o.*
  ), due_counts AS (
    SELECT project_id, count(*) AS total FROM taken GROUP BY project_id
  ), counted AS (
    INSERT INTO event_counter AS c (project_id, last_sequence)
    SELECT project_id, total FROM due_counts
    ON CONFLICT (project_id) DO UPDATE SET last_sequence = c.last_sequence + EXCLUDED.last_sequence
    RETURNING project_id, last_sequence
  ), previous AS (
    SELECT project_id, last_sequence - total AS sequence, (
      SELECT e.created_at FROM event e WHERE e.project_id = c.project_id AND e.sequence = c.last_sequence - d.total
    ) AS created_at
    FROM counted c JOIN due_counts d USING (project_id)
  ), numbered AS (
    SELECT t.*, row_number() OVER (PARTITION BY project_id ORDER BY position) AS n,
      row_number() OVER (PARTITION BY project_id, object_id ORDER BY position) AS object_n,
      max(created_at) OVER (PARTITION BY project_id ORDER BY position) AS latest
    FROM taken t
  ), stored AS (
    INSERT INTO event (project_id, sequence, id, type, object_id, object_sequence, payload, private, created_at)
    SELECT t.project_id, p.sequence + t.n, t.id, t.type, t.object_id,
      t.object_n + coalesce((
        SELECT max(e.object_sequence) FROM event e WHERE e.project_id = t.project_id AND e.object_id = t.object_id), 0),
      t.payload, t.private, greatest(p.created_at, t.latest)
    FROM numbered t JOIN previous p ON p.project_id = t.project_id
    ORDER BY t.project_id, t.n
    RETURNING project_id, sequence
  )
  SELECT project_id AS "projectId", min(sequence)::float8 AS "from", max(sequence)::float8 AS "to"
  FROM stored GROUP BY project_id ORDER BY project_id`;

/**
 * Assigns numbers to committed events, and moves them to `event`. The caller holds the sequencer's
 * lock.
 */
export const sequenceOutbox = (
  sql: SqlReader,
  page: {
    readonly afterProjectId: string;
    readonly projectsMax: number;
    readonly perProject: number;
  },
): Promise<readonly SequencedRange[]> =>
  sql.query<SequencedRange>(SEQUENCE, [page.afterProjectId, page.projectsMax, page.perProject]);

export const hasOutbox = async (sql: SqlReader): Promise<boolean> =>
  (await sql.query("SELECT 1 FROM event_outbox LIMIT 1", [])).length > 0;

/** How long the oldest event has waited for its number, and how many wait; for metrics. */
export const outboxBacklog = async (
  sql: SqlReader,
): Promise<{ count: number; oldest: Date | null }> => {
  const rows = await sql.query<{ count: number; oldest: Date | null }>(
    "SELECT count(*)::int AS count, min(created_at) AS oldest FROM (SELECT created_at FROM event_outbox LIMIT 10000) w",
    [],
  );
  return rows[0] ?? { count: 0, oldest: null };
};

// Numbers the events of one project on a cluster, where the outbox is on the coordinator and the
// numbered events are on the project's node.

/** A project with events that wait for their numbers. */
export interface WaitingProject {
  readonly projectId: string;
  /** The group of the node that has the project's rows. */
  readonly node: number;
}

const WAITING = `
  WITH RECURSIVE ${OUTBOX_PROJECTS}
  SELECT p.project_id AS "projectId", ${nodeOfProject("p.project_id")} AS node
  FROM project p WHERE p.project_id IS NOT NULL ORDER BY p.project_id`;

/** Projects with unnumbered events, after `afterProjectId`. */
export const waitingProjects = (
  sql: SqlReader,
  page: { readonly afterProjectId: string; readonly projectsMax: number },
): Promise<readonly WaitingProject[]> =>
  sql.query<WaitingProject>(WAITING, [page.afterProjectId, page.projectsMax]);
/** The maximum time for which an unresponsive node delays the numbering of other projects. */
const STATEMENT_MS = 5_000;

const BEGIN = `
  SELECT set_config('statement_timeout', $3, true), pg_try_advisory_xact_lock($1::int, hashtext($2)) AS taken`;

const TAKE = `
  WITH due AS (
    SELECT position FROM event_outbox WHERE project_id = $1 ORDER BY position LIMIT $2::int
  ), taken AS (
    DELETE FROM event_outbox o USING due d WHERE o.project_id = $1 AND o.position = d.position RETURNING o.*
  )
  SELECT id, type, object_id AS "objectId", payload::text AS payload, private, created_at AS "createdAt" FROM taken ORDER BY position`;

// Waits for a transaction that its node had prepared when it crashed, so that no number is assigned
// twice.
const COUNT = `
  INSERT INTO event_counter AS c (project_id, last_sequence) VALUES ($1, $2::bigint)
  ON CONFLICT (project_id) DO UPDATE SET last_sequence = c.last_sequence + EXCLUDED.last_sequence
  RETURNING last_sequence::float8 AS last`;

const LAST_OF_OBJECTS = `
  SELECT o.object_id AS "objectId", coalesce((
    SELECT max(e.object_sequence) FROM event e WHERE e.project_id = $1 AND e.object_id = o.object_id
  ), 0)::float8 AS last, (SELECT e.created_at FROM event e WHERE e.project_id = $1 AND e.sequence = $3::bigint) AS "previousAt"
  FROM unnest($2::text[]) AS o (object_id)`;

const STORE = `
  INSERT INTO event (project_id, sequence, id, type, object_id, object_sequence, payload, private, created_at)
  SELECT $1, sequence, id, type, object_id, object_sequence, payload::json, private, created_at
  FROM unnest($2::bigint[], $3::text[], $4::text[], $5::text[], $6::bigint[], $7::text[], $8::boolean[], $9::timestamptz[])
    AS e (sequence, id, type, object_id, object_sequence, payload, private, created_at)`;

type Taken = Omit<OutboxRow, "projectId">;

interface LastOfObject {
  readonly objectId: string;
  readonly last: number;
  /** Time of the project's event before the first one; the same in each row. */
  readonly previousAt: Date | null;
}

interface Place {
  /** The event's number among those of its object. */
  readonly objectSequence: number;
  /** At least the time of the previous event, whatever the writer's clock said. */
  readonly createdAt: Date;
}

/** @param after number of the event before the first one */
const placesOf = async (
  sql: Sql,
  projectId: string,
  taken: readonly Taken[],
  after: number,
): Promise<readonly Place[]> => {
  const objectIds = [...new Set(taken.map(({ objectId }) => objectId))];
  const rows = await sql.query<LastOfObject>(LAST_OF_OBJECTS, [projectId, objectIds, after]);
  const last = new Map(rows.map((row) => [row.objectId, row.last]));
  let latest = rows[0]?.previousAt ?? null;
  return taken.map(({ objectId, createdAt }) => {
    const objectSequence = (last.get(objectId) ?? 0) + 1;
    last.set(objectId, objectSequence);
    if (latest === null || createdAt > latest) latest = createdAt;
    return { objectSequence, createdAt: latest };
  });
};

/**
 * Takes committed events of one project from the outbox, assigns their numbers, and stores them in
 * `event`. All of it happens in the caller's transaction `sql`. Only the node with the project's
 * rows is used.
 * @returns the numbers; null when another instance numbers this project, or it has no more events
 */
export const sequenceProject = async (
  sql: Sql,
  { projectId, limit }: { readonly projectId: string; readonly limit: number },
): Promise<SequencedRange | null> => {
  const [begun] = await sql.query<{ taken: boolean }>(BEGIN, [
    LOCK,
    projectId,
    String(STATEMENT_MS),
  ]);
  if (begun?.taken !== true) return null;
  const taken = await sql.query<Taken>(TAKE, [projectId, limit]);
  if (taken.length === 0) return null;
  const [counted] = await sql.query<{ last: number }>(COUNT, [projectId, taken.length]);
  if (counted === undefined) throw new Error("The counter of a project's events was not returned.");
  const from = counted.last - taken.length + 1;
  const places = await placesOf(sql, projectId, taken, from - 1);
  await sql.change(STORE, [
    projectId,
    taken.map((_, index) => from + index),
    taken.map(({ id }) => id),
    taken.map(({ type }) => type),
    taken.map(({ objectId }) => objectId),
    places.map(({ objectSequence }) => objectSequence),
    taken.map(({ payload }) => payload),
    taken.map((row) => row.private),
    places.map(({ createdAt }) => createdAt.toISOString()),
  ]);
  return { projectId, from, to: counted.last };
};
