import type { Sql, SqlReader } from "@/lib/platform/db/sql";
import { join, raw, sql, type Statement } from "@/lib/platform/db/statement";
import {
  type Attempt,
  attempts,
  deliveries,
  type Delivery,
  deliveryOf,
  type DueDelivery,
  dueDeliveryRows,
  type EndpointKey,
  foundDeliveries,
} from "./rows";
import { HOLD_BACK_MS } from "./rules";

// Reads and writes the deliveries of endpoints and their attempts. Workers' connections cache the
// plans of frequent statements by the statements' text, so these texts are constant.

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

/** SQL: the interval for which a failed delivery delays later deliveries of its object. */
export const HOLD = raw(`${String(HOLD_BACK_MS)} * interval '1 millisecond'`);

/**
 * SQL: whether the delivery `d` has to wait for an earlier delivery of its object that first
 * failed less than five minutes ago. An earlier delivery without an attempt needs no check,
 * because it is due before `d` and one worker sends the deliveries of an object one after another.
 * The LIMIT forces one index lookup per delivery, because the table grows and shrinks and the
 * planner's statistics are often outdated. Without the condition on the project, a cluster would
 * query all nodes.
 */
export const isHeldBack = (projectId: string, now: Date): Statement => sql`
  coalesce((
    SELECT true FROM webhook_delivery b
    WHERE b.project_id = ${projectId}
      AND b.endpoint_id = d.endpoint_id
      AND b.object_id = d.object_id
      AND b.status = 'pending'
      AND b.first_attempt_at > ${now}::timestamptz - ${HOLD}
      AND (b.sequence, b.id) < (d.sequence, d.id)
    LIMIT 1
  ), false)`;

const dueOfDelivery = deliveries.pick(
  "id",
  "attempts",
  "eventId",
  "sequence",
  "previousSequence",
  "objectId",
);

/**
 * Due deliveries by time and sequence number, except those in progress and those that are held
 * back.
 */
export const dueDeliveries = (
  db: SqlReader,
  {
    projectId,
    endpointId,
    now,
    underWay,
    limit,
  }: EndpointKey & {
    readonly now: Date;
    readonly underWay: readonly string[];
    readonly limit: number;
  },
): Promise<readonly DueDelivery[]> =>
  dueDeliveryRows.all(
    db,
    sql`
      SELECT ${dueOfDelivery.columns("d")},
        d.event_type AS type,
        coalesce(e.object_sequence, 0)::float8 AS "objectSequence",
        coalesce(e.payload::text, '{}') AS payload,
        coalesce(e.private, false) AS private,
        coalesce(e.created_at, d.created_at) AS "createdAt"
      FROM webhook_delivery d
      LEFT JOIN event e ON e.project_id = ${projectId} AND e.sequence = d.sequence
      WHERE d.project_id = ${projectId}
        AND d.endpoint_id = ${endpointId}
        AND d.status = 'pending'
        AND d.due_at <= ${now}::timestamptz
        AND d.id <> ALL(${underWay}::text[])
        AND NOT ${isHeldBack(projectId, now)}
      ORDER BY d.due_at, d.sequence
      LIMIT ${limit}::int`,
  );

/**
 * SQL that stores outcomes. `= ANY` makes the planner use the primary key. With only the join, the
 * planner may scan all pending deliveries for each row, because its statistics are outdated. The
 * condition on `completed_at` (null while pending) prevents the use of the index of pending
 * deliveries.
 */
const recordOutcomes = (
  projectId: string,
  results: readonly Result[],
  now: Date,
): Statement => {
  const ids = results.map(({ id }) => id);
  return sql`
    UPDATE webhook_delivery d SET
      status = r.status,
      attempts = d.attempts + 1,
      due_at = r.due_at,
      last_status = r.status_code,
      last_error = r.error,
      first_attempt_at = coalesce(d.first_attempt_at, r.at),
      completed_at = CASE WHEN r.status = 'pending' THEN NULL ELSE ${now}::timestamptz END
    FROM unnest(
      ${ids}::text[],
      ${results.map((result) => result.attempts)}::int[],
      ${results.map(({ status }) => status)}::text[],
      ${results.map(({ dueAt }) => dueAt.toISOString())}::timestamptz[],
      ${results.map(({ statusCode }) => statusCode)}::int[],
      ${results.map(({ error }) => error)}::text[],
      ${results.map(({ at }) => at.toISOString())}::timestamptz[]
    ) AS r (id, attempts, status, due_at, status_code, error, at)
    WHERE d.project_id = ${projectId}
      AND d.id = ANY(${ids}::text[])
      AND d.id = r.id
      AND d.completed_at IS NULL
      AND d.attempts = r.attempts`;
};

/**
 * SQL that stores the attempts. The bodies are passed as arrays, because a JSON list would copy
 * them.
 */
const insertAttempts = (projectId: string, results: readonly Result[]): Statement => {
  const answered = results.map((result) => (result.statusCode === null ? null : result));
  const answerHeaders = answered.map((answer) =>
    answer === null ? null : JSON.stringify(answer.responseHeaders),
  );
  return sql`
    INSERT INTO webhook_attempt (
      project_id, delivery_id, number, at, duration_ms, url, request_headers, request_body,
      status_code, response_headers, response_body, error
    )
    SELECT ${projectId}, a.delivery_id, a.number, a.at, a.duration_ms, a.url,
      a.request_headers::json, a.request_body, a.status_code, a.response_headers::json,
      a.response_body, a.error
    FROM unnest(
      ${results.map(({ id }) => id)}::text[],
      ${results.map((result) => result.attempts + 1)}::int[],
      ${results.map(({ at }) => at.toISOString())}::timestamptz[],
      ${results.map(({ durationMs }) => durationMs)}::int[],
      ${results.map(({ url }) => url)}::text[],
      ${results.map(({ requestHeaders }) => JSON.stringify(requestHeaders))}::text[],
      ${results.map(({ requestBody }) => requestBody)}::text[],
      ${results.map(({ statusCode }) => statusCode)}::int[],
      ${answerHeaders}::text[],
      ${answered.map((answer) => answer?.responseBody ?? null)}::text[],
      ${results.map(({ error }) => error)}::text[]
    ) AS a (
      delivery_id, number, at, duration_ms, url, request_headers, request_body, status_code,
      response_headers, response_body, error
    )
    ON CONFLICT DO NOTHING`;
};

/**
 * Stores the outcomes of attempts. Each attempt counts once: an attempt that another worker has
 * recorded meanwhile has no effect.
 */
export const recordResults = async (
  db: Sql,
  { projectId, endpointId }: EndpointKey,
  { results, now }: { readonly results: readonly Result[]; readonly now: Date },
): Promise<void> => {
  await db.change(recordOutcomes(projectId, results, now));
  await db.change(insertAttempts(projectId, results));
  const isAnswered = results.some(({ status }) => status === "delivered");
  const firstAt = results[0]?.at ?? now;
  await db.change(sql`
    UPDATE webhook_lane SET
      failing_since = CASE
        WHEN ${isAnswered}::boolean THEN NULL
        ELSE coalesce(failing_since, ${firstAt}::timestamptz)
      END
    WHERE project_id = ${projectId}
      AND endpoint_id = ${endpointId}
      AND (failing_since IS NULL) <> ${isAnswered}::boolean`);
};

interface DeliveryQuery {
  readonly projectId: string;
  readonly endpointId: string;
  readonly status?: string | undefined;
  readonly type?: string | undefined;
  /** The page cursor: only rows with a smaller id. */
  readonly before?: string | undefined;
  readonly limit: number;
}

/** The deliveries of an endpoint, newest first. */
export const listDeliveries = async (
  db: SqlReader,
  { projectId, endpointId, status, type, before, limit }: DeliveryQuery,
): Promise<readonly Delivery[]> => {
  const conditions = [
    sql`d.project_id = ${projectId}`,
    sql`d.endpoint_id = ${endpointId}`,
    ...(status === undefined ? [] : [sql`d.status = ${status}`]),
    ...(type === undefined ? [] : [sql`d.event_type = ${type}`]),
    ...(before === undefined ? [] : [sql`d.id < ${before}`]),
  ];
  const rows = await deliveries.all(
    db,
    sql`
      SELECT ${deliveries.columns("d")} FROM webhook_delivery d
      WHERE ${join(conditions, " AND ")}
      ORDER BY d.id DESC
      LIMIT ${limit}::int`,
  );
  return rows.map(deliveryOf);
};

/** `private`: the event is about a private movement. */
export interface FoundDelivery extends Delivery {
  readonly private: boolean;
}

export const findDelivery = async (
  db: SqlReader,
  projectId: string,
  id: string,
): Promise<FoundDelivery | null> => {
  const row = await foundDeliveries.first(
    db,
    sql`
      SELECT ${deliveries.columns("d")}, coalesce(e.private, false) AS private
      FROM webhook_delivery d
      LEFT JOIN event e ON e.project_id = d.project_id AND e.sequence = d.sequence
      WHERE d.project_id = ${projectId} AND d.id = ${id}`,
  );
  return row === null ? null : { ...deliveryOf(row), private: row.private };
};

/** The attempts of a delivery, ordered by number. */
export const listAttempts = (
  db: SqlReader,
  projectId: string,
  deliveryId: string,
): Promise<readonly Attempt[]> =>
  attempts.all(
    db,
    sql`
      SELECT ${attempts.columns()} FROM webhook_attempt
      WHERE project_id = ${projectId} AND delivery_id = ${deliveryId}
      ORDER BY number`,
  );

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

export const insertDelivery = async (db: Sql, delivery: NewDelivery): Promise<void> => {
  await db.change(sql`
    INSERT INTO webhook_delivery (
      project_id, id, endpoint_id, kind, event_id, event_type, sequence, previous_sequence,
      object_id, status, due_at, created_at
    )
    VALUES (
      ${delivery.projectId},
      ${delivery.id},
      ${delivery.endpointId},
      ${delivery.kind},
      ${delivery.eventId},
      ${delivery.type},
      ${delivery.sequence}::bigint,
      ${delivery.previousSequence}::bigint,
      ${delivery.objectId},
      'pending',
      ${delivery.createdAt}::timestamptz,
      ${delivery.createdAt}::timestamptz
    )`);
};

export const hasEvent = async (
  db: Sql,
  projectId: string,
  sequence: number,
): Promise<boolean> => {
  const rows = await db.query(
    sql`SELECT 1 FROM event WHERE project_id = ${projectId} AND sequence = ${sequence}::bigint`,
  );
  return rows.length > 0;
};
