/** Operations as the steps of a transaction find them, locked, and as the steps leave them. */
import { jsonRows } from "@/lib/db/json-rows";
import type { Status, SubStatus } from "@/lib/core/status";
import { RefusedItemError } from "@/lib/db/batches";
import { toBigIntOrNull } from "@/lib/db/decimal";
import type { SqlReader } from "@/lib/db/sql";
import type { JudgedPart } from "@/lib/db/together";
import type { NewEvent } from "@/lib/modules/events/service";
import type { Failure } from "./leg";
import type { LegResult } from "./summary";

export interface OperationRow {
  readonly id: string;
  readonly projectId: string;
  readonly version: number;
  readonly kind: string;
  readonly retryOf: string | null;
  readonly quotedId: string | null;
  readonly privateId: string | null;
  readonly minimumBase: bigint;
  status: Status;
  subStatus: SubStatus;
  failure: Failure | null;
}

type StoredOperation = Omit<OperationRow, "minimumBase"> & { readonly minimumBase: string };

export interface LegSnapshot extends LegResult {
  readonly id: string;
  readonly operationId: string;
  readonly sourceChainId: number;
  readonly reservedWei: string | null;
  readonly version: number;
  readonly failure: Failure | null;
}

type StoredLeg = Omit<LegSnapshot, "receivedBase"> & { readonly receivedBase: string | null };

interface Event {
  readonly operationId: string;
  /** Among those that the transaction adds to its operation, from 1. */
  readonly place: number;
  readonly type: string;
  readonly data: unknown;
  readonly now: Date;
}

/** An operation inside the transaction, with the changes that steps have made to it so far. */
export interface WorkingSet {
  readonly row: OperationRow;
  readonly legs: readonly LegSnapshot[];
  readonly events: Event[];
  readonly projectEvents: NewEvent[];
  changes: number;
  changedAt: Date | null;
}

// Operations are locked in the order of their ids everywhere, and then legs in that of theirs, so that two transactions never wait for each
// other. Both are read after their locks were taken, so they include everything that was committed while the statement waited.
const LOCK = `
  WITH locked AS MATERIALIZED (
    SELECT o.id, o.project_id AS "projectId", o.version, o.kind, o.status, o.sub_status AS "subStatus", o.failure,
      o.retry_of AS "retryOf", o.minimum_base::text AS "minimumBase",
      (SELECT q.transfer_id FROM quote q WHERE q.project_id = $1 AND q.operation_id = o.id) AS "quotedId",
      (SELECT p.id FROM privacy_transfer p WHERE p.project_id = $1 AND p.operation_id = o.id) AS "privateId"
    FROM operation o WHERE o.project_id = $1 AND o.id = ANY($2::text[]) ORDER BY o.id COLLATE "C" FOR NO KEY UPDATE OF o
  )`;
const LOCK_WITH_LEGS = `${LOCK}
  SELECT to_jsonb(locked) AS operation, l.id, l.operation_id AS "operationId", l.source_chain_id AS "sourceChainId", l.state, l.version,
    l.position, l.failure, l.received_base::text AS "receivedBase", l.sponsor_reserved_wei::text AS "reservedWei"
  FROM locked JOIN operation_leg l ON l.project_id = $1 AND l.operation_id = locked.id
  ORDER BY l.id COLLATE "C" FOR NO KEY UPDATE OF l`;
/** An operation that awaits approval has no legs. */
const LOCK_ALONE = `${LOCK} SELECT to_jsonb(locked) AS operation FROM locked`;

type LockedRow = { readonly operation: StoredOperation } & StoredLeg & { readonly position: number };

/**
 * Locks operations of a project and their legs until the transaction ends.
 * @returns the working set of each operation, by its id
 */
export const readWorkingSets = async (
  sql: SqlReader,
  projectId: string,
  operationIds: readonly string[],
): Promise<Map<string, WorkingSet>> => {
  const ids = [...new Set(operationIds)];
  const rows = await sql.query<LockedRow>(LOCK_WITH_LEGS, [projectId, ids]);
  const byPosition = rows.toSorted((one, other) => one.position - other.position);
  const found = new Map<string, StoredOperation>(rows.map(({ operation }) => [operation.id, operation]));
  const legless = ids.filter((id) => !found.has(id));
  if (legless.length > 0)
    for (const { operation } of await sql.query<Pick<LockedRow, "operation">>(LOCK_ALONE, [projectId, legless]))
      found.set(operation.id, operation);
  for (const id of ids) if (!found.has(id)) throw new RefusedItemError(`There is no operation ${id}.`);
  const workingSets = [...found.values()].map(({ minimumBase, ...stored }): [string, WorkingSet] => {
    const legs = byPosition
      .filter(({ operationId }) => operationId === stored.id)
      .map(({ id, operationId, sourceChainId, state, version, failure, reservedWei, receivedBase }) => ({
        ...{ id, operationId, sourceChainId, state, version, failure, reservedWei },
        receivedBase: toBigIntOrNull(receivedBase),
      }));
    const row = { ...stored, minimumBase: BigInt(minimumBase) };
    return [stored.id, { row, legs, events: [], projectEvents: [], changes: 0, changedAt: null }];
  });
  return new Map(workingSets);
};

// The versions and states that are compared are those of the rows that were locked: PostgreSQL looks at a row again once it has waited for it.
const LOCK_KNOWN = `
  SELECT found.id FROM ${jsonRows("$1", "id text, version int, status text, sub_status text", "id")} AS w
  CROSS JOIN LATERAL (
    SELECT o.id FROM operation o
    WHERE o.project_id = $2 AND o.id = w.id AND o.version = w.version AND o.status = w.status AND o.sub_status = w.sub_status
    FOR NO KEY UPDATE
  ) AS found`;
const LOCK_KNOWN_LEGS = `
  SELECT found.id FROM ${jsonRows("$1", "operation_id text, id text, version int, state text", "id")} AS w
  CROSS JOIN LATERAL (
    SELECT l.id FROM operation_leg l
    WHERE l.project_id = $2 AND l.id = w.id AND l.operation_id = w.operation_id AND l.version = w.version AND l.state = w.state
    FOR NO KEY UPDATE
  ) AS found`;

const locking = (text: string, projectId: string, rows: readonly object[]): JudgedPart => ({
  text,
  values: [JSON.stringify(rows), projectId],
  rowsExactly: rows.length,
  judge: () => undefined,
});

/**
 * Parts of `changeAllOrNothing` that lock operations of a project and their legs as `readWorkingSets` does, those alone that still are as the working sets
 * say. Call it before steps change the working sets.
 */
export const lockParts = (projectId: string, workingSets: readonly WorkingSet[]): JudgedPart[] => [
  locking(
    LOCK_KNOWN,
    projectId,
    workingSets.map(({ row: { id, version, status, subStatus } }) => ({ id, version, status, sub_status: subStatus })),
  ),
  locking(
    LOCK_KNOWN_LEGS,
    projectId,
    workingSets.flatMap(({ legs }) =>
      legs.map(({ operationId, id, version, state }) => ({ operation_id: operationId, id, version, state })),
    ),
  ),
];
