import type { Sql, SqlReader } from "@/lib/db/sql";
import {
  parseAttempt,
  parseDelivery,
  type Attempt,
  type AttemptColumns,
  type Delivery,
  type DeliveryColumns,
} from "./delivery";

const COLUMNS = `
  d.project_id AS "projectId", d.id, d.endpoint_id AS "endpointId", d.kind, d.event_id AS "eventId", d.event_type AS type,
  d.sequence::float8 AS sequence, d.previous_sequence::float8 AS "previousSequence", d.object_id AS "objectId", d.status,
  d.attempts, d.due_at AS "dueAt", d.created_at AS "createdAt", d.completed_at AS "completedAt",
  d.last_status AS "statusCode", d.last_error AS error`;

export interface DeliveryQuery {
  readonly projectId: string;
  readonly endpointId: string;
  readonly status?: string | undefined;
  readonly type?: string | undefined;
  /** Only rows with a smaller id. */
  readonly before?: string | undefined;
  readonly limit: number;
}

/** Newest first. */
export const listDeliveries = async (sql: SqlReader, query: DeliveryQuery): Promise<readonly Delivery[]> => {
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

export const findDelivery = async (sql: SqlReader, projectId: string, id: string): Promise<FoundDelivery | null> => {
  const text = `
    SELECT ${COLUMNS}, coalesce(e.private, false) AS private
    FROM webhook_delivery d LEFT JOIN event e ON e.project_id = d.project_id AND e.sequence = d.sequence
    WHERE d.project_id = $1 AND d.id = $2`;
  const [row] = await sql.query<DeliveryColumns & { readonly private: boolean }>(text, [projectId, id]);
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
  const { projectId, id, endpointId, kind, eventId, type, sequence, previousSequence, objectId, createdAt } = delivery;
  const words = [projectId, id, endpointId, kind, eventId, type, sequence, previousSequence, objectId];
  await sql.change(INSERT, [...words, createdAt.toISOString()]);
};

/** Whether the event that a delivery sends is there. */
export const hasEvent = async (sql: Sql, projectId: string, sequence: number): Promise<boolean> =>
  (await sql.query("SELECT 1 FROM event WHERE project_id = $1 AND sequence = $2::bigint", [projectId, sequence]))
    .length > 0;
