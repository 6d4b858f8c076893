import type { Sql, SqlReader } from "@/lib/db/sql";
import type { SentEvent } from "./body";
import { HOLD_BACK_MS } from "./schedule";

/** An endpoint as one worker's work: it has the lease, and nobody else delivers to it meanwhile. */
export interface LaneKey {
  readonly projectId: string;
  readonly endpointId: string;
}

/** A delivery that may be made now. */
export interface DueDelivery extends SentEvent {
  readonly id: string;
  readonly attempts: number;
}

/** What one attempt came to. */
export interface Result {
  readonly id: string;
  /** Before this attempt. */
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

// The lease runs in the database's own time, what is due in the service's: tests move that.
const CLAIM = `
  UPDATE webhook_lane l SET locked_by = $1, locked_until = now() + $2::int * interval '1 millisecond'
  FROM (
    SELECT l.project_id, l.endpoint_id FROM webhook_lane l
    JOIN webhook_endpoint w ON w.project_id = l.project_id AND w.id = l.endpoint_id AND w.status = 'active'
    WHERE l.due_at <= $3::timestamptz AND (l.locked_until IS NULL OR l.locked_until < now())
    ORDER BY l.due_at LIMIT $4::int FOR UPDATE OF l SKIP LOCKED
  ) due
  WHERE l.project_id = due.project_id AND l.endpoint_id = due.endpoint_id
  RETURNING l.project_id AS "projectId", l.endpoint_id AS "endpointId"`;

export const claimLanes = (
  sql: SqlReader,
  claim: { readonly workerId: string; readonly leaseMs: number; readonly now: Date; readonly limit: number },
): Promise<readonly LaneKey[]> =>
  sql.query<LaneKey>(CLAIM, [claim.workerId, claim.leaseMs, claim.now.toISOString(), claim.limit]);

const EXTEND = `
  UPDATE webhook_lane l SET locked_until = now() + $2::int * interval '1 millisecond'
  FROM unnest($3::text[], $4::text[]) AS h (project_id, endpoint_id)
  WHERE l.project_id = h.project_id AND l.endpoint_id = h.endpoint_id AND l.locked_by = $1 AND l.locked_until >= now()
  RETURNING l.project_id AS "projectId", l.endpoint_id AS "endpointId"`;

/** @returns those that are still this worker's */
export const extendLanes = (
  sql: SqlReader,
  {
    workerId,
    leaseMs,
    lanes,
  }: { readonly workerId: string; readonly leaseMs: number; readonly lanes: readonly LaneKey[] },
): Promise<readonly LaneKey[]> =>
  sql.query<LaneKey>(EXTEND, [
    workerId,
    leaseMs,
    lanes.map(({ projectId }) => projectId),
    lanes.map(({ endpointId }) => endpointId),
  ]);

const HOLD = `${String(HOLD_BACK_MS)} * interval '1 millisecond'`;

/**
 * Whether an earlier delivery of the same object failed first less than five minutes ago. Earlier ones that were not tried yet come before
 * by their time, and the lane makes them one after the other. The LIMIT makes it one look into the index for each delivery, whatever the
 * planner expects of a table that grows and shrinks.
 */
const isHeldBack = (now: string): string => `coalesce((
  SELECT true FROM webhook_delivery b
  WHERE b.project_id = d.project_id AND b.endpoint_id = d.endpoint_id AND b.object_id = d.object_id AND b.status = 'pending'
    AND b.first_attempt_at > ${now}::timestamptz - ${HOLD} AND (b.sequence, b.id) < (d.sequence, d.id)
  LIMIT 1), false)`;

const DUE = `
  SELECT d.id, d.attempts, d.event_id AS "eventId", d.event_type AS type, d.sequence::float8 AS sequence,
    d.previous_sequence::float8 AS "previousSequence", d.object_id AS "objectId",
    coalesce(e.object_sequence, 0)::float8 AS "objectSequence", coalesce(e.payload::text, '{}') AS payload,
    coalesce(e.private, false) AS private, coalesce(e.created_at, d.created_at) AS "createdAt"
  FROM webhook_delivery d
  LEFT JOIN event e ON e.project_id = d.project_id AND e.sequence = d.sequence
  WHERE d.project_id = $1 AND d.endpoint_id = $2 AND d.status = 'pending' AND d.due_at <= $3::timestamptz
    AND d.id <> ALL($4::text[]) AND NOT ${isHeldBack("$3")}
  ORDER BY d.due_at, d.sequence LIMIT $5::int`;

/** In their order, without those under way and those that are held back. */
export const dueDeliveries = (
  sql: SqlReader,
  query: LaneKey & { readonly now: Date; readonly underWay: readonly string[]; readonly limit: number },
): Promise<readonly DueDelivery[]> => {
  const { projectId, endpointId, now, underWay, limit } = query;
  return sql.query<DueDelivery>(DUE, [projectId, endpointId, now.toISOString(), underWay, limit]);
};

// `= ANY` leads to the primary key. By the join alone the planner, whose statistics lag behind, may walk all that waits for each row;
// and `completed_at`, which is null while a delivery is pending, keeps it from the index of what is pending.
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

/** Stores what attempts came to. Each counts once: an attempt that another worker has recorded since changes nothing. */
export const recordResults = async (
  sql: Sql,
  { projectId, endpointId }: LaneKey,
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

/** Since when every attempt has failed; null: the last one did not. */
export const failingSince = async (sql: SqlReader, { projectId, endpointId }: LaneKey): Promise<Date | null> => {
  const rows = await sql.query<{ failingSince: Date | null }>(
    `SELECT failing_since AS "failingSince" FROM webhook_lane WHERE project_id = $1 AND endpoint_id = $2`,
    [projectId, endpointId],
  );
  return rows[0]?.failingSince ?? null;
};

const LOCK = "SELECT 1 FROM webhook_lane WHERE project_id = $1 AND endpoint_id = $2 AND locked_by = $3 FOR UPDATE";

const RELEASE = `
  UPDATE webhook_lane l SET locked_by = NULL, locked_until = NULL, due_at = least((
    SELECT d.due_at FROM webhook_delivery d
    WHERE d.project_id = l.project_id AND d.endpoint_id = l.endpoint_id AND d.status = 'pending' AND NOT ${isHeldBack("$3")}
    ORDER BY d.due_at LIMIT 1
  ), (
    SELECT min(d.first_attempt_at) + ${HOLD} FROM webhook_delivery d
    WHERE d.project_id = l.project_id AND d.endpoint_id = l.endpoint_id AND d.status = 'pending'
      AND d.first_attempt_at > $3::timestamptz - ${HOLD}
  ))
  WHERE l.project_id = $1 AND l.endpoint_id = $2`;

/**
 * Gives the lane back with the time at which it is due next. Whoever adds deliveries changes the lane's row in the same transaction, so
 * under its lock either they are seen here, or they set the time after this.
 */
export const releaseLane = async (
  sql: Sql,
  { projectId, endpointId }: LaneKey,
  { workerId, now }: { readonly workerId: string; readonly now: Date },
): Promise<void> => {
  if ((await sql.query(LOCK, [projectId, endpointId, workerId])).length === 0) return;
  await sql.change(RELEASE, [projectId, endpointId, now.toISOString()]);
};
