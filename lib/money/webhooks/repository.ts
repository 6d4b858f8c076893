import { outageOf } from "@/lib/core/outage";
import {
  findDistributed,
  nodeOfProject,
  type Sql,
  type SqlReader,
} from "@/lib/platform/db/sql";
import { raw, sql } from "@/lib/platform/db/statement";
import { arrayOf, int, nullable, type RowOf, table, text, time } from "@/lib/platform/db/table";
import {
  endpoints,
  type EndpointRow,
  endpointsWithLanes,
  type EndpointView,
  IS_SERVED,
} from "./rows";

// Counts waiting deliveries, for metrics and for the lists of endpoints.

const backlogs = table({ count: int, oldest: nullable(time) });
type Backlog = RowOf<typeof backlogs>;

const COUNTED_MAX = 100_000;

/**
 * Maximum number of projects whose deliveries are counted on a cluster. The projects that have
 * waited longest are counted.
 */
const PROJECTS_MAX = 1_000;

const waitingEndpoints = table({ projectId: text, endpointIds: arrayOf(text), node: int });

const sum = (one: Backlog, other: Backlog): Backlog => {
  const isOlder = one.oldest !== null && (other.oldest === null || one.oldest < other.oldest);
  return { count: one.count + other.count, oldest: isOlder ? one.oldest : other.oldest };
};

const NONE: Backlog = { count: 0, oldest: null };

/**
 * Endpoints with waiting deliveries. They are found by their due time, which is set while a
 * delivery waits.
 */
const findWaitingEndpoints = (db: SqlReader) =>
  waitingEndpoints.all(
    db,
    sql`
      SELECT l.project_id AS "projectId",
        array_agg(l.endpoint_id) AS "endpointIds",
        ${raw(nodeOfProject("l.project_id"))} AS node
      FROM webhook_lane l
      JOIN webhook_endpoint w
        ON w.project_id = l.project_id AND w.id = l.endpoint_id AND ${IS_SERVED}
      WHERE l.due_at IS NOT NULL
      GROUP BY l.project_id
      ORDER BY min(l.due_at)
      LIMIT ${raw(String(PROJECTS_MAX))}`,
  );

/**
 * Counts the waiting deliveries on a cluster, project by project. Projects on an unreachable node
 * are left out.
 */
const backlogOfEach = async (db: SqlReader): Promise<Backlog> => {
  let backlog = NONE;
  const lost = new Set<number>();
  for (const { projectId, endpointIds, node } of await findWaitingEndpoints(db)) {
    if (lost.has(node)) continue;
    const left = COUNTED_MAX - backlog.count;
    if (left <= 0) break;
    try {
      const backlogOfProject = await backlogs.first(
        db,
        sql`
          SELECT count(*)::int AS count, min(d.created_at) AS oldest
          FROM (
            SELECT created_at FROM webhook_delivery
            WHERE project_id = ${projectId}
              AND endpoint_id = ANY(${endpointIds}::text[])
              AND status = 'pending'
            LIMIT ${left}::int
          ) d`,
      );
      backlog = sum(backlog, backlogOfProject ?? NONE);
    } catch (error) {
      if (outageOf(error) !== "database") throw error;
      lost.add(node);
    }
  }
  return backlog;
};

/** The number of pending deliveries and the creation time of the oldest, for metrics. */
export const deliveryBacklog = async (db: SqlReader): Promise<Backlog> => {
  if (await findDistributed(db)) return backlogOfEach(db);
  const backlog = await backlogs.first(
    db,
    sql`
      SELECT count(*)::int AS count, min(d.created_at) AS oldest
      FROM (
        SELECT d.created_at FROM webhook_delivery d
        JOIN webhook_endpoint w
          ON w.project_id = d.project_id AND w.id = d.endpoint_id AND ${IS_SERVED}
        WHERE d.status = 'pending'
        LIMIT ${raw(String(COUNTED_MAX))}
      ) d`,
  );
  return backlog ?? NONE;
};

const PENDING_COUNTED_MAX = 1000;

const pendingCounts = table({ id: text, pending: int });

/** The number of pending deliveries by endpoint id, counted up to a thousand per endpoint. */
const pendingOf = async (
  db: SqlReader,
  projectId: string,
  endpointIds: readonly string[],
): Promise<ReadonlyMap<string, number>> => {
  if (endpointIds.length === 0) return new Map();
  const rows = await pendingCounts.all(
    db,
    sql`
      SELECT w.id, (
        SELECT count(*)::int FROM (
          SELECT 1 FROM webhook_delivery d
          WHERE d.project_id = ${projectId} AND d.endpoint_id = w.id AND d.status = 'pending'
          LIMIT ${raw(String(PENDING_COUNTED_MAX))}
        ) waiting
      ) AS pending
      FROM unnest(${endpointIds}::text[]) AS w (id)`,
  );
  return new Map(rows.map(({ id, pending }) => [id, pending]));
};

const VIEW = sql`
  SELECT ${endpoints.columns("w")}, l.failing_since AS "failingSince"
  FROM webhook_endpoint w
  JOIN webhook_lane l ON l.project_id = w.project_id AND l.endpoint_id = w.id`;

type NewEndpoint = Omit<
  EndpointRow,
  "status" | "disabledReason" | "version" | "updatedAt" | "suspendedAt"
>;

export const insertEndpoint = async (db: Sql, endpoint: NewEndpoint): Promise<void> => {
  await db.change(sql`
    WITH endpoint AS (
      INSERT INTO webhook_endpoint (
        project_id, id, url, events, payload, include_private, description, status, concurrency,
        created_by, made_by_session, created_at, updated_at
      )
      VALUES (
        ${endpoint.projectId},
        ${endpoint.id},
        ${endpoint.url},
        ${endpoint.events}::text[],
        ${endpoint.payload},
        ${endpoint.includePrivate},
        ${endpoint.description},
        'active',
        ${endpoint.concurrency}::int,
        ${endpoint.createdBy},
        ${endpoint.madeBySession},
        ${endpoint.createdAt}::timestamptz,
        ${endpoint.createdAt}::timestamptz
      )
    )
    INSERT INTO webhook_lane (project_id, endpoint_id)
    VALUES (${endpoint.projectId}, ${endpoint.id})`);
};

const counts = table({ count: int });

export const countEndpoints = async (db: SqlReader, projectId: string): Promise<number> => {
  const counted = await counts.first(
    db,
    sql`
      SELECT count(*)::int AS count FROM webhook_endpoint
      WHERE project_id = ${projectId}`,
  );
  return counted?.count ?? 0;
};

/**
 * Adds the number of waiting deliveries to each endpoint. A separate statement counts the
 * deliveries, because on a cluster they are on a node and the endpoints are on the coordinator.
 */
const withPending = async (
  db: SqlReader,
  projectId: string,
  rows: readonly RowOf<typeof endpointsWithLanes>[],
): Promise<readonly EndpointView[]> => {
  const endpointIds = rows.map(({ id }) => id);
  const pending = await pendingOf(db, projectId, endpointIds);
  return rows.map((row) => ({ ...row, pending: pending.get(row.id) ?? 0 }));
};

/**
 * The project's endpoints, oldest first.
 * @param page `after`: id of the last endpoint of the previous page
 */
export const listEndpoints = async (
  db: SqlReader,
  projectId: string,
  { limit, after }: { readonly limit: number; readonly after: string | null },
): Promise<readonly EndpointView[]> => {
  const rows = await endpointsWithLanes.all(
    db,
    sql`
      ${VIEW}
      WHERE w.project_id = ${projectId} AND (${after}::text IS NULL OR w.id > ${after}::text)
      ORDER BY w.id
      LIMIT ${limit}::int`,
  );
  return withPending(db, projectId, rows);
};

export const findEndpoint = async (
  db: SqlReader,
  projectId: string,
  id: string,
): Promise<EndpointView | null> => {
  const rows = await endpointsWithLanes.all(
    db,
    sql`${VIEW} WHERE w.project_id = ${projectId} AND w.id = ${id}`,
  );
  return (await withPending(db, projectId, rows))[0] ?? null;
};

export const readEndpoint = (
  db: SqlReader,
  projectId: string,
  id: string,
): Promise<EndpointRow | null> =>
  endpoints.first(
    db,
    sql`
      SELECT ${endpoints.columns("w")} FROM webhook_endpoint w
      WHERE w.project_id = ${projectId} AND w.id = ${id}`,
  );

type Change = Pick<
  EndpointRow,
  "url" | "events" | "payload" | "includePrivate" | "description" | "status" | "disabledReason"
>;

/**
 * Changes an endpoint by compare-and-set. Returns false when the endpoint was changed since
 * `version` was read.
 */
export const updateEndpoint = async (
  db: Sql,
  { projectId, id, version }: Pick<EndpointRow, "projectId" | "id" | "version">,
  change: Change & { readonly at: Date },
): Promise<boolean> => {
  const changed = await db.change(sql`
    UPDATE webhook_endpoint SET
      url = ${change.url},
      events = ${change.events}::text[],
      payload = ${change.payload},
      include_private = ${change.includePrivate},
      description = ${change.description},
      status = ${change.status},
      disabled_reason = ${change.disabledReason},
      updated_at = ${change.at}::timestamptz,
      version = version + 1
    WHERE project_id = ${projectId} AND id = ${id} AND version = ${version}::int`);
  return changed === 1;
};

export const forgetFailures = async (db: Sql, projectId: string, id: string): Promise<void> => {
  await db.change(sql`
    UPDATE webhook_lane SET failing_since = NULL
    WHERE project_id = ${projectId} AND endpoint_id = ${id}`);
};

/**
 * Disables an active endpoint by compare-and-set. Returns false when the endpoint is no longer
 * active.
 */
export const disableEndpoint = async (
  db: Sql,
  end: {
    readonly projectId: string;
    readonly id: string;
    readonly reason: "gone" | "failing";
    readonly at: Date;
  },
): Promise<boolean> => {
  const disabled = await db.change(sql`
    UPDATE webhook_endpoint SET
      status = 'disabled',
      disabled_reason = ${end.reason},
      updated_at = ${end.at}::timestamptz,
      version = version + 1
    WHERE project_id = ${end.projectId} AND id = ${end.id} AND status = 'active'`);
  return disabled === 1;
};

const namedEndpoints = endpoints.pick("id", "url", "description");

/**
 * The endpoints that one of these people or API keys made and that are not disabled, oldest first.
 */
export const listEndpointsMadeBy = (
  db: SqlReader,
  { projectId, makers }: { readonly projectId: string; readonly makers: readonly string[] },
): Promise<RowOf<typeof namedEndpoints>[]> =>
  namedEndpoints.all(
    db,
    sql`
      SELECT ${namedEndpoints.columns()} FROM webhook_endpoint
      WHERE project_id = ${projectId}
        AND status <> 'disabled'
        AND created_by = ANY(${makers}::text[])
      ORDER BY id`,
  );

/**
 * Disables an active or paused endpoint because its maker left. Compare-and-set: returns false when
 * it is disabled already.
 */
export const disableEndpointOfMaker = async (
  db: Sql,
  end: { readonly projectId: string; readonly id: string; readonly at: Date },
): Promise<boolean> => {
  const disabled = await db.change(sql`
    UPDATE webhook_endpoint SET
      status = 'disabled',
      disabled_reason = 'maker_left',
      updated_at = ${end.at}::timestamptz,
      version = version + 1
    WHERE project_id = ${end.projectId} AND id = ${end.id} AND status <> 'disabled'`);
  return disabled === 1;
};

/**
 * Deletes the endpoint with its secrets, its row in `webhook_lane` and its pending deliveries.
 * Other deliveries stay as a record.
 */
export const deleteEndpoint = async (
  db: Sql,
  projectId: string,
  id: string,
): Promise<boolean> => {
  await db.change(sql`
    DELETE FROM webhook_delivery
    WHERE project_id = ${projectId} AND endpoint_id = ${id} AND status = 'pending'`);
  const deleted = await db.change(sql`
    DELETE FROM webhook_endpoint WHERE project_id = ${projectId} AND id = ${id}`);
  return deleted === 1;
};

/** The number of endpoints in each state. Suspended endpoints count as paused. */
const endpointStates = table({ active: int, failing: int, paused: int, disabled: int });

export const countEndpointStates = async (
  db: SqlReader,
): Promise<RowOf<typeof endpointStates>> => {
  const states = await endpointStates.first(
    db,
    sql`
      SELECT
        count(*) FILTER (WHERE ${IS_SERVED} AND l.failing_since IS NULL)::int AS active,
        count(*) FILTER (WHERE ${IS_SERVED} AND l.failing_since IS NOT NULL)::int AS failing,
        count(*) FILTER (WHERE w.status <> 'disabled' AND NOT (${IS_SERVED}))::int AS paused,
        count(*) FILTER (WHERE w.status = 'disabled')::int AS disabled
      FROM webhook_endpoint w
      JOIN webhook_lane l ON l.project_id = w.project_id AND l.endpoint_id = w.id`,
  );
  return states ?? { active: 0, failing: 0, paused: 0, disabled: 0 };
};
