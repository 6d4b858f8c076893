/** How many deliveries wait, for metrics and for the lists of endpoints. */
import { outageOf } from "@/lib/core/outage";
import { findDistributed, nodeOfProject } from "@/lib/db/layout";
import type { SqlReader } from "@/lib/db/sql";

export interface Backlog {
  readonly count: number;
  readonly oldest: Date | null;
}

const COUNTED_MAX = 100_000;

const BACKLOG = `
  SELECT count(*)::int AS count, min(d.created_at) AS oldest
  FROM (
    SELECT d.created_at FROM webhook_delivery d
    JOIN webhook_endpoint w ON w.project_id = d.project_id AND w.id = d.endpoint_id AND w.status = 'active'
    WHERE d.status = 'pending' LIMIT ${String(COUNTED_MAX)}
  ) d`;

/** Projects whose deliveries are counted on a cluster: those that have waited longest. */
const PROJECTS_MAX = 1_000;

// While a delivery waits, its endpoint is due at some time.
const WAITING_ENDPOINTS = `
  SELECT l.project_id AS "projectId", array_agg(l.endpoint_id) AS "endpointIds", ${nodeOfProject("l.project_id")} AS node
  FROM webhook_lane l JOIN webhook_endpoint w ON w.project_id = l.project_id AND w.id = l.endpoint_id AND w.status = 'active'
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

/** Projects of a lost node are left out. */
const backlogOfEach = async (sql: SqlReader): Promise<Backlog> => {
  let backlog = NONE;
  const lost = new Set<number>();
  for (const { projectId, endpointIds, node } of await sql.query<WaitingEndpoints>(WAITING_ENDPOINTS, [])) {
    if (lost.has(node)) continue;
    const left = COUNTED_MAX - backlog.count;
    if (left <= 0) break;
    try {
      const [own = NONE] = await sql.query<Backlog>(BACKLOG_OF_PROJECT, [projectId, endpointIds, left]);
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

/** Pending deliveries of each endpoint, counted up to a thousand. */
export const pendingOf = async (
  sql: SqlReader,
  projectId: string,
  endpointIds: readonly string[],
): Promise<ReadonlyMap<string, number>> => {
  if (endpointIds.length === 0) return new Map();
  const rows = await sql.query<{ id: string; pending: number }>(PENDING, [projectId, endpointIds]);
  return new Map(rows.map(({ id, pending }) => [id, pending]));
};
