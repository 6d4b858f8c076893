import type { Sql, SqlReader } from "@/lib/db/sql";
import { pendingOf } from "./backlog-repository";
import { parseEndpoint, type EndpointColumns, type EndpointRow, type EndpointView } from "./endpoint";

export type { EndpointRow, EndpointView } from "./endpoint";

type ViewColumns = EndpointColumns & Pick<EndpointView, "failingSince">;

const COLUMNS = `
  w.project_id AS "projectId", w.id, w.url, w.events, w.payload, w.include_private AS "includePrivate", w.description, w.status,
  w.disabled_reason AS "disabledReason", w.concurrency, w.version, w.created_by AS "createdBy", w.created_at AS "createdAt",
  w.updated_at AS "updatedAt"`;

const VIEW = `
  SELECT ${COLUMNS}, l.failing_since AS "failingSince"
  FROM webhook_endpoint w JOIN webhook_lane l ON l.project_id = w.project_id AND l.endpoint_id = w.id`;

const INSERT = `
  WITH endpoint AS (
    INSERT INTO webhook_endpoint (project_id, id, url, events, payload, include_private, description, status, concurrency,
      created_by, created_at, updated_at)
    VALUES ($1, $2, $3, $4::text[], $5, $6, $7, 'active', $8, $9, $10::timestamptz, $10::timestamptz)
  )
  INSERT INTO webhook_lane (project_id, endpoint_id) VALUES ($1, $2)`;

export type NewEndpoint = Omit<EndpointRow, "status" | "disabledReason" | "version" | "updatedAt">;

export const insertEndpoint = async (sql: Sql, endpoint: NewEndpoint): Promise<void> => {
  const { projectId, id, url, events, payload, includePrivate, description, concurrency, createdBy, createdAt } =
    endpoint;
  const values = [projectId, id, url, events, payload, includePrivate, description, concurrency, createdBy];
  await sql.change(INSERT, [...values, createdAt.toISOString()]);
};

export const countEndpoints = async (sql: SqlReader, projectId: string): Promise<number> => {
  const rows = await sql.query<{ count: number }>(
    "SELECT count(*)::int AS count FROM webhook_endpoint WHERE project_id = $1",
    [projectId],
  );
  return rows[0]?.count ?? 0;
};

/** Adds the number of waiting deliveries. They are counted by a statement of their own: on a cluster they lie on a node, and endpoints on the coordinator. */
const withPending = async (
  sql: SqlReader,
  projectId: string,
  rows: readonly ViewColumns[],
): Promise<readonly EndpointView[]> => {
  const ids = rows.map(({ id }) => id);
  const pending = await pendingOf(sql, projectId, ids);
  return rows.map((row) => parseEndpoint({ ...row, pending: pending.get(row.id) ?? 0 }));
};

export const listEndpoints = async (sql: SqlReader, projectId: string): Promise<readonly EndpointView[]> => {
  const rows = await sql.query<ViewColumns>(`${VIEW} WHERE w.project_id = $1 ORDER BY w.id`, [projectId]);
  return withPending(sql, projectId, rows);
};

export const findEndpoint = async (sql: SqlReader, projectId: string, id: string): Promise<EndpointView | null> => {
  const rows = await sql.query<ViewColumns>(`${VIEW} WHERE w.project_id = $1 AND w.id = $2`, [projectId, id]);
  return (await withPending(sql, projectId, rows))[0] ?? null;
};

/** The endpoint as its worker needs it. */
export const readEndpoint = async (sql: SqlReader, projectId: string, id: string): Promise<EndpointRow | null> => {
  const text = `SELECT ${COLUMNS} FROM webhook_endpoint w WHERE w.project_id = $1 AND w.id = $2`;
  const [row] = await sql.query<EndpointColumns>(text, [projectId, id]);
  return row === undefined ? null : parseEndpoint(row);
};

type Change = Pick<
  EndpointRow,
  "url" | "events" | "payload" | "includePrivate" | "description" | "status" | "disabledReason"
>;

const UPDATE = `
  UPDATE webhook_endpoint SET url = $4, events = $5::text[], payload = $6, include_private = $7, description = $8, status = $9,
    disabled_reason = $10, updated_at = $11::timestamptz, version = version + 1
  WHERE project_id = $1 AND id = $2 AND version = $3::int`;

/** Compare-and-set: false when it was changed since that version was read. */
export const updateEndpoint = async (
  sql: Sql,
  { projectId, id, version }: Pick<EndpointRow, "projectId" | "id" | "version">,
  change: Change & { readonly at: Date },
): Promise<boolean> => {
  const { url, events, payload, includePrivate, description, status, disabledReason, at } = change;
  const values = [url, events, payload, includePrivate, description, status, disabledReason, at.toISOString()];
  return (await sql.change(UPDATE, [projectId, id, version, ...values])) === 1;
};

/** Forgets earlier failures of an endpoint that becomes active again. */
export const forgetFailures = async (sql: Sql, projectId: string, id: string): Promise<void> => {
  await sql.change("UPDATE webhook_lane SET failing_since = NULL WHERE project_id = $1 AND endpoint_id = $2", [
    projectId,
    id,
  ]);
};

/** Compare-and-set: false when the endpoint is not active any more. */
export const disableEndpoint = async (
  sql: Sql,
  end: { readonly projectId: string; readonly id: string; readonly reason: "gone" | "failing"; readonly at: Date },
): Promise<boolean> => {
  const text = `
    UPDATE webhook_endpoint SET status = 'disabled', disabled_reason = $3, updated_at = $4::timestamptz, version = version + 1
    WHERE project_id = $1 AND id = $2 AND status = 'active'`;
  return (await sql.change(text, [end.projectId, end.id, end.reason, end.at.toISOString()])) === 1;
};

/** Deletes the endpoint with its secrets and its row in `webhook_lane`. Pending deliveries are deleted; the others stay as a record. */
export const deleteEndpoint = async (sql: Sql, projectId: string, id: string): Promise<boolean> => {
  const waiting = "DELETE FROM webhook_delivery WHERE project_id = $1 AND endpoint_id = $2 AND status = 'pending'";
  await sql.change(waiting, [projectId, id]);
  return (await sql.change("DELETE FROM webhook_endpoint WHERE project_id = $1 AND id = $2", [projectId, id])) === 1;
};

const COUNT_STATES = `
  SELECT count(*) FILTER (WHERE w.status = 'active' AND l.failing_since IS NULL)::int AS active,
    count(*) FILTER (WHERE w.status = 'active' AND l.failing_since IS NOT NULL)::int AS failing,
    count(*) FILTER (WHERE w.status = 'paused')::int AS paused, count(*) FILTER (WHERE w.status = 'disabled')::int AS disabled
  FROM webhook_endpoint w JOIN webhook_lane l ON l.project_id = w.project_id AND l.endpoint_id = w.id`;

export type EndpointStates = Record<"active" | "failing" | "paused" | "disabled", number>;

/** Of all projects; for metrics. */
export const countEndpointStates = async (sql: SqlReader): Promise<EndpointStates> =>
  (await sql.query<EndpointStates>(COUNT_STATES, []))[0] ?? { active: 0, failing: 0, paused: 0, disabled: 0 };
