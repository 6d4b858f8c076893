import { isDistributed, type Sql } from "@/lib/platform/db/sql";
import { raw, sql, type Statement } from "@/lib/platform/db/statement";
import { count, type RowOf, table, text } from "@/lib/platform/db/table";
import type { SequencedRange } from "@/lib/news/events/service";
import { subscribers } from "./rows";

// Creates the deliveries of events. Workers cache the plans of these statements by their text, so
// the texts are constant.

/**
 * SQL that creates a UUIDv7, so that the events need not be read to create deliveries. The ids of
 * one statement ascend with the sequence.
 */
const NEW_DELIVERY_ID = raw(`
  'dlv_' || overlay(overlay(gen_random_uuid()::text
    PLACING left(ms.hex, 8) || '-' || right(ms.hex, 4) FROM 1 FOR 13)
    PLACING '7' || lpad(to_hex((row_number() OVER (ORDER BY sequence) % 4096)::int), 3, '0')
    FROM 15 FOR 4)`);
const MILLISECONDS = raw(`(
  SELECT lpad(to_hex((extract(epoch FROM clock_timestamp()) * 1000)::bigint), 12, '0') AS hex
) ms`);

/** SQL: whether the endpoint `w` is subscribed to the event `e`. */
const MATCHES = raw(`(
  '*' = ANY(w.events)
  OR e.type = ANY(w.events)
  OR split_part(e.type, '.', 1) || '.*' = ANY(w.events)
)`);

const NEW_DELIVERY = raw(`
  project_id, id, endpoint_id, kind, event_id, event_type, sequence, previous_sequence, object_id,
  status, due_at, created_at`);

/**
 * SQL for one server. A disabled endpoint gets no delivery, but its last sequence number is
 * updated, so that its next delivery shows that the endpoint missed events.
 */
const fanOut = (ranges: readonly SequencedRange[], now: Date): Statement => sql`
  WITH matched AS (
    SELECT w.project_id, w.id AS endpoint_id, w.status, e.id, e.type, e.sequence, e.object_id,
      CASE WHEN '*' = ANY(w.events) THEN NULL ELSE coalesce(
        lag(e.sequence) OVER (PARTITION BY w.project_id, w.id ORDER BY e.sequence),
        nullif(l.last_sequence, 0)
      ) END AS previous_sequence
    FROM unnest(
      ${ranges.map(({ projectId }) => projectId)}::text[],
      ${ranges.map(({ from }) => from)}::bigint[],
      ${ranges.map(({ to }) => to)}::bigint[]
    ) AS r (project_id, "from", "to")
    JOIN webhook_endpoint w ON w.project_id = r.project_id
    JOIN webhook_lane l ON l.project_id = w.project_id AND l.endpoint_id = w.id
    JOIN event e ON e.project_id = r.project_id AND e.sequence BETWEEN r."from" AND r."to"
    WHERE ${MATCHES}
  ), lanes AS (
    UPDATE webhook_lane l SET
      last_sequence = m.last_sequence,
      due_at = CASE
        WHEN m.status = 'disabled' THEN l.due_at
        ELSE least(coalesce(l.due_at, ${now}::timestamptz), ${now}::timestamptz)
      END
    FROM (
      SELECT project_id, endpoint_id, status, max(sequence) AS last_sequence
      FROM matched
      GROUP BY project_id, endpoint_id, status
    ) m
    WHERE l.project_id = m.project_id AND l.endpoint_id = m.endpoint_id
  )
  INSERT INTO webhook_delivery (${NEW_DELIVERY})
  SELECT project_id, ${NEW_DELIVERY_ID}, endpoint_id, 'event', m.id, type, sequence,
    previous_sequence, object_id, 'pending', ${now}::timestamptz, ${now}::timestamptz
  FROM matched m, ${MILLISECONDS}
  WHERE status <> 'disabled'
  ORDER BY project_id, endpoint_id, sequence`;

// On a cluster, endpoints are on the coordinator and events on a node. So the endpoints are read
// first and passed as JSON to the statements about events.

/** SQL: each event of the range, once per subscribed endpoint. */
const matchedOf = (
  { projectId, from, to }: SequencedRange,
  endpoints: readonly RowOf<typeof subscribers>[],
): Statement => sql`
  SELECT e.project_id, w.id AS endpoint_id, w.status, e.id, e.type, e.sequence, e.object_id,
    CASE WHEN '*' = ANY(w.events) THEN NULL ELSE coalesce(
      lag(e.sequence) OVER (PARTITION BY w.id ORDER BY e.sequence),
      nullif(w.last_sequence, 0)
    ) END AS previous_sequence
  FROM event e
  CROSS JOIN ${subscribers.list(endpoints)} AS w
  WHERE e.project_id = ${projectId}
    AND e.sequence BETWEEN ${from}::bigint AND ${to}::bigint
    AND ${MATCHES}`;

const lastMatched = table({ endpointId: text, status: text, last: count });

const fanOutProject = async (db: Sql, range: SequencedRange, now: Date): Promise<number> => {
  const { projectId } = range;
  const endpoints = await subscribers.all(
    db,
    sql`
      SELECT w.id, w.status, w.events, l.last_sequence::float8 AS "lastSequence"
      FROM webhook_endpoint w
      JOIN webhook_lane l ON l.project_id = w.project_id AND l.endpoint_id = w.id
      WHERE w.project_id = ${projectId}`,
  );
  if (endpoints.length === 0) return 0;
  const last = await lastMatched.all(
    db,
    sql`
      SELECT endpoint_id AS "endpointId", status, max(sequence)::float8 AS last
      FROM (${matchedOf(range, endpoints)}) m
      GROUP BY endpoint_id, status`,
  );
  if (last.length === 0) return 0;
  await db.change(sql`
    UPDATE webhook_lane l SET
      last_sequence = m.last_sequence,
      due_at = CASE
        WHEN m.status = 'disabled' THEN l.due_at
        ELSE least(coalesce(l.due_at, ${now}::timestamptz), ${now}::timestamptz)
      END
    FROM unnest(
      ${last.map(({ endpointId }) => endpointId)}::text[],
      ${last.map(({ status }) => status)}::text[],
      ${last.map((matched) => matched.last)}::bigint[]
    ) AS m (endpoint_id, status, last_sequence)
    WHERE l.project_id = ${projectId} AND l.endpoint_id = m.endpoint_id`);
  return db.change(sql`
    INSERT INTO webhook_delivery (${NEW_DELIVERY})
    SELECT project_id, ${NEW_DELIVERY_ID}, endpoint_id, 'event', m.id, type, sequence,
      previous_sequence, object_id, 'pending', ${now}::timestamptz, ${now}::timestamptz
    FROM (${matchedOf(range, endpoints)}) m, ${MILLISECONDS}
    WHERE status <> 'disabled'
    ORDER BY endpoint_id, sequence`);
};

/**
 * Creates a delivery of each event for each subscribed endpoint, in the transaction that numbers
 * the events, so that none is missed or duplicated.
 * @returns the number of deliveries
 */
export const fanOutEvents = async (
  db: Sql,
  ranges: readonly SequencedRange[],
  now: Date,
): Promise<number> => {
  if (!isDistributed(db)) return db.change(fanOut(ranges, now));
  let deliveries = 0;
  for (const range of ranges) deliveries += await fanOutProject(db, range, now);
  return deliveries;
};

/**
 * Creates a delivery for each event of the range to which the endpoint is subscribed.
 * @returns the number of deliveries
 */
export const replayEvents = (
  db: Sql,
  {
    projectId,
    endpointId,
    events,
    from,
    to,
    now,
  }: {
    readonly projectId: string;
    readonly endpointId: string;
    readonly events: readonly string[];
    readonly from: number;
    readonly to: number;
    readonly now: Date;
  },
): Promise<number> =>
  db.change(sql`
    INSERT INTO webhook_delivery (${NEW_DELIVERY})
    SELECT project_id, ${NEW_DELIVERY_ID}, ${endpointId}, 'replay', m.id, type, sequence,
      previous_sequence, object_id, 'pending', ${now}::timestamptz, ${now}::timestamptz
    FROM (
      SELECT e.*,
        CASE WHEN '*' = ANY(w.events) THEN NULL
          ELSE lag(e.sequence) OVER (ORDER BY e.sequence)
        END AS previous_sequence
      FROM event e
      CROSS JOIN (SELECT ${events}::text[] AS events) w
      WHERE e.project_id = ${projectId}
        AND e.sequence BETWEEN ${from}::bigint AND ${to}::bigint
        AND ${MATCHES}
    ) m, ${MILLISECONDS}
    ORDER BY sequence`);

const files = table({ file: text });

/**
 * The archive file that contains events of the range; null when none does. The database may lack
 * such events. Must be called after deliveries were inserted, in their transaction: a later archive
 * run waits for the end of that transaction.
 */
export const archiveOf = async (
  db: Sql,
  {
    projectId,
    from,
    to,
  }: {
    readonly projectId: string;
    readonly from: number;
    readonly to: number;
  },
): Promise<string | null> => {
  const archived = await files.first(
    db,
    sql`
      SELECT ${files.columns()} FROM archived_events
      WHERE project_id = ${projectId}
        AND last_sequence >= ${from}::bigint
        AND first_sequence <= ${to}::bigint
      ORDER BY first_sequence
      LIMIT 1`,
  );
  return archived?.file ?? null;
};
