import { isDistributed, type Sql } from "@/lib/platform/db/sql";
import type { SequencedRange } from "@/lib/news/events/service";

/**
 * SQL that creates a UUIDv7 in the database, so that this process need not read the events to
 * create deliveries. The ids of one statement ascend with the sequence.
 */
const NEW_DELIVERY_ID = `
  'dlv_' || overlay(overlay(gen_random_uuid()::text
    PLACING left(ms.hex, 8) || '-' || right(ms.hex, 4) FROM 1 FOR 13)
    PLACING '7' || lpad(to_hex((row_number() OVER (ORDER BY sequence) % 4096)::int), 3, '0') FROM 15 FOR 4)`;
const MILLISECONDS =
  "(SELECT lpad(to_hex((extract(epoch FROM clock_timestamp()) * 1000)::bigint), 12, '0') AS hex) ms";

const MATCHES = `('*' = ANY(w.events) OR e.type = ANY(w.events) OR split_part(e.type, '.', 1) || '.*' = ANY(w.events))`;

// A disabled endpoint gets no delivery, but its last number is still updated. So its next delivery
// shows which events it missed.
const FAN_OUT = `
  WITH matched AS (
    SELECT w.project_id, w.id AS endpoint_id, w.status, e.id, e.type, e.sequence, e.object_id,
      CASE WHEN '*' = ANY(w.events) THEN NULL ELSE coalesce(
        lag(e.sequence) OVER (PARTITION BY w.project_id, w.id ORDER BY e.sequence), nullif(l.last_sequence, 0)
      ) END AS previous_sequence
    FROM unnest($1::text[], $2::bigint[], $3::bigint[]) AS r (project_id, "from", "to")
    JOIN webhook_endpoint w ON w.project_id = r.project_id
    JOIN webhook_lane l ON l.project_id = w.project_id AND l.endpoint_id = w.id
    JOIN event e ON e.project_id = r.project_id AND e.sequence BETWEEN r."from" AND r."to"
    WHERE ${MATCHES}
  ), lanes AS (
    UPDATE webhook_lane l SET last_sequence = m.last_sequence,
      due_at = CASE WHEN m.status = 'disabled' THEN l.due_at ELSE least(coalesce(l.due_at, $4::timestamptz), $4::timestamptz) END
    FROM (
      SELECT project_id, endpoint_id, status, max(sequence) AS last_sequence FROM matched GROUP BY project_id, endpoint_id, status
    ) m
    WHERE l.project_id = m.project_id AND l.endpoint_id = m.endpoint_id
  )
  INSERT INTO webhook_delivery (project_id, id, endpoint_id, kind, event_id, event_type, sequence, previous_sequence, object_id,
    status, due_at, created_at)
  SELECT project_id, ${NEW_DELIVERY_ID}, endpoint_id, 'event', m.id, type, sequence, previous_sequence, object_id, 'pending',
    $4::timestamptz, $4::timestamptz
  FROM matched m, ${MILLISECONDS}
  WHERE status <> 'disabled' ORDER BY project_id, endpoint_id, sequence`;

// On a cluster, endpoints are on the coordinator and events on a node. So the endpoints are read
// first and passed as JSON to the statements about events.
const ENDPOINTS = `
  SELECT w.id, w.status, w.events, l.last_sequence::float8 AS "lastSequence"
  FROM webhook_endpoint w JOIN webhook_lane l ON l.project_id = w.project_id AND l.endpoint_id = w.id WHERE w.project_id = $1`;

const MATCHED_OF_PROJECT = `
  SELECT e.project_id, w.id AS endpoint_id, w.status, e.id, e.type, e.sequence, e.object_id,
    CASE WHEN '*' = ANY(w.events) THEN NULL ELSE coalesce(
      lag(e.sequence) OVER (PARTITION BY w.id ORDER BY e.sequence), nullif(w."lastSequence", 0)
    ) END AS previous_sequence
  FROM event e CROSS JOIN jsonb_to_recordset($4::jsonb) AS w (id text, status text, events text[], "lastSequence" bigint)
  WHERE e.project_id = $1 AND e.sequence BETWEEN $2::bigint AND $3::bigint AND ${MATCHES}`;

const LAST_MATCHED = `
  SELECT endpoint_id AS "endpointId", status, max(sequence)::float8 AS last FROM (${MATCHED_OF_PROJECT}) m GROUP BY endpoint_id, status`;

const MOVE_LANES = `
  UPDATE webhook_lane l SET last_sequence = m.last_sequence,
    due_at = CASE WHEN m.status = 'disabled' THEN l.due_at ELSE least(coalesce(l.due_at, $5::timestamptz), $5::timestamptz) END
  FROM unnest($2::text[], $3::text[], $4::bigint[]) AS m (endpoint_id, status, last_sequence)
  WHERE l.project_id = $1 AND l.endpoint_id = m.endpoint_id`;

const DELIVER_OF_PROJECT = `
  INSERT INTO webhook_delivery (project_id, id, endpoint_id, kind, event_id, event_type, sequence, previous_sequence, object_id,
    status, due_at, created_at)
  SELECT project_id, ${NEW_DELIVERY_ID}, endpoint_id, 'event', m.id, type, sequence, previous_sequence, object_id, 'pending',
    $5::timestamptz, $5::timestamptz
  FROM (${MATCHED_OF_PROJECT}) m, ${MILLISECONDS}
  WHERE status <> 'disabled' ORDER BY endpoint_id, sequence`;

/** Like `FAN_OUT`, for one project. */
const fanOutProject = async (
  sql: Sql,
  { projectId, from, to }: SequencedRange,
  now: Date,
): Promise<number> => {
  const endpoints = await sql.query<object>(ENDPOINTS, [projectId]);
  if (endpoints.length === 0) return 0;
  const values = [projectId, from, to, JSON.stringify(endpoints)];
  const matched = await sql.query<{ endpointId: string; status: string; last: number }>(
    LAST_MATCHED,
    values,
  );
  if (matched.length === 0) return 0;
  await sql.change(MOVE_LANES, [
    projectId,
    matched.map(({ endpointId }) => endpointId),
    matched.map(({ status }) => status),
    matched.map(({ last }) => last),
    now.toISOString(),
  ]);
  return sql.change(DELIVER_OF_PROJECT, [...values, now.toISOString()]);
};

/**
 * Creates a delivery of each event for each subscribed endpoint, in the transaction that numbers
 * the events, so that none is missed or duplicated.
 * @returns the number of deliveries
 */
export const fanOutEvents = async (
  sql: Sql,
  ranges: readonly SequencedRange[],
  now: Date,
): Promise<number> => {
  if (isDistributed(sql)) {
    let deliveries = 0;
    for (const range of ranges) deliveries += await fanOutProject(sql, range, now);
    return deliveries;
  }
  return sql.change(FAN_OUT, [
    ranges.map(({ projectId }) => projectId),
    ranges.map(({ from }) => from),
    ranges.map(({ to }) => to),
    now.toISOString(),
  ]);
};

const REPLAY = `
  INSERT INTO webhook_delivery (project_id, id, endpoint_id, kind, event_id, event_type, sequence, previous_sequence, object_id,
    status, due_at, created_at)
  SELECT project_id, ${NEW_DELIVERY_ID}, $2, 'replay', m.id, type, sequence, previous_sequence, object_id, 'pending',
    $6::timestamptz, $6::timestamptz
  FROM (
    SELECT e.*, CASE WHEN '*' = ANY(w.events) THEN NULL ELSE lag(e.sequence) OVER (ORDER BY e.sequence) END AS previous_sequence
    FROM event e CROSS JOIN (SELECT $5::text[] AS events) w
    WHERE e.project_id = $1 AND e.sequence BETWEEN $3::bigint AND $4::bigint AND ${MATCHES}
  ) m, ${MILLISECONDS} ORDER BY sequence`;

/** @returns the number of events of the range to which the endpoint is subscribed */
export const replayEvents = (
  sql: Sql,
  range: {
    readonly projectId: string;
    readonly endpointId: string;
    /** Types of events to which the endpoint is subscribed. */
    readonly events: readonly string[];
    readonly from: number;
    readonly to: number;
    readonly now: Date;
  },
): Promise<number> =>
  sql.change(REPLAY, [
    range.projectId,
    range.endpointId,
    range.from,
    range.to,
    range.events,
    range.now.toISOString(),
  ]);

const ARCHIVED = `
  SELECT file FROM archived_events WHERE project_id = $1 AND last_sequence >= $2::bigint AND first_sequence <= $3::bigint
  ORDER BY first_sequence LIMIT 1`;

/**
 * The archive file with events of the range, which may be missing in the database. Call it after
 * deliveries were inserted, in their transaction: an archive run that begins in the meantime waits
 * for the end of the transaction.
 */
export const archiveOf = async (
  sql: Sql,
  range: { readonly projectId: string; readonly from: number; readonly to: number },
): Promise<string | null> => {
  const [row] = await sql.query<{ file: string }>(ARCHIVED, [
    range.projectId,
    range.from,
    range.to,
  ]);
  return row?.file ?? null;
};
