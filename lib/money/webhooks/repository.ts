import { outageOf } from "@/lib/core/outage";
import { findDistributed, nodeOfProject, type Sql, type SqlReader } from "@/lib/platform/db/sql";
import {
  type EndpointColumns,
  type EndpointRow,
  type EndpointView,
  IS_SERVED,
  parseEndpoint,
} from "./rules";
import type { Database } from "@/lib/platform/db/client";
import type { EncryptedRows } from "@/lib/platform/encryption/service";
import type { Sealed } from "@/lib/platform/ports/encryption";

// Counts waiting deliveries, for metrics and for the lists of endpoints.

interface Backlog {
  readonly count: number;
  readonly oldest: Date | null;
}

const COUNTED_MAX = 100_000;

const BACKLOG = `
  SELECT count(*)::int AS count, min(d.created_at) AS oldest
  FROM (
    SELECT d.created_at FROM webhook_delivery d
    JOIN webhook_endpoint w ON w.project_id = d.project_id AND w.id = d.endpoint_id AND ${IS_SERVED}
    WHERE d.status = 'pending' LIMIT ${String(COUNTED_MAX)}
  ) d`;

/**
 * Maximum number of projects whose deliveries are counted on a cluster: those that have waited
 * longest.
 */
const PROJECTS_MAX = 1_000;

// While a delivery waits, its endpoint has a due time, so endpoints with waiting deliveries are
// found by that.
const WAITING_ENDPOINTS = `
  SELECT l.project_id AS "projectId", array_agg(l.endpoint_id) AS "endpointIds", ${nodeOfProject("l.project_id")} AS node
  FROM webhook_lane l JOIN webhook_endpoint w ON w.project_id = l.project_id AND w.id = l.endpoint_id AND ${IS_SERVED}
  WHERE l.due_at IS NOT NULL GROUP BY l.project_id ORDER BY min(l.due_at) LIMIT ${String(PROJECTS_MAX)}`;

const BACKLOG_OF_PROJECT = `
  SELECT count(*)::int AS count, min(d.created_at) AS oldest
  FROM (
    SELECT created_at FROM webhook_delivery
    WHERE project_id = $1 AND endpoint_id = ANY($2::text[]) AND status = 'pending' LIMIT $3::int
  ) d`;

interface WaitingEndpoints {
  readonly projectId: string;
  readonly endpointIds: readonly string[];
  readonly node: number;
}

const sum = (one: Backlog, other: Backlog): Backlog => {
  const isOlder = one.oldest !== null && (other.oldest === null || one.oldest < other.oldest);
  return { count: one.count + other.count, oldest: isOlder ? one.oldest : other.oldest };
};

const NONE: Backlog = { count: 0, oldest: null };

/** Projects on an unreachable node are left out. */
const backlogOfEach = async (sql: SqlReader): Promise<Backlog> => {
  let backlog = NONE;
  const lost = new Set<number>();
  for (const { projectId, endpointIds, node } of await sql.query<WaitingEndpoints>(
    WAITING_ENDPOINTS,
    [],
  )) {
    if (lost.has(node)) continue;
    const left = COUNTED_MAX - backlog.count;
    if (left <= 0) break;
    try {
      const [own = NONE] = await sql.query<Backlog>(BACKLOG_OF_PROJECT, [
        projectId,
        endpointIds,
        left,
      ]);
      backlog = sum(backlog, own);
    } catch (error) {
      if (outageOf(error) !== "database") throw error;
      lost.add(node);
    }
  }
  return backlog;
};

/** The number of pending deliveries and the creation time of the oldest; for metrics. */
export const deliveryBacklog = async (sql: SqlReader): Promise<Backlog> => {
  if (await findDistributed(sql)) return backlogOfEach(sql);
  return (await sql.query<Backlog>(BACKLOG, []))[0] ?? NONE;
};

const PENDING_COUNTED_MAX = 1000;

const PENDING = `
  SELECT w.id, (
    SELECT count(*)::int FROM (
      SELECT 1 FROM webhook_delivery d
      WHERE d.project_id = $1 AND d.endpoint_id = w.id AND d.status = 'pending' LIMIT ${String(PENDING_COUNTED_MAX)}
    ) waiting
  ) AS pending
  FROM unnest($2::text[]) AS w (id)`;

/** Number of pending deliveries of each endpoint, counted up to a thousand. */
const pendingOf = async (
  sql: SqlReader,
  projectId: string,
  endpointIds: readonly string[],
): Promise<ReadonlyMap<string, number>> => {
  if (endpointIds.length === 0) return new Map();
  const rows = await sql.query<{ id: string; pending: number }>(PENDING, [projectId, endpointIds]);
  return new Map(rows.map(({ id, pending }) => [id, pending]));
};

export type { EndpointRow, EndpointView } from "./rules";

type ViewColumns = EndpointColumns & Pick<EndpointView, "failingSince">;

const COLUMNS = `
  w.project_id AS "projectId", w.id, w.url, w.events, w.payload, w.include_private AS "includePrivate", w.description, w.status,
  w.disabled_reason AS "disabledReason", w.concurrency, w.version, w.created_by AS "createdBy", w.created_at AS "createdAt",
  w.updated_at AS "updatedAt", w.made_by_session AS "madeBySession", w.suspended_at AS "suspendedAt"`;

const VIEW = `
  SELECT ${COLUMNS}, l.failing_since AS "failingSince"
  FROM webhook_endpoint w JOIN webhook_lane l ON l.project_id = w.project_id AND l.endpoint_id = w.id`;

const INSERT = `
  WITH endpoint AS (
    INSERT INTO webhook_endpoint (project_id, id, url, events, payload, include_private, description, status, concurrency,
      created_by, made_by_session, created_at, updated_at)
    VALUES ($1, $2, $3, $4::text[], $5, $6, $7, 'active', $8, $9, $10, $11::timestamptz, $11::timestamptz)
  )
  INSERT INTO webhook_lane (project_id, endpoint_id) VALUES ($1, $2)`;

type NewEndpoint = Omit<
  EndpointRow,
  "status" | "disabledReason" | "version" | "updatedAt" | "suspendedAt"
>;

export const insertEndpoint = async (sql: Sql, endpoint: NewEndpoint): Promise<void> => {
  await sql.change(INSERT, [
    endpoint.projectId,
    endpoint.id,
    endpoint.url,
    endpoint.events,
    endpoint.payload,
    endpoint.includePrivate,
    endpoint.description,
    endpoint.concurrency,
    endpoint.createdBy,
    endpoint.madeBySession,
    endpoint.createdAt.toISOString(),
  ]);
};

export const countEndpoints = async (sql: SqlReader, projectId: string): Promise<number> => {
  const rows = await sql.query<{ count: number }>(
    "SELECT count(*)::int AS count FROM webhook_endpoint WHERE project_id = $1",
    [projectId],
  );
  return rows[0]?.count ?? 0;
};

/**
 * Adds the number of waiting deliveries. A separate statement counts them, because on a cluster
 * they are on a node, and endpoints on the coordinator.
 */
const withPending = async (
  sql: SqlReader,
  projectId: string,
  rows: readonly ViewColumns[],
): Promise<readonly EndpointView[]> => {
  const ids = rows.map(({ id }) => id);
  const pending = await pendingOf(sql, projectId, ids);
  return rows.map((row) => parseEndpoint({ ...row, pending: pending.get(row.id) ?? 0 }));
};

/**
 * At most `limit` endpoints, oldest first. @param after id of the last endpoint of the previous
 * page
 */
export const listEndpoints = async (
  sql: SqlReader,
  projectId: string,
  { limit, after }: { readonly limit: number; readonly after: string | null },
): Promise<readonly EndpointView[]> => {
  const text = `${VIEW} WHERE w.project_id = $1 AND ($2::text IS NULL OR w.id > $2) ORDER BY w.id LIMIT $3::int`;
  const rows = await sql.query<ViewColumns>(text, [projectId, after, limit]);
  return withPending(sql, projectId, rows);
};

export const findEndpoint = async (
  sql: SqlReader,
  projectId: string,
  id: string,
): Promise<EndpointView | null> => {
  const rows = await sql.query<ViewColumns>(`${VIEW} WHERE w.project_id = $1 AND w.id = $2`, [
    projectId,
    id,
  ]);
  return (await withPending(sql, projectId, rows))[0] ?? null;
};

/** The endpoint as its worker needs it. */
export const readEndpoint = async (
  sql: SqlReader,
  projectId: string,
  id: string,
): Promise<EndpointRow | null> => {
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

/** Compare-and-set: returns false when the endpoint was changed since that version was read. */
export const updateEndpoint = async (
  sql: Sql,
  { projectId, id, version }: Pick<EndpointRow, "projectId" | "id" | "version">,
  change: Change & { readonly at: Date },
): Promise<boolean> => {
  const { url, events, payload, includePrivate, description, status, disabledReason, at } = change;
  const values = [
    url,
    events,
    payload,
    includePrivate,
    description,
    status,
    disabledReason,
    at.toISOString(),
  ];
  return (await sql.change(UPDATE, [projectId, id, version, ...values])) === 1;
};

/** Deletes the failure state of an endpoint that becomes active again. */
export const forgetFailures = async (sql: Sql, projectId: string, id: string): Promise<void> => {
  await sql.change(
    "UPDATE webhook_lane SET failing_since = NULL WHERE project_id = $1 AND endpoint_id = $2",
    [projectId, id],
  );
};

/** Compare-and-set: returns false when the endpoint is no longer active. */
export const disableEndpoint = async (
  sql: Sql,
  end: {
    readonly projectId: string;
    readonly id: string;
    readonly reason: "gone" | "failing";
    readonly at: Date;
  },
): Promise<boolean> => {
  const text = `
    UPDATE webhook_endpoint SET status = 'disabled', disabled_reason = $3, updated_at = $4::timestamptz, version = version + 1
    WHERE project_id = $1 AND id = $2 AND status = 'active'`;
  return (await sql.change(text, [end.projectId, end.id, end.reason, end.at.toISOString()])) === 1;
};

/** The fields by which people identify an endpoint. */
type NamedEndpoint = Pick<EndpointRow, "id" | "url" | "description">;

/** Endpoints that are not disabled and that one of these people or API keys made, oldest first. */
export const listEndpointsMadeBy = async (
  sql: SqlReader,
  { projectId, makers }: { readonly projectId: string; readonly makers: readonly string[] },
): Promise<NamedEndpoint[]> => {
  const text = `
    SELECT id, url, description FROM webhook_endpoint
    WHERE project_id = $1 AND status <> 'disabled' AND created_by = ANY($2::text[]) ORDER BY id`;
  return [...(await sql.query<NamedEndpoint>(text, [projectId, makers]))];
};

/**
 * Disables an active or paused endpoint because its maker left. Compare-and-set: returns false when
 * it is disabled already.
 */
export const disableEndpointOfMaker = async (
  sql: Sql,
  end: { readonly projectId: string; readonly id: string; readonly at: Date },
): Promise<boolean> => {
  const text = `
    UPDATE webhook_endpoint
    SET status = 'disabled', disabled_reason = 'maker_left', updated_at = $3::timestamptz, version = version + 1
    WHERE project_id = $1 AND id = $2 AND status <> 'disabled'`;
  return (await sql.change(text, [end.projectId, end.id, end.at.toISOString()])) === 1;
};

/**
 * Deletes the endpoint with its secrets and its row in `webhook_lane`. Pending deliveries are
 * deleted; others stay as a record.
 */
export const deleteEndpoint = async (sql: Sql, projectId: string, id: string): Promise<boolean> => {
  const waiting =
    "DELETE FROM webhook_delivery WHERE project_id = $1 AND endpoint_id = $2 AND status = 'pending'";
  await sql.change(waiting, [projectId, id]);
  return (
    (await sql.change("DELETE FROM webhook_endpoint WHERE project_id = $1 AND id = $2", [
      projectId,
      id,
    ])) === 1
  );
};

const COUNT_STATES = `
  SELECT count(*) FILTER (WHERE ${IS_SERVED} AND l.failing_since IS NULL)::int AS active,
    count(*) FILTER (WHERE ${IS_SERVED} AND l.failing_since IS NOT NULL)::int AS failing,
    count(*) FILTER (WHERE w.status <> 'disabled' AND NOT (${IS_SERVED}))::int AS paused, count(*) FILTER (WHERE w.status = 'disabled')::int AS disabled
  FROM webhook_endpoint w JOIN webhook_lane l ON l.project_id = w.project_id AND l.endpoint_id = w.id`;

/** Suspended endpoints count as paused. */
type EndpointStates = Record<"active" | "failing" | "paused" | "disabled", number>;

/** Counts the endpoints of all projects, for metrics. */
export const countEndpointStates = async (sql: SqlReader): Promise<EndpointStates> =>
  (await sql.query<EndpointStates>(COUNT_STATES, []))[0] ?? {
    active: 0,
    failing: 0,
    paused: 0,
    disabled: 0,
  };

export interface SecretKey {
  readonly projectId: string;
  readonly endpointId: string;
  readonly id: string;
}

export interface SecretRow extends SecretKey {
  readonly sealed: Sealed;
  readonly createdAt: Date;
  /** Null for the current secret. */
  readonly expiresAt: Date | null;
}

/** Associated data of the encryption: the ciphertext cannot be decrypted in another row. */
export const secretContext = ({ projectId, endpointId, id }: SecretKey): string =>
  JSON.stringify(["webhook-secret", projectId, endpointId, id]);

interface StoredRow extends SecretKey {
  readonly encrypted: Uint8Array;
  readonly kekId: string;
  readonly createdAt: Date;
  readonly expiresAt: Date | null;
}

/** The secrets that sign at this time, the current one first. */
export const signingSecrets = async (
  sql: SqlReader,
  { projectId, endpointId }: Omit<SecretKey, "id">,
  now: Date,
): Promise<SecretRow[]> => {
  const rows = await sql.query<StoredRow>(
    `SELECT project_id AS "projectId", endpoint_id AS "endpointId", id, encrypted, kek_id AS "kekId",
       created_at AS "createdAt", expires_at AS "expiresAt"
     FROM webhook_secret
     WHERE project_id = $1 AND endpoint_id = $2 AND (expires_at IS NULL OR expires_at > $3::timestamptz)
     ORDER BY expires_at DESC NULLS FIRST`,
    [projectId, endpointId, now.toISOString()],
  );
  return rows.map(({ encrypted: bytes, kekId, ...row }) => ({ ...row, sealed: { bytes, kekId } }));
};

/** Stores the new secret. Earlier secrets end at `overlapUntil` at the latest. */
export const replaceSecret = async (
  sql: Sql,
  secret: Omit<SecretRow, "expiresAt">,
  overlapUntil: Date,
): Promise<void> => {
  const { projectId, endpointId, id, sealed, createdAt } = secret;
  await sql.change(
    `UPDATE webhook_secret SET expires_at = least(coalesce(expires_at, $3::timestamptz), $3::timestamptz)
     WHERE project_id = $1 AND endpoint_id = $2`,
    [projectId, endpointId, overlapUntil.toISOString()],
  );
  await sql.change(
    `INSERT INTO webhook_secret (project_id, endpoint_id, id, encrypted, kek_id, created_at)
     VALUES ($1, $2, $3, $4::bytea, $5, $6::timestamptz)`,
    [projectId, endpointId, id, Buffer.from(sealed.bytes), sealed.kekId, createdAt.toISOString()],
  );
};

/** The encrypted signing secrets, for the rotation of key-encryption keys. */
export const encryptedWebhookSecrets = ({ prisma }: Pick<Database, "prisma">): EncryptedRows => ({
  name: "webhook secrets",
  count: async () => {
    const groups = await prisma.webhookSecret.groupBy({ by: ["kekId"], _count: true });
    return new Map(groups.map(({ kekId, _count }) => [kekId, _count]));
  },
  keyIds: async () => {
    const groups = await prisma.webhookSecret.groupBy({ by: ["kekId"] });
    return groups.map(({ kekId }) => kekId);
  },
  batch: async ({ kekId, afterId, limit }) => {
    const rows = await prisma.webhookSecret.findMany({
      where: { kekId, id: { gt: afterId } },
      orderBy: { id: "asc" },
      take: limit,
    });
    return rows.map((row) => ({
      id: row.id,
      context: secretContext(row),
      sealed: { kekId, bytes: row.encrypted },
    }));
  },
  replace: async ({ id, sealed }, next) => {
    const { count } = await prisma.webhookSecret.updateMany({
      where: { id, kekId: sealed.kekId, encrypted: Uint8Array.from(sealed.bytes) },
      data: { kekId: next.kekId, encrypted: Uint8Array.from(next.bytes) },
    });
    return count === 1;
  },
});
