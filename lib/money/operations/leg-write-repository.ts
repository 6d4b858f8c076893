import { jsonRows } from "@/lib/platform/db/json-rows";
import { RefusedItemError } from "@/lib/platform/db/batches";
import type { Sql, SqlReader } from "@/lib/platform/db/sql";
import { storedText } from "@/lib/platform/db/codecs";
import type { Failure, Leg, LegChange } from "./leg";
import { columnOf } from "./row-repository";
import type { LegResult, LegState } from "./summary";
import type { Status, SubStatus } from "@/lib/core/status";
import { toBigIntOrNull } from "@/lib/platform/db/decimal";
import type { NewEvent } from "@/lib/news/events/service";
import type { RefundPayment } from "@/lib/money/ports/routing";
import { paymentKey } from "./refund-attention";
import { RefundTakenError } from "./errors";

// Changes the legs of one project, any number in one statement. Each change is a compare-and-set
// against the version that was read.

export interface LegWrite {
  /** The leg as the caller read it. */
  readonly leg: Leg;
  readonly to: LegState;
  readonly change: LegChange & Partial<Pick<Leg, "sponsorReservedWei">>;
  readonly now: Date;
}

const CHANGEABLE: Readonly<Record<keyof LegWrite["change"], true>> = {
  walletId: true,
  walletAddress: true,
  sourceChainId: true,
  destChainId: true,
  via: true,
  routeLeg: true,
  amountBase: true,
  spentBase: true,
  receivedBase: true,
  fillDeadline: true,
  executorWalletId: true,
  walletTransactions: true,
  permit: true,
  userOperation: true,
  userOpHash: true,
  earlierUserOpHashes: true,
  gas: true,
  validUntil: true,
  fromBlock: true,
  sourceTxHash: true,
  sourceBlock: true,
  sourceConfirmations: true,
  gasCostWei: true,
  gasPaidBy: true,
  deposit: true,
  depositedBase: true,
  destTxHash: true,
  destBlock: true,
  destConfirmations: true,
  refundTxHash: true,
  refundBlock: true,
  refundedBase: true,
  refundToken: true,
  refundAttention: true,
  failure: true,
  sponsorReservedWei: true,
};

// A column that a change does not name keeps its value. JSON null becomes NULL.
const SET = Object.keys(CHANGEABLE)
  .map(columnOf)
  .map(
    (column) =>
      `${column} = CASE WHEN w.change ? '${column}' THEN (w.changed).${column} ELSE l.${column} END`,
  )
  .join(", ");

// The legs are locked in the order of their ids before they are changed. An UPDATE with a join may
// visit them in any order, so two overlapping sets could deadlock.
const WRITE = `
  WITH w AS MATERIALIZED (
    SELECT v.*, jsonb_populate_record(NULL::operation_leg, v.change) AS changed
    FROM ${jsonRows("$1", 'id text, version int, "from" text, "to" text, now timestamptz, change jsonb', "id")} AS v
  ), locked AS MATERIALIZED (
    SELECT found.id FROM w CROSS JOIN LATERAL (
      SELECT o.id FROM operation_leg o
      WHERE o.project_id = $2 AND o.id = w.id AND o.version = w.version AND o.state = w."from" FOR NO KEY UPDATE
    ) AS found
  )
  UPDATE operation_leg l SET state = w."to", version = l.version + 1, updated_at = w.now, ${SET}
  FROM w JOIN locked ON locked.id = w.id
  WHERE l.project_id = $2 AND l.id = w.id AND l.version = w.version AND l.state = w."from"
  RETURNING l.id`;

const changeOf = (change: LegWrite["change"]): Record<string, unknown> =>
  Object.fromEntries(
    Object.entries(change).map(([field, value]) => {
      if (!(field in CHANGEABLE))
        throw new RefusedItemError(`The field ${field} of a leg does not change.`);
      // The column `gas` is not nullable. Transactions that a linked wallet sends by itself have no
      // gas limits from us, so an empty object is stored.
      return [columnOf(field), value ?? (field === "gas" ? {} : null)];
    }),
  );

const valuesOf = (writes: readonly LegWrite[]): readonly unknown[] => {
  const values = writes.map(({ leg, to, change, now }) => ({
    id: leg.id,
    version: leg.version,
    from: leg.state,
    to,
    now,
    change: changeOf(change),
  }));
  return [storedText(values), writes[0]?.leg.projectId];
};

/** The leg after a write. */
export const writtenLeg = ({ leg, to, change, now }: LegWrite): Leg => {
  const changed = Object.entries(change).map(([field, value]) => [field, value ?? null]);
  return {
    ...leg,
    ...(Object.fromEntries(changed) as LegWrite["change"]),
    state: to,
    version: leg.version + 1,
    updatedAt: now,
  };
};

/**
 * Applies the writes. When several change one leg, only the first succeeds, because the others name
 * the version before it.
 * @returns the changed legs by their writes; a missing one was changed by somebody else since it
 * was read
 */
export const writeLegs = async (
  sql: SqlReader,
  writes: readonly LegWrite[],
): Promise<Map<LegWrite, Leg>> => {
  if (writes.length === 0) return new Map();
  const first = new Map(writes.toReversed().map((write) => [write.leg.id, write]));
  const rows = await sql.query<{ readonly id: string }>(WRITE, valuesOf([...first.values()]));
  const written = new Set(rows.map(({ id }) => id));
  return new Map(
    [...first.values()].flatMap((write): [LegWrite, Leg][] =>
      written.has(write.leg.id) ? [[write, writtenLeg(write)]] : [],
    ),
  );
};

// Operations inside a transaction: as they were when they were locked, and as the steps of the
// transaction change them.

interface OperationRow {
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
  /** Position of the event among those that the transaction adds to its operation, from 1. */
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

// Operations are always locked in the order of their ids, and legs after them in the order of their
// own ids, so that two transactions cannot deadlock. The rows are read after the locks are taken,
// so they include everything that was committed during the wait.
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
/** Locks an operation that awaits approval and therefore has no legs. */
const LOCK_ALONE = `${LOCK} SELECT to_jsonb(locked) AS operation FROM locked`;

type LockedRow = { readonly operation: StoredOperation } & StoredLeg & {
    readonly position: number;
  };

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
  const found = new Map<string, StoredOperation>(
    rows.map(({ operation }) => [operation.id, operation]),
  );
  const legless = ids.filter((id) => !found.has(id));
  if (legless.length > 0)
    for (const { operation } of await sql.query<Pick<LockedRow, "operation">>(LOCK_ALONE, [
      projectId,
      legless,
    ]))
      found.set(operation.id, operation);
  for (const id of ids)
    if (!found.has(id)) throw new RefusedItemError(`There is no operation ${id}.`);
  const workingSets = [...found.values()].map(
    ({ minimumBase, ...stored }): [string, WorkingSet] => {
      const legs = byPosition
        .filter(({ operationId }) => operationId === stored.id)
        .map(
          ({
            id,
            operationId,
            sourceChainId,
            state,
            version,
            failure,
            reservedWei,
            receivedBase,
          }) => ({
            ...{ id, operationId, sourceChainId, state, version, failure, reservedWei },
            receivedBase: toBigIntOrNull(receivedBase),
          }),
        );
      const row = { ...stored, minimumBase: BigInt(minimumBase) };
      return [stored.id, { row, legs, events: [], projectEvents: [], changes: 0, changedAt: null }];
    },
  );
  return new Map(workingSets);
};

// Which payment on chain is the refund of which leg. The claims on a payment never exceed its
// amount.

/**
 * The part of a payment that is the refund of one leg's deposit, in base units of the bridged
 * token.
 */
export interface RefundClaim {
  readonly payment: RefundPayment;
  readonly amountBase: bigint;
  /**
   * The person who named the payment, as `actorName` returns it; null where the chains show it for
   * certain.
   */
  readonly decidedBy: string | null;
}

export interface LegClaim extends RefundClaim {
  readonly legId: string;
  readonly now: Date;
}

const RELEASE = `
  WITH gone AS (DELETE FROM refund_claim WHERE leg_id = ANY($1::text[]) RETURNING chain_id, tx_hash, log_index, amount_base),
  sums AS (SELECT chain_id, tx_hash, log_index, sum(amount_base) AS amount FROM gone GROUP BY chain_id, tx_hash, log_index)
  UPDATE refund_payment p SET claimed_base = p.claimed_base - s.amount FROM sums s
  WHERE p.chain_id = s.chain_id AND p.tx_hash = s.tx_hash AND p.log_index = s.log_index`;

const TAKE = `
  INSERT INTO refund_payment AS p (chain_id, tx_hash, log_index, paid_base, claimed_base)
  SELECT $1::int, $2, $3::int, $4::numeric, $5::numeric WHERE $5::numeric <= $4::numeric
  ON CONFLICT (chain_id, tx_hash, log_index) DO UPDATE SET claimed_base = p.claimed_base + excluded.claimed_base
  WHERE p.claimed_base + excluded.claimed_base <= p.paid_base`;

const RECORD = `
  INSERT INTO refund_claim (leg_id, chain_id, tx_hash, log_index, amount_base, decided_by, created_at)
  VALUES ($1, $2::int, $3, $4::int, $5::numeric, $6, $7::timestamptz)`;

/** Deletes the refund claims of these legs, in the transaction that moves the legs. */
export const releaseRefunds = async (sql: Sql, legIds: readonly string[]): Promise<void> => {
  if (legIds.length > 0) await sql.change(RELEASE, [legIds]);
};

/**
 * Claims parts of payments as refunds of legs, in the transaction that moves the legs. Earlier
 * claims of the same legs are deleted.
 * @throws RefundTakenError when other legs have claimed so much of a payment that the rest is too
 * little
 */
export const claimRefunds = async (sql: Sql, claims: readonly LegClaim[]): Promise<void> => {
  await releaseRefunds(
    sql,
    claims.map(({ legId }) => legId),
  );
  // All transactions insert claims in this order, so that two of them cannot deadlock.
  const ordered = claims.toSorted((a, b) =>
    paymentKey(a.payment) < paymentKey(b.payment) ? -1 : 1,
  );
  for (const { payment, amountBase, legId, decidedBy, now } of ordered) {
    const { chainId, txHash, logIndex, paidBase } = payment;
    const place = [chainId, txHash, logIndex];
    const taken = await sql.change(TAKE, [...place, paidBase.toString(), amountBase.toString()]);
    if (taken === 0) throw new RefundTakenError();
    await sql.change(RECORD, [legId, ...place, amountBase.toString(), decidedBy, now]);
  }
};
