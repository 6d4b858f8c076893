import { isDistributed, type Sql, type SqlReader } from "@/lib/platform/db/sql";
import {
  type Attempt,
  type AttemptColumns,
  type Delivery,
  type DeliveryColumns,
  HOLD_BACK_MS,
  IS_SERVED,
  parseAttempt,
  parseDelivery,
  type SentEvent,
} from "./rules";

/** Identifies an endpoint. */
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
const HOLD = `${String(HOLD_BACK_MS)} * interval '1 millisecond'`;

/**
 * SQL: whether an earlier delivery of the same object first failed less than five minutes ago.
 * Earlier deliveries without an attempt are due before this one, and one worker sends the
 * deliveries of an object one after another. The LIMIT forces one index lookup for each delivery,
 * whatever the planner expects of a table that grows and shrinks. `$1` is the project, which is a
 * condition here too, because on a cluster all nodes would otherwise be queried.
 */
const isHeldBack = (now: string): string => `coalesce((
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

/**
 * Due deliveries, ordered by time and sequence number, except those in progress and those that are
 * held back.
 */
export const dueDeliveries = (
  sql: SqlReader,
  query: EndpointKey & {
    readonly now: Date;
    readonly underWay: readonly string[];
    readonly limit: number;
  },
): Promise<readonly DueDelivery[]> => {
  const { projectId, endpointId, now, underWay, limit } = query;
  return sql.query<DueDelivery>(DUE, [projectId, endpointId, now.toISOString(), underWay, limit]);
};

// `= ANY` makes the planner use the primary key. With only the join it may scan all pending
// deliveries for each row, because its statistics are outdated. The condition on `completed_at`
// (null while pending) keeps it from using the index of pending deliveries.
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

/**
 * Stores the outcomes of attempts. Each counts once: an attempt that another worker has recorded in
 * the meantime changes nothing.
 */
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
    results.map(({ statusCode, responseHeaders }) =>
      statusCode === null ? null : JSON.stringify(responseHeaders),
    ),
    results.map(({ statusCode, responseBody }) => (statusCode === null ? null : responseBody)),
    results.map(({ error }) => error),
  ]);
  const isAnswered = results.some(({ status }) => status === "delivered");
  await sql.query(FAILING, [projectId, endpointId, isAnswered, times[0] ?? now.toISOString()]);
};

/** The time since which every attempt has failed; null when the last attempt succeeded. */
export const failingSince = async (
  sql: SqlReader,
  { projectId, endpointId }: EndpointKey,
): Promise<Date | null> => {
  const rows = await sql.query<{ failingSince: Date | null }>(
    `SELECT failing_since AS "failingSince" FROM webhook_lane WHERE project_id = $1 AND endpoint_id = $2`,
    [projectId, endpointId],
  );
  return rows[0]?.failingSince ?? null;
};

const COLUMNS = `
  d.project_id AS "projectId", d.id, d.endpoint_id AS "endpointId", d.kind, d.event_id AS "eventId", d.event_type AS type,
  d.sequence::float8 AS sequence, d.previous_sequence::float8 AS "previousSequence", d.object_id AS "objectId", d.status,
  d.attempts, d.due_at AS "dueAt", d.created_at AS "createdAt", d.completed_at AS "completedAt",
  d.last_status AS "statusCode", d.last_error AS error`;

interface DeliveryQuery {
  readonly projectId: string;
  readonly endpointId: string;
  readonly status?: string | undefined;
  readonly type?: string | undefined;
  /** Only rows with a smaller id. */
  readonly before?: string | undefined;
  readonly limit: number;
}

/** Newest first. */
export const listDeliveries = async (
  sql: SqlReader,
  query: DeliveryQuery,
): Promise<readonly Delivery[]> => {
  const { projectId, endpointId, status = null, type = null, before = null, limit } = query;
  const rows = await sql.query<DeliveryColumns>(
    `SELECT ${COLUMNS} FROM webhook_delivery d
     WHERE d.project_id = $1 AND d.endpoint_id = $2 AND ($3::text IS NULL OR d.status = $3) AND ($4::text IS NULL OR d.event_type = $4)
       AND ($5::text IS NULL OR d.id < $5)
     ORDER BY d.id DESC LIMIT $6::int`,
    [projectId, endpointId, status, type, before, limit],
  );
  return rows.map(parseDelivery);
};

/** A delivery, and whether its event is about a private movement. */
export interface FoundDelivery extends Delivery {
  readonly private: boolean;
}

export const findDelivery = async (
  sql: SqlReader,
  projectId: string,
  id: string,
): Promise<FoundDelivery | null> => {
  const text = `
    SELECT ${COLUMNS}, coalesce(e.private, false) AS private
    FROM webhook_delivery d LEFT JOIN event e ON e.project_id = d.project_id AND e.sequence = d.sequence
    WHERE d.project_id = $1 AND d.id = $2`;
  const [row] = await sql.query<DeliveryColumns & { readonly private: boolean }>(text, [
    projectId,
    id,
  ]);
  return row === undefined ? null : { ...parseDelivery(row), private: row.private };
};

/** Ordered by number. */
export const listAttempts = async (
  sql: SqlReader,
  projectId: string,
  deliveryId: string,
): Promise<readonly Attempt[]> => {
  const rows = await sql.query<AttemptColumns>(
    `SELECT number, at, duration_ms AS "durationMs", url, request_headers AS "requestHeaders", request_body AS "requestBody",
       status_code AS "statusCode", response_headers AS "responseHeaders", response_body AS "responseBody", error
     FROM webhook_attempt WHERE project_id = $1 AND delivery_id = $2 ORDER BY number`,
    [projectId, deliveryId],
  );
  return rows.map(parseAttempt);
};

export type NewDelivery = Pick<
  Delivery,
  | "projectId"
  | "id"
  | "endpointId"
  | "kind"
  | "eventId"
  | "type"
  | "sequence"
  | "previousSequence"
  | "objectId"
  | "createdAt"
>;

const INSERT = `
  INSERT INTO webhook_delivery (project_id, id, endpoint_id, kind, event_id, event_type, sequence, previous_sequence, object_id,
    status, due_at, created_at)
  VALUES ($1, $2, $3, $4, $5, $6, $7::bigint, $8::bigint, $9, 'pending', $10::timestamptz, $10::timestamptz)`;

/** Stores one delivery that a user requested. */
export const insertDelivery = async (sql: Sql, delivery: NewDelivery): Promise<void> => {
  const {
    projectId,
    id,
    endpointId,
    kind,
    eventId,
    type,
    sequence,
    previousSequence,
    objectId,
    createdAt,
  } = delivery;
  const words = [
    projectId,
    id,
    endpointId,
    kind,
    eventId,
    type,
    sequence,
    previousSequence,
    objectId,
  ];
  await sql.change(INSERT, [...words, createdAt.toISOString()]);
};

/** Whether the event of a delivery exists. */
export const hasEvent = async (sql: Sql, projectId: string, sequence: number): Promise<boolean> =>
  (
    await sql.query("SELECT 1 FROM event WHERE project_id = $1 AND sequence = $2::bigint", [
      projectId,
      sequence,
    ])
  ).length > 0;

// Leases use the database's clock. Due times use the service's clock, which tests can move.
const CLAIM = `
  UPDATE webhook_lane l SET locked_by = $1, locked_until = now() + $2::int * interval '1 millisecond'
  FROM (
    SELECT l.project_id, l.endpoint_id FROM webhook_lane l
    JOIN webhook_endpoint w ON w.project_id = l.project_id AND w.id = l.endpoint_id AND ${IS_SERVED}
    WHERE l.due_at <= $3::timestamptz AND (l.locked_until IS NULL OR l.locked_until < now())
    ORDER BY l.due_at LIMIT $4::int FOR UPDATE OF l SKIP LOCKED
  ) due
  WHERE l.project_id = due.project_id AND l.endpoint_id = due.endpoint_id
  RETURNING l.project_id AS "projectId", l.endpoint_id AS "endpointId"`;

/**
 * Leases due endpoints that no other worker holds. While a worker holds the lease, no other one
 * delivers to the endpoint.
 */
export const claimEndpoints = (
  sql: SqlReader,
  claim: {
    readonly workerId: string;
    readonly leaseMs: number;
    readonly now: Date;
    readonly limit: number;
  },
): Promise<readonly EndpointKey[]> =>
  sql.query<EndpointKey>(CLAIM, [
    claim.workerId,
    claim.leaseMs,
    claim.now.toISOString(),
    claim.limit,
  ]);

const EXTEND = `
  UPDATE webhook_lane l SET locked_until = now() + $2::int * interval '1 millisecond'
  FROM unnest($3::text[], $4::text[]) AS h (project_id, endpoint_id)
  WHERE l.project_id = h.project_id AND l.endpoint_id = h.endpoint_id AND l.locked_by = $1 AND l.locked_until >= now()
  RETURNING l.project_id AS "projectId", l.endpoint_id AS "endpointId"`;

/** Extends the leases of a worker. @returns the endpoints whose lease this worker still holds */
export const extendLeases = (
  sql: SqlReader,
  {
    workerId,
    leaseMs,
    endpoints,
  }: {
    readonly workerId: string;
    readonly leaseMs: number;
    readonly endpoints: readonly EndpointKey[];
  },
): Promise<readonly EndpointKey[]> =>
  sql.query<EndpointKey>(EXTEND, [
    workerId,
    leaseMs,
    endpoints.map(({ projectId }) => projectId),
    endpoints.map(({ endpointId }) => endpointId),
  ]);

const WAKE = `
  UPDATE webhook_lane SET due_at = least(coalesce(due_at, $3::timestamptz), $3::timestamptz)
  WHERE project_id = $1 AND endpoint_id = $2`;

/** Makes the endpoint due. @returns whether the endpoint exists */
export const wakeEndpoint = async (
  sql: Sql,
  { projectId, endpointId }: EndpointKey,
  now: Date,
): Promise<boolean> => (await sql.change(WAKE, [projectId, endpointId, now.toISOString()])) === 1;

const LOCK = `
  SELECT last_sequence::float8 AS "lastSequence" FROM webhook_lane
  WHERE project_id = $1 AND endpoint_id = $2 AND locked_by = $3 FOR UPDATE`;

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

/** How long to wait before looking again for deliveries that are not visible yet. */
const UNSEEN_MS = 1_000;

// The counter is stored with the deliveries of its events. While it is behind the endpoint's last
// number, the node has not committed what the coordinator has, so deliveries of those events are
// not visible yet.
const NEXT_DUE = `
  SELECT least((
    SELECT d.due_at FROM webhook_delivery d
    WHERE d.project_id = $1 AND d.endpoint_id = $2 AND d.status = 'pending' AND NOT ${isHeldBack("$3")}
    ORDER BY d.due_at LIMIT 1
  ), (
    SELECT min(d.first_attempt_at) + ${HOLD} FROM webhook_delivery d
    WHERE d.project_id = $1 AND d.endpoint_id = $2 AND d.status = 'pending' AND d.first_attempt_at > $3::timestamptz - ${HOLD}
  ), (
    SELECT $3::timestamptz + ${String(UNSEEN_MS)} * interval '1 millisecond'
    WHERE coalesce((SELECT c.last_sequence FROM event_counter c WHERE c.project_id = $1), 0) < $4::bigint
  )) AS "dueAt"`;

const RELEASE_UNTIL = `
  UPDATE webhook_lane SET locked_by = NULL, locked_until = NULL, due_at = $3::timestamptz WHERE project_id = $1 AND endpoint_id = $2`;

/**
 * Ends the lease and stores when the endpoint is due next. A transaction that adds deliveries also
 * updates the endpoint's row in `webhook_lane`. Under the lock of that row this function therefore
 * either sees the new deliveries, or their transaction sets the due time afterwards.
 */
export const releaseEndpoint = async (
  sql: Sql,
  { projectId, endpointId }: EndpointKey,
  { workerId, now }: { readonly workerId: string; readonly now: Date },
): Promise<void> => {
  const [lane] = await sql.query<{ lastSequence: number }>(LOCK, [projectId, endpointId, workerId]);
  if (lane === undefined) return;
  if (isDistributed(sql)) {
    const values = [projectId, endpointId, now.toISOString(), lane.lastSequence];
    const [next] = await sql.query<{ dueAt: Date | null }>(NEXT_DUE, values);
    await sql.change(RELEASE_UNTIL, [projectId, endpointId, next?.dueAt?.toISOString() ?? null]);
    return;
  }
  await sql.change(RELEASE, [projectId, endpointId, now.toISOString()]);
};
