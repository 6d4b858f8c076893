import type { Sql, SqlReader } from "@/lib/db/sql";
import type { SentEvent } from "./delivery-body";
import { HOLD_BACK_MS } from "./retry-schedule";

/** Names an endpoint. */
export interface EndpointKey {
  readonly projectId: string;
  readonly endpointId: string;
}

/** A delivery that may be made now. */
export interface DueDelivery extends SentEvent {
  readonly id: string;
  readonly attempts: number;
}

/** The outcome of one attempt. */
export interface Result {
  readonly id: string;
  /** Number of attempts before this one. */
  readonly attempts: number;
  readonly status: "pending" | "delivered" | "failed";
  readonly dueAt: Date;
  readonly at: Date;
  readonly durationMs: number;
  readonly url: string;
  readonly requestHeaders: Readonly<Record<string, string>>;
  readonly requestBody: string;
  readonly statusCode: number | null;
  readonly responseHeaders: Readonly<Record<string, string>>;
  readonly responseBody: string;
  readonly error: string | null;
}

/** SQL: how long a failed delivery holds back later ones of its object. */
export const HOLD = `${String(HOLD_BACK_MS)} * interval '1 millisecond'`;

/**
 * SQL: whether an earlier delivery of the same object first failed less than five minutes ago. Earlier deliveries without an attempt are
 * due before this one, and one worker sends the deliveries of an object one after the other. The LIMIT forces one index lookup for each
 * delivery, whatever the planner expects of a table that grows and shrinks. `$1` is the project: named here too, or on a cluster all nodes
 * would be asked.
 */
export const isHeldBack = (now: string): string => `coalesce((
  SELECT true FROM webhook_delivery b
  WHERE b.project_id = $1 AND b.endpoint_id = d.endpoint_id AND b.object_id = d.object_id AND b.status = 'pending'
    AND b.first_attempt_at > ${now}::timestamptz - ${HOLD} AND (b.sequence, b.id) < (d.sequence, d.id)
  LIMIT 1), false)`;

const DUE = `
  SELECT d.id, d.attempts, d.event_id AS "eventId", d.event_type AS type, d.sequence::float8 AS sequence,
    d.previous_sequence::float8 AS "previousSequence", d.object_id AS "objectId",
    coalesce(e.object_sequence, 0)::float8 AS "objectSequence", coalesce(e.payload::text, '{}') AS payload,
    coalesce(e.private, false) AS private, coalesce(e.created_at, d.created_at) AS "createdAt"
  FROM webhook_delivery d
  LEFT JOIN event e ON e.project_id = $1 AND e.sequence = d.sequence
  WHERE d.project_id = $1 AND d.endpoint_id = $2 AND d.status = 'pending' AND d.due_at <= $3::timestamptz
    AND d.id <> ALL($4::text[]) AND NOT ${isHeldBack("$3")}
  ORDER BY d.due_at, d.sequence LIMIT $5::int`;

/** Deliveries that are due, ordered by time and sequence number, without those under way and those that are held back. */
export const dueDeliveries = (
  sql: SqlReader,
  query: EndpointKey & { readonly now: Date; readonly underWay: readonly string[]; readonly limit: number },
): Promise<readonly DueDelivery[]> => {
  const { projectId, endpointId, now, underWay, limit } = query;
  return sql.query<DueDelivery>(DUE, [projectId, endpointId, now.toISOString(), underWay, limit]);
};

// `= ANY` makes the planner use the primary key. With the join alone it may scan all pending deliveries for each row, because its
// statistics lag behind. The condition on `completed_at` (null while pending) keeps it away from the index of pending deliveries.
const RECORD = `
  UPDATE webhook_delivery d SET status = r.status, attempts = d.attempts + 1, due_at = r.due_at, last_status = r.status_code,
    last_error = r.error, first_attempt_at = coalesce(d.first_attempt_at, r.at),
    completed_at = CASE WHEN r.status = 'pending' THEN NULL ELSE $8::timestamptz END
  FROM unnest($2::text[], $3::int[], $4::text[], $5::timestamptz[], $6::int[], $7::text[], $9::timestamptz[])
    AS r (id, attempts, status, due_at, status_code, error, at)
  WHERE d.project_id = $1 AND d.id = ANY($2::text[]) AND d.id = r.id AND d.completed_at IS NULL AND d.attempts = r.attempts`;

const INSERT_ATTEMPTS = `
  INSERT INTO webhook_attempt (project_id, delivery_id, number, at, duration_ms, url, request_headers, request_body, status_code,
    response_headers, response_body, error)
  SELECT $1, delivery_id, number, at, duration_ms, url, request_headers::json, request_body, status_code, response_headers::json,
    response_body, error
  FROM unnest($2::text[], $3::int[], $4::timestamptz[], $5::int[], $6::text[], $7::text[], $8::text[], $9::int[], $10::text[],
    $11::text[], $12::text[])
    AS a (delivery_id, number, at, duration_ms, url, request_headers, request_body, status_code, response_headers, response_body, error)
  ON CONFLICT DO NOTHING`;

const FAILING = `
  UPDATE webhook_lane SET failing_since = CASE WHEN $3 THEN NULL ELSE coalesce(failing_since, $4::timestamptz) END
  WHERE project_id = $1 AND endpoint_id = $2 AND (failing_since IS NULL) <> $3
  RETURNING failing_since AS "failingSince"`;

/** Stores the outcomes of attempts. Each counts once: an attempt that another worker has recorded meanwhile changes nothing. */
export const recordResults = async (
  sql: Sql,
  { projectId, endpointId }: EndpointKey,
  { results, now }: { readonly results: readonly Result[]; readonly now: Date },
): Promise<void> => {
  const times = results.map(({ at }) => at.toISOString());
  await sql.change(RECORD, [
    projectId,
    results.map(({ id }) => id),
    results.map(({ attempts }) => attempts),
    results.map(({ status }) => status),
    results.map(({ dueAt }) => dueAt.toISOString()),
    results.map(({ statusCode }) => statusCode),
    results.map(({ error }) => error),
    now.toISOString(),
    times,
  ]);
  await sql.change(INSERT_ATTEMPTS, [
    projectId,
    results.map(({ id }) => id),
    results.map(({ attempts }) => attempts + 1),
    times,
    results.map(({ durationMs }) => durationMs),
    results.map(({ url }) => url),
    results.map(({ requestHeaders }) => JSON.stringify(requestHeaders)),
    results.map(({ requestBody }) => requestBody),
    results.map(({ statusCode }) => statusCode),
    results.map(({ statusCode, responseHeaders }) => (statusCode === null ? null : JSON.stringify(responseHeaders))),
    results.map(({ statusCode, responseBody }) => (statusCode === null ? null : responseBody)),
    results.map(({ error }) => error),
  ]);
  const isAnswered = results.some(({ status }) => status === "delivered");
  await sql.query(FAILING, [projectId, endpointId, isAnswered, times[0] ?? now.toISOString()]);
};

/** The time since which every attempt has failed; null when the last attempt succeeded. */
export const failingSince = async (sql: SqlReader, { projectId, endpointId }: EndpointKey): Promise<Date | null> => {
  const rows = await sql.query<{ failingSince: Date | null }>(
    `SELECT failing_since AS "failingSince" FROM webhook_lane WHERE project_id = $1 AND endpoint_id = $2`,
    [projectId, endpointId],
  );
  return rows[0]?.failingSince ?? null;
};
