import { z } from "zod";
import { announce } from "@/lib/db/announcements";
import { findDistributed } from "@/lib/db/layout";
import type { Sql, SqlReader } from "@/lib/db/sql";
import type { StatementPart } from "@/lib/db/together";

/** Column `payload`. Its members depend on the type of the event, and on the version that wrote it. */
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

export const outboxPart = (rows: readonly OutboxRow[]): StatementPart => ({
  text: INSERT,
  values: [
    rows.map((row) => row.projectId),
    rows.map((row) => row.id),
    rows.map((row) => row.type),
    rows.map((row) => row.objectId),
    rows.map((row) => row.payload),
    rows.map((row) => row.private),
    rows.map((row) => row.createdAt.toISOString()),
  ],
});

/** The channel of announcements, inside one process, that it has committed events. The sequencer then gives them numbers. */
export const OUTBOX_CHANNEL = "event_outbox";

/** Announces, when the transaction commits, that it has stored events. Other processes find them when they poll. */
export const announceOutbox = (transaction: object): void => {
  announce(transaction, { channel: OUTBOX_CHANNEL, payload: "", isLocal: true });
};

export const insertOutbox = async (sql: Sql, rows: readonly OutboxRow[]): Promise<void> => {
  if (rows.length === 0) return;
  const { text, values } = outboxPart(rows);
  await sql.change(text, values);
  announceOutbox(sql);
};

// Numbers stay far below 2^53.
const LIST = `
  SELECT e.project_id AS "projectId", e.id, e.type, e.sequence::float8 AS sequence, e.object_id AS "objectId",
    e.object_sequence::float8 AS "objectSequence", e.payload::text AS payload, e.private, e.created_at AS "createdAt"
  FROM event e WHERE e.project_id = $1 AND e.sequence > $2::bigint ORDER BY e.sequence LIMIT $3::int`;

/** In order of their sequence numbers, beginning after `after`. */
export const listEvents = async (
  sql: SqlReader,
  query: { readonly projectId: string; readonly after: number; readonly limit: number },
): Promise<readonly EventRow[]> => {
  const values = [query.projectId, query.after, query.limit];
  const rows = await sql.query<Omit<EventRow, "payload"> & { readonly payload: string }>(LIST, values);
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

// The row of the counter says how many there are, so a project without one has no archive either.
const HEAD = `
  SELECT c.last_sequence::float8 AS last, a.month, a.first_sequence::float8 AS "firstSequence", a.last_sequence::float8 AS "lastSequence", a.file
  FROM event_counter c LEFT JOIN LATERAL (
    SELECT month, first_sequence, last_sequence, file FROM archived_events
    WHERE project_id = c.project_id AND last_sequence > $2::bigint ORDER BY first_sequence LIMIT 1
  ) a ON true WHERE c.project_id = $1`;

const LAST = "SELECT last_sequence::float8 AS last FROM event_counter WHERE project_id = $1";
const NEXT_ARCHIVED = `
  SELECT month, first_sequence::float8 AS "firstSequence", last_sequence::float8 AS "lastSequence", file FROM archived_events
  WHERE project_id = $1 AND last_sequence > $2::bigint ORDER BY first_sequence LIMIT 1`;

type HeadRow = { readonly last: number } & { readonly [Field in keyof ArchivedRange]: ArchivedRange[Field] | null };

/** The project's last number, and the first range after `after` that is in a file. */
export const eventsHead = async (
  sql: SqlReader,
  { projectId, after }: { readonly projectId: string; readonly after: number },
): Promise<{ readonly lastSequence: number; readonly archived: ArchivedRange | null }> => {
  if (await findDistributed(sql)) {
    const [counted] = await sql.query<{ last: number }>(LAST, [projectId]);
    const [archived = null] = await sql.query<ArchivedRange>(NEXT_ARCHIVED, [projectId, after]);
    return { lastSequence: counted?.last ?? 0, archived };
  }
  const [row] = await sql.query<HeadRow>(HEAD, [projectId, after]);
  if (row === undefined) return { lastSequence: 0, archived: null };
  const { last, month, firstSequence, lastSequence, file } = row;
  const isArchived = month !== null && firstSequence !== null && lastSequence !== null && file !== null;
  return { lastSequence: last, archived: isArchived ? { month, firstSequence, lastSequence, file } : null };
};

/** Sequence numbers of a project that were given at once. */
export interface SequencedRange {
  readonly projectId: string;
  readonly from: number;
  readonly to: number;
}

/** The key of an advisory lock: any number that no other lock uses. */
const LOCK = 0x43_57_45_56;

/** One sequencer at a time. The lock ends with the transaction, so it survives no crash and needs no session. */
export const takeSequencerLock = async (sql: SqlReader): Promise<boolean> => {
  const rows = await sql.query<{ taken: boolean }>("SELECT pg_try_advisory_xact_lock($1::bigint) AS taken", [LOCK]);
  return rows[0]?.taken === true;
};

/** SQL, the query `project` of WITH RECURSIVE: the next $2 projects after $1 with events in the outbox, and a row of NULL where there are fewer. */
export const OUTBOX_PROJECTS = `project AS (
    (SELECT project_id, 1 AS n FROM event_outbox WHERE project_id > $1 ORDER BY project_id LIMIT 1)
    UNION ALL
    SELECT (SELECT o.project_id FROM event_outbox o WHERE o.project_id > p.project_id ORDER BY o.project_id LIMIT 1), p.n + 1
    FROM project p WHERE p.project_id IS NOT NULL AND p.n < $2::int
  )`;

// Numbers the events of the next $2 projects after project $1, at most $3 of each project, so that a project with many events does not delay the others.
// Writers of one object wait for each other's commit, so among its events the order of positions is the order of commits.
const SEQUENCE = `
  WITH RECURSIVE ${OUTBOX_PROJECTS}, due AS (
    SELECT p.project_id, w.position FROM project p
    CROSS JOIN LATERAL (
      SELECT position FROM event_outbox o WHERE o.project_id = p.project_id ORDER BY o.position LIMIT $3::int
    ) w
  ), taken AS (
    DELETE FROM event_outbox o USING due d WHERE o.project_id = d.project_id AND o.position = d.position RETURNING o.*
  ), counted AS (
    INSERT INTO event_counter AS c (project_id, last_sequence)
    SELECT project_id, count(*) FROM taken GROUP BY project_id
    ON CONFLICT (project_id) DO UPDATE SET last_sequence = c.last_sequence + EXCLUDED.last_sequence
    RETURNING project_id, last_sequence
  ), numbered AS (
    SELECT t.*, row_number() OVER (PARTITION BY project_id ORDER BY position) AS n,
      row_number() OVER (PARTITION BY project_id, object_id ORDER BY position) AS object_n,
      count(*) OVER (PARTITION BY project_id) AS total
    FROM taken t
  ), stored AS (
    INSERT INTO event (project_id, sequence, id, type, object_id, object_sequence, payload, private, created_at)
    SELECT t.project_id, c.last_sequence - t.total + t.n, t.id, t.type, t.object_id,
      t.object_n + coalesce((
        SELECT max(e.object_sequence) FROM event e WHERE e.project_id = t.project_id AND e.object_id = t.object_id), 0),
      t.payload, t.private, t.created_at
    FROM numbered t JOIN counted c ON c.project_id = t.project_id
    ORDER BY t.project_id, t.n
    RETURNING project_id, sequence
  )
  SELECT project_id AS "projectId", min(sequence)::float8 AS "from", max(sequence)::float8 AS "to"
  FROM stored GROUP BY project_id ORDER BY project_id`;

/** Gives numbers to events that are committed, and moves them to `event`. The caller holds the sequencer's lock. */
export const sequenceOutbox = (
  sql: SqlReader,
  page: { readonly afterProjectId: string; readonly projectsMax: number; readonly perProject: number },
): Promise<readonly SequencedRange[]> =>
  sql.query<SequencedRange>(SEQUENCE, [page.afterProjectId, page.projectsMax, page.perProject]);

export const hasOutbox = async (sql: SqlReader): Promise<boolean> =>
  (await sql.query("SELECT 1 FROM event_outbox LIMIT 1", [])).length > 0;

/** How long the oldest event has waited for its number, and how many wait; for metrics. */
export const outboxBacklog = async (sql: SqlReader): Promise<{ count: number; oldest: Date | null }> => {
  const rows = await sql.query<{ count: number; oldest: Date | null }>(
    "SELECT count(*)::int AS count, min(created_at) AS oldest FROM (SELECT created_at FROM event_outbox LIMIT 10000) w",
    [],
  );
  return rows[0] ?? { count: 0, oldest: null };
};
