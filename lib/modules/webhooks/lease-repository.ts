import { isDistributed } from "@/lib/db/layout";
import type { Sql, SqlReader } from "@/lib/db/sql";
import { HOLD, isHeldBack, type EndpointKey } from "./due-delivery-repository";

// Leases use the database's clock. Due times use the service's clock, which tests can move.
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

/** Leases endpoints that are due and that no other worker holds. While a worker holds the lease, no other one delivers to the endpoint. */
export const claimEndpoints = (
  sql: SqlReader,
  claim: { readonly workerId: string; readonly leaseMs: number; readonly now: Date; readonly limit: number },
): Promise<readonly EndpointKey[]> =>
  sql.query<EndpointKey>(CLAIM, [claim.workerId, claim.leaseMs, claim.now.toISOString(), claim.limit]);

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
  }: { readonly workerId: string; readonly leaseMs: number; readonly endpoints: readonly EndpointKey[] },
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

/** Deliveries of the endpoint are due. @returns whether the endpoint is there */
export const wakeEndpoint = async (sql: Sql, { projectId, endpointId }: EndpointKey, now: Date): Promise<boolean> =>
  (await sql.change(WAKE, [projectId, endpointId, now.toISOString()])) === 1;

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

/** When deliveries that are not seen yet are looked for again. */
const UNSEEN_MS = 1_000;

// The counter is stored with the deliveries of its events. While it is behind the endpoint's last number, the node has not committed
// what the coordinator has, so deliveries of those events are not seen yet.
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
 * Ends the lease and stores when the endpoint is due next. A transaction that adds deliveries also updates the endpoint's row in
 * `webhook_lane`. So, under the lock of that row, this function either sees the new deliveries or their transaction sets the time afterwards.
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
