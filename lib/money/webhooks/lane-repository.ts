import { isDistributed, type Sql, type SqlReader } from "@/lib/platform/db/sql";
import { raw, sql, type Statement } from "@/lib/platform/db/statement";
import { nullable, table, time } from "@/lib/platform/db/table";
import { HOLD, isHeldBack } from "./delivery-repository";
import { type EndpointKey, endpointKeys, IS_SERVED, lanes } from "./rows";

// The queues of endpoints: when each is due, and which worker delivers to it. Workers cache the
// plans of these statements by their text, so the texts are constant.

const failures = lanes.pick("failingSince");

/** The time since which every attempt has failed; null when the last attempt succeeded. */
export const failingSince = async (
  db: SqlReader,
  { projectId, endpointId }: EndpointKey,
): Promise<Date | null> => {
  const lane = await failures.first(
    db,
    sql`
      SELECT ${failures.columns()} FROM webhook_lane
      WHERE project_id = ${projectId} AND endpoint_id = ${endpointId}`,
  );
  return lane?.failingSince ?? null;
};

/**
 * Leases due endpoints that no other worker holds. Only the worker with the lease delivers to an
 * endpoint. Leases use the database's clock. Due times use the service's clock, which tests can
 * move.
 */
export const claimEndpoints = (
  db: SqlReader,
  claim: {
    readonly workerId: string;
    readonly leaseMs: number;
    readonly now: Date;
    readonly limit: number;
  },
): Promise<readonly EndpointKey[]> =>
  endpointKeys.all(
    db,
    sql`
      UPDATE webhook_lane l SET
        locked_by = ${claim.workerId},
        locked_until = now() + ${claim.leaseMs}::int * interval '1 millisecond'
      FROM (
        SELECT l.project_id, l.endpoint_id FROM webhook_lane l
        JOIN webhook_endpoint w
          ON w.project_id = l.project_id AND w.id = l.endpoint_id AND ${IS_SERVED}
        WHERE l.due_at <= ${claim.now}::timestamptz
          AND (l.locked_until IS NULL OR l.locked_until < now())
        ORDER BY l.due_at
        LIMIT ${claim.limit}::int
        FOR UPDATE OF l SKIP LOCKED
      ) due
      WHERE l.project_id = due.project_id AND l.endpoint_id = due.endpoint_id
      RETURNING ${endpointKeys.columns("l")}`,
  );

/**
 * Extends the worker's leases.
 * @returns the endpoints whose lease the worker still holds
 */
export const extendLeases = (
  db: SqlReader,
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
  endpointKeys.all(
    db,
    sql`
      UPDATE webhook_lane l SET
        locked_until = now() + ${leaseMs}::int * interval '1 millisecond'
      FROM unnest(
        ${endpoints.map(({ projectId }) => projectId)}::text[],
        ${endpoints.map(({ endpointId }) => endpointId)}::text[]
      ) AS h (project_id, endpoint_id)
      WHERE l.project_id = h.project_id
        AND l.endpoint_id = h.endpoint_id
        AND l.locked_by = ${workerId}
        AND l.locked_until >= now()
      RETURNING ${endpointKeys.columns("l")}`,
  );

/**
 * Makes the endpoint due.
 * @returns whether the endpoint exists
 */
export const wakeEndpoint = async (
  db: Sql,
  { projectId, endpointId }: EndpointKey,
  now: Date,
): Promise<boolean> => {
  const woken = await db.change(sql`
    UPDATE webhook_lane SET
      due_at = least(coalesce(due_at, ${now}::timestamptz), ${now}::timestamptz)
    WHERE project_id = ${projectId} AND endpoint_id = ${endpointId}`);
  return woken === 1;
};

const nextDue = table({ dueAt: nullable(time) });

const UNSEEN_MS = 1_000;

/**
 * When the endpoint is due next, on a cluster. The project's event counter is on the node of the
 * deliveries. While it is below the endpoint's last sequence number, the coordinator has committed
 * deliveries that are not visible on the node yet. The endpoint is then due again after
 * `UNSEEN_MS`.
 */
const nextDueAt = async (
  db: SqlReader,
  { projectId, endpointId }: EndpointKey,
  { now, lastSequence }: { readonly now: Date; readonly lastSequence: number },
): Promise<Date | null> => {
  const next = await nextDue.first(
    db,
    sql`
      SELECT least((
        SELECT d.due_at FROM webhook_delivery d
        WHERE d.project_id = ${projectId}
          AND d.endpoint_id = ${endpointId}
          AND d.status = 'pending'
          AND NOT ${isHeldBack(projectId, now)}
        ORDER BY d.due_at
        LIMIT 1
      ), (
        SELECT min(d.first_attempt_at) + ${HOLD} FROM webhook_delivery d
        WHERE d.project_id = ${projectId}
          AND d.endpoint_id = ${endpointId}
          AND d.status = 'pending'
          AND d.first_attempt_at > ${now}::timestamptz - ${HOLD}
      ), (
        SELECT ${now}::timestamptz + ${raw(String(UNSEEN_MS))} * interval '1 millisecond'
        WHERE coalesce((
          SELECT c.last_sequence FROM event_counter c WHERE c.project_id = ${projectId}
        ), 0) < ${lastSequence}::bigint
      )) AS "dueAt"`,
  );
  return next?.dueAt ?? null;
};

/** For one server: ends the lease, and sets when the endpoint is due next. */
const release = ({ projectId, endpointId }: EndpointKey, now: Date): Statement => sql`
  UPDATE webhook_lane l SET
    locked_by = NULL,
    locked_until = NULL,
    due_at = least((
      SELECT d.due_at FROM webhook_delivery d
      WHERE d.project_id = l.project_id
        AND d.endpoint_id = l.endpoint_id
        AND d.status = 'pending'
        AND NOT ${isHeldBack(projectId, now)}
      ORDER BY d.due_at
      LIMIT 1
    ), (
      SELECT min(d.first_attempt_at) + ${HOLD} FROM webhook_delivery d
      WHERE d.project_id = l.project_id
        AND d.endpoint_id = l.endpoint_id
        AND d.status = 'pending'
        AND d.first_attempt_at > ${now}::timestamptz - ${HOLD}
    ))
  WHERE l.project_id = ${projectId} AND l.endpoint_id = ${endpointId}`;

const sequences = lanes.pick("lastSequence");

/**
 * Ends the lease and stores when the endpoint is due next. Locks the endpoint's row in
 * `webhook_lane`, which a transaction that adds deliveries updates too. If that transaction
 * committed first, its deliveries are visible here. Otherwise it gets the lock later and sets the
 * due time then.
 */
export const releaseEndpoint = async (
  db: Sql,
  key: EndpointKey,
  { workerId, now }: { readonly workerId: string; readonly now: Date },
): Promise<void> => {
  const { projectId, endpointId } = key;
  const lane = await sequences.first(
    db,
    sql`
      SELECT ${sequences.columns()} FROM webhook_lane
      WHERE project_id = ${projectId} AND endpoint_id = ${endpointId} AND locked_by = ${workerId}
      FOR UPDATE`,
  );
  if (lane === null) return;
  if (!isDistributed(db)) {
    await db.change(release(key, now));
    return;
  }
  const dueAt = await nextDueAt(db, key, { now, lastSequence: lane.lastSequence });
  await db.change(sql`
    UPDATE webhook_lane SET
      locked_by = NULL,
      locked_until = NULL,
      due_at = ${dueAt}::timestamptz
    WHERE project_id = ${projectId} AND endpoint_id = ${endpointId}`);
};
