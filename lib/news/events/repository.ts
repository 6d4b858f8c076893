import {
  announce,
  findDistributed,
  nodeOfProject,
  type Sql,
  type SqlReader,
} from "@/lib/platform/db/sql";
import { raw, sql, type Statement } from "@/lib/platform/db/statement";
import {
  bool,
  count,
  int,
  nullable,
  type RowOf,
  table,
  text,
  time,
} from "@/lib/platform/db/table";
import {
  type ArchivedRange,
  archivedRanges,
  type EventRow,
  events,
  type OutboxRow,
  outboxRows,
  type SequencedRange,
  sequencedRanges,
} from "./rows";

/** The in-process channel that announces committed events to the sequencer. */
export const OUTBOX_CHANNEL = "event_outbox";

/**
 * Announces, when the transaction commits, that it has stored events. Other processes find them by
 * polling.
 */
export const announceOutbox = (transaction: object): void => {
  announce(transaction, { channel: OUTBOX_CHANNEL, payload: "", isLocal: true });
};

export const insertOutbox = async (db: Sql, rows: readonly OutboxRow[]): Promise<void> => {
  if (rows.length === 0) return;
  announceOutbox(db);
  // The order of the rows decides their positions, and so the order of the numbers.
  await db.change(sql`
    INSERT INTO event_outbox (project_id, id, type, object_id, payload, private, created_at)
    SELECT project_id, id, type, object_id, payload::json, private, created_at
    FROM unnest(
      ${rows.map((row) => row.projectId)}::text[],
      ${rows.map((row) => row.id)}::text[],
      ${rows.map((row) => row.type)}::text[],
      ${rows.map((row) => row.objectId)}::text[],
      ${rows.map((row) => row.payload)}::text[],
      ${rows.map((row) => row.private)}::boolean[],
      ${rows.map((row) => row.createdAt.toISOString())}::timestamptz[]
    ) WITH ORDINALITY
      AS e (project_id, id, type, object_id, payload, private, created_at, place)
    ORDER BY place`);
};

const lastNumbers = table({ last: count });

export const lastSequenceOf = async (db: SqlReader, projectId: string): Promise<number> => {
  const row = await lastNumbers.first(
    db,
    sql`SELECT last_sequence::float8 AS last FROM event_counter WHERE project_id = ${projectId}`,
  );
  return row?.last ?? 0;
};

/**
 * The project's events in the order of their sequence numbers, beginning after the number `after`.
 */
export const listEvents = (
  db: SqlReader,
  query: {
    readonly projectId: string;
    readonly after: number;
    readonly limit: number;
    /** Null, the default, selects all types. */
    readonly types?: readonly string[] | null;
  },
): Promise<readonly EventRow[]> => {
  const { types = null } = query;
  return events.all(
    db,
    sql`
      SELECT ${events.columns("e")}
      FROM event e
      WHERE e.project_id = ${query.projectId}
        AND e.sequence > ${query.after}::bigint
        AND (${types}::text[] IS NULL OR e.type = ANY (${types}::text[]))
      ORDER BY e.sequence
      LIMIT ${query.limit}::int`,
  );
};

const heads = table({
  last: count,
  month: nullable(text),
  firstSequence: nullable(count),
  lastSequence: nullable(count),
  file: nullable(text),
});

/** The project's last number, and the first archived range after `after`. */
export const eventsHead = async (
  db: SqlReader,
  { projectId, after }: { readonly projectId: string; readonly after: number },
): Promise<{ readonly lastSequence: number; readonly archived: ArchivedRange | null }> => {
  if (await findDistributed(db)) {
    const lastSequence = await lastSequenceOf(db, projectId);
    const archived = await archivedRanges.first(
      db,
      sql`
        SELECT ${archivedRanges.columns("a")}
        FROM archived_events a
        WHERE a.project_id = ${projectId} AND a.last_sequence > ${after}::bigint
        ORDER BY a.first_sequence
        LIMIT 1`,
    );
    return { lastSequence, archived };
  }
  // The counter's row has the last number, so a project without that row has no archive either.
  const row = await heads.first(
    db,
    sql`
      SELECT c.last_sequence::float8 AS last, ${archivedRanges.columns("a")}
      FROM event_counter c
      LEFT JOIN LATERAL (
        SELECT month, first_sequence, last_sequence, file FROM archived_events
        WHERE project_id = c.project_id AND last_sequence > ${after}::bigint
        ORDER BY first_sequence
        LIMIT 1
      ) a ON true
      WHERE c.project_id = ${projectId}`,
  );
  if (row === null) return { lastSequence: 0, archived: null };
  const { last, month, firstSequence, lastSequence, file } = row;
  const isArchived =
    month !== null && firstSequence !== null && lastSequence !== null && file !== null;
  return {
    lastSequence: last,
    archived: isArchived ? { month, firstSequence, lastSequence, file } : null,
  };
};

/** The key of the sequencer's advisory locks: a number that no other lock uses. */
const LOCK = 0x43_57_45_56;

const locks = table({ taken: bool });

/**
 * Allows one sequencer at a time. The lock ends with the transaction, so it does not outlive a
 * crash and needs no session.
 */
export const takeSequencerLock = async (db: SqlReader): Promise<boolean> => {
  const lock = await locks.first(
    db,
    sql`SELECT pg_try_advisory_xact_lock(${LOCK}::bigint) AS taken`,
  );
  return lock?.taken === true;
};

interface OutboxPage {
  readonly afterProjectId: string;
  readonly projectsMax: number;
}

/**
 * SQL for the query `project` of a WITH RECURSIVE: the next projects that have events in the
 * outbox. When the outbox has fewer projects than the page, the last row is NULL.
 */
const outboxProjects = ({ afterProjectId, projectsMax }: OutboxPage): Statement => sql`
  project AS (
    (
      SELECT project_id, 1 AS n FROM event_outbox
      WHERE project_id > ${afterProjectId}
      ORDER BY project_id
      LIMIT 1
    )
    UNION ALL
    SELECT (
      SELECT o.project_id FROM event_outbox o
      WHERE o.project_id > p.project_id
      ORDER BY o.project_id
      LIMIT 1
    ), p.n + 1
    FROM project p
    WHERE p.project_id IS NOT NULL AND p.n < ${projectsMax}::int
  )`;

/**
 * Numbers committed events and moves them to `event`. Each call handles the next projects, and at
 * most `perProject` events of each project, so that a project with many events does not delay the
 * others. The caller holds the sequencer's lock.
 *
 * Writers of one object wait for each other's commit, so the positions of its events are in commit
 * order. Writers read their clock long before they commit, and clocks of instances differ. So an
 * event that is older than its predecessor gets the predecessor's time, and times never decrease in
 * the order of the numbers.
 */
export const sequenceOutbox = (
  db: SqlReader,
  page: OutboxPage & { readonly perProject: number },
): Promise<readonly SequencedRange[]> =>
  sequencedRanges.all(
    db,
    sql`
      WITH RECURSIVE ${outboxProjects(page)}, due AS (
        SELECT p.project_id, w.position
        FROM project p
        CROSS JOIN LATERAL (
          SELECT position FROM event_outbox o
          WHERE o.project_id = p.project_id
          ORDER BY o.position
          LIMIT ${page.perProject}::int
        ) w
      ), taken AS (
        DELETE FROM event_outbox o
        USING due d
        WHERE o.project_id = d.project_id AND o.position = d.position
        RETURNING o.*
      ), due_counts AS (
        SELECT project_id, count(*) AS total FROM taken GROUP BY project_id
      ), counted AS (
        INSERT INTO event_counter AS c (project_id, last_sequence)
        SELECT project_id, total FROM due_counts
        ON CONFLICT (project_id) DO UPDATE SET
          last_sequence = c.last_sequence + EXCLUDED.last_sequence
        RETURNING project_id, last_sequence
      ), previous AS (
        SELECT project_id, last_sequence - total AS sequence, (
          SELECT e.created_at FROM event e
          WHERE e.project_id = c.project_id AND e.sequence = c.last_sequence - d.total
        ) AS created_at
        FROM counted c
        JOIN due_counts d USING (project_id)
      ), numbered AS (
        SELECT t.*,
          row_number() OVER (PARTITION BY project_id ORDER BY position) AS n,
          row_number() OVER (PARTITION BY project_id, object_id ORDER BY position) AS object_n,
          max(created_at) OVER (PARTITION BY project_id ORDER BY position) AS latest
        FROM taken t
      ), stored AS (
        INSERT INTO event (
          project_id, sequence, id, type, object_id, object_sequence, payload, private, created_at
        )
        SELECT t.project_id, p.sequence + t.n, t.id, t.type, t.object_id,
          t.object_n + coalesce((
            SELECT max(e.object_sequence) FROM event e
            WHERE e.project_id = t.project_id AND e.object_id = t.object_id
          ), 0),
          t.payload, t.private, greatest(p.created_at, t.latest)
        FROM numbered t
        JOIN previous p ON p.project_id = t.project_id
        ORDER BY t.project_id, t.n
        RETURNING project_id, sequence
      )
      SELECT project_id AS "projectId",
        min(sequence)::float8 AS "from",
        max(sequence)::float8 AS "to"
      FROM stored
      GROUP BY project_id
      ORDER BY project_id`,
  );

export const hasOutbox = async (db: SqlReader): Promise<boolean> =>
  (await db.query(sql`SELECT 1 FROM event_outbox LIMIT 1`)).length > 0;

const backlogs = table({ count: int, oldest: nullable(time) });

/** The number of unnumbered events and the time of the oldest, for metrics. */
export const outboxBacklog = async (
  db: SqlReader,
): Promise<{ count: number; oldest: Date | null }> => {
  const backlog = await backlogs.first(
    db,
    sql`
      SELECT count(*)::int AS count, min(created_at) AS oldest
      FROM (SELECT created_at FROM event_outbox LIMIT 10000) w`,
  );
  return backlog ?? { count: 0, oldest: null };
};

// Numbers the events of one project on a cluster, where the outbox is on the coordinator and the
// numbered events are on the project's node.

const waiting = table({
  projectId: text,
  /** The group of the node that has the project's rows. */
  node: int,
});

export type WaitingProject = RowOf<typeof waiting>;

export const waitingProjects = (
  db: SqlReader,
  page: OutboxPage,
): Promise<readonly WaitingProject[]> =>
  waiting.all(
    db,
    sql`
      WITH RECURSIVE ${outboxProjects(page)}
      SELECT p.project_id AS "projectId", ${raw(nodeOfProject("p.project_id"))} AS node
      FROM project p
      WHERE p.project_id IS NOT NULL
      ORDER BY p.project_id`,
  );

/**
 * Maximum duration of a statement in milliseconds. It limits how long an unresponsive node delays
 * the numbering of other projects.
 */
const STATEMENT_MS = 5_000;

const takenRows = outboxRows.pick("id", "type", "objectId", "payload", "private", "createdAt");
type Taken = RowOf<typeof takenRows>;

const lastOfObjects = table({
  objectId: text,
  last: count,
  /** Time of the project's previous event; the same in every row. */
  previousAt: nullable(time),
});

interface Place {
  /** Sequence number of the event within its object. */
  readonly objectSequence: number;
  /**
   * The event's time. It is raised to the time of the previous event when the writer's clock was
   * behind.
   */
  readonly createdAt: Date;
}

/**
 * The sequence number within its object, and the time, of each taken event.
 * @param after sequence number of the project's previous event
 */
const placesOf = async (
  db: Sql,
  projectId: string,
  taken: readonly Taken[],
  after: number,
): Promise<readonly Place[]> => {
  const objectIds = [...new Set(taken.map(({ objectId }) => objectId))];
  const rows = await lastOfObjects.all(
    db,
    sql`
      SELECT o.object_id AS "objectId",
        coalesce((
          SELECT max(e.object_sequence) FROM event e
          WHERE e.project_id = ${projectId} AND e.object_id = o.object_id
        ), 0)::float8 AS last,
        (
          SELECT e.created_at FROM event e
          WHERE e.project_id = ${projectId} AND e.sequence = ${after}::bigint
        ) AS "previousAt"
      FROM unnest(${objectIds}::text[]) AS o (object_id)`,
  );
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
 * Limits the time of each statement, and lets one instance at a time number the project. Returns
 * false when another instance numbers the project.
 */
const beginProject = async (db: Sql, projectId: string): Promise<boolean> => {
  const lock = await locks.first(
    db,
    sql`
      SELECT set_config('statement_timeout', ${String(STATEMENT_MS)}, true),
        pg_try_advisory_xact_lock(${LOCK}::int, hashtext(${projectId})) AS taken`,
  );
  return lock?.taken === true;
};

const takeEvents = (db: Sql, projectId: string, limit: number): Promise<readonly Taken[]> =>
  takenRows.all(
    db,
    sql`
      WITH due AS (
        SELECT position FROM event_outbox
        WHERE project_id = ${projectId}
        ORDER BY position
        LIMIT ${limit}::int
      ), taken AS (
        DELETE FROM event_outbox o
        USING due d
        WHERE o.project_id = ${projectId} AND o.position = d.position
        RETURNING o.*
      )
      SELECT ${takenRows.columns("t")} FROM taken t ORDER BY t.position`,
  );

/**
 * Adds to the project's last number and returns the new last number. After a crash of the node,
 * this waits for any transaction that the node had prepared, so that no number is assigned twice.
 */
const countEvents = async (db: Sql, projectId: string, added: number): Promise<number> => {
  const counted = await lastNumbers.first(
    db,
    sql`
      INSERT INTO event_counter AS c (project_id, last_sequence)
      VALUES (${projectId}, ${added}::bigint)
      ON CONFLICT (project_id) DO UPDATE SET
        last_sequence = c.last_sequence + EXCLUDED.last_sequence
      RETURNING last_sequence::float8 AS last`,
  );
  if (counted === null) throw new Error("The counter of a project's events was not returned.");
  return counted.last;
};

/**
 * Takes committed events of one project from the outbox, numbers them, and stores them in `event`,
 * all in the caller's transaction `db`. Uses only the node with the project's rows.
 * @returns the numbers; null when another instance numbers this project, or no events are left
 */
export const sequenceProject = async (
  db: Sql,
  { projectId, limit }: { readonly projectId: string; readonly limit: number },
): Promise<SequencedRange | null> => {
  if (!(await beginProject(db, projectId))) return null;
  const taken = await takeEvents(db, projectId, limit);
  if (taken.length === 0) return null;
  const last = await countEvents(db, projectId, taken.length);
  const from = last - taken.length + 1;
  const places = await placesOf(db, projectId, taken, from - 1);
  await db.change(sql`
    INSERT INTO event (
      project_id, sequence, id, type, object_id, object_sequence, payload, private, created_at
    )
    SELECT ${projectId}, sequence, id, type, object_id, object_sequence, payload::json, private,
      created_at
    FROM unnest(
      ${taken.map((_, index) => from + index)}::bigint[],
      ${taken.map(({ id }) => id)}::text[],
      ${taken.map(({ type }) => type)}::text[],
      ${taken.map(({ objectId }) => objectId)}::text[],
      ${places.map(({ objectSequence }) => objectSequence)}::bigint[],
      ${taken.map(({ payload }) => payload)}::text[],
      ${taken.map((row) => row.private)}::boolean[],
      ${places.map(({ createdAt }) => createdAt.toISOString())}::timestamptz[]
    ) AS e (sequence, id, type, object_id, object_sequence, payload, private, created_at)`);
  return { projectId, from, to: last };
};
