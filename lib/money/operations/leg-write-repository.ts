import { z } from "zod";
import { RefusedItemError } from "@/lib/platform/db/batches";
import type { Sql, SqlReader } from "@/lib/platform/db/sql";
import { raw, sql, type Statement } from "@/lib/platform/db/statement";
import {
  base,
  type Column,
  int,
  json,
  nameOf,
  nullable,
  type RowOf,
  table,
  text,
  time,
} from "@/lib/platform/db/table";
import type { Leg, LegChange } from "./leg";
import { type Failure, operationStatus, operationSubStatus } from "./rows";
import type { LegState } from "./summary";
import type { NewEvent } from "@/lib/news/events/service";
import type { RefundPayment } from "@/lib/money/ports/routing";
import { paymentKey } from "./refund-attention";
import { RefundTakenError } from "./errors";

// Changes any number of legs of one project in one statement. Each change is a compare-and-set on
// the leg's version.

export interface LegWrite {
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

// The SET clause. A column that a change does not name keeps its value, and JSON null becomes
// NULL.
const SET = raw(
  Object.keys(CHANGEABLE)
    .map(nameOf)
    .map(
      (column) =>
        `${column} = CASE WHEN w.change ? '${column}' THEN (w.changed).${column} ` +
        `ELSE l.${column} END`,
    )
    .join(",\n        "),
);

const ids = table({ id: text });

const listedWrites = table({
  id: text,
  version: int,
  fromState: text,
  toState: text,
  now: time,
  change: json(z.record(z.string(), z.unknown())),
});

const changeOf = (change: LegWrite["change"]): Record<string, unknown> =>
  Object.fromEntries(
    Object.entries(change).map(([field, value]) => {
      if (!(field in CHANGEABLE))
        throw new RefusedItemError(`The field ${field} of a leg does not change.`);
      // The column `gas` is not nullable. The service sets no gas limits for transactions that a
      // linked wallet sends, so an empty object is stored.
      return [nameOf(field), value ?? (field === "gas" ? {} : null)];
    }),
  );

const listOf = (writes: readonly LegWrite[]): Statement =>
  listedWrites.list(
    writes.map(({ leg, to, change, now }) => ({
      id: leg.id,
      version: leg.version,
      fromState: leg.state,
      toState: to,
      now,
      change: changeOf(change),
    })),
    { isCounted: true, orderedBy: "id" },
  );

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
 * Applies the writes. Of several writes to one leg only the first succeeds, because all of them
 * were made for the same version of the leg.
 * @returns for each write, the changed leg. A write is missing when its leg was changed since the
 * caller read it
 */
export const writeLegs = async (
  db: SqlReader,
  writes: readonly LegWrite[],
): Promise<Map<LegWrite, Leg>> => {
  const projectId = writes[0]?.leg.projectId;
  if (projectId === undefined) return new Map();
  const first = new Map(writes.toReversed().map((write) => [write.leg.id, write]));
  // The legs are locked in the order of their ids before the UPDATE. An UPDATE with a join may
  // visit rows in any order, so two overlapping sets could deadlock.
  const found = await ids.all(
    db,
    sql`
      WITH w AS MATERIALIZED (
        SELECT v.*, jsonb_populate_record(NULL::operation_leg, v.change) AS changed
        FROM ${listOf([...first.values()])} AS v
      ),
      locked AS MATERIALIZED (
        SELECT found.id
        FROM w
        CROSS JOIN LATERAL (
          SELECT o.id FROM operation_leg o
          WHERE o.project_id = ${projectId}
            AND o.id = w.id
            AND o.version = w.version
            AND o.state = w.from_state
          FOR NO KEY UPDATE
        ) AS found
      )
      UPDATE operation_leg l SET
        state = w.to_state,
        version = l.version + 1,
        updated_at = w.now,
        ${SET}
      FROM w
      JOIN locked ON locked.id = w.id
      WHERE l.project_id = ${projectId}
        AND l.id = w.id
        AND l.version = w.version
        AND l.state = w.from_state
      RETURNING l.id`,
  );
  const written = new Set(found.map(({ id }) => id));
  return new Map(
    [...first.values()].flatMap((write): [LegWrite, Leg][] =>
      written.has(write.leg.id) ? [[write, writtenLeg(write)]] : [],
    ),
  );
};

// A working set is an operation with its legs, as the transaction has locked them, plus the
// changes that the steps of the transaction make.

const lockedOperations = table({
  id: text,
  projectId: text,
  version: int,
  kind: text,
  status: operationStatus,
  subStatus: operationSubStatus,
  failure: json(z.unknown()) as Column<Failure | null>,
  retryOf: nullable(text),
  minimumBase: base,
  quotedId: nullable(text),
  privateId: nullable(text),
}).under("operation.");

type LockedOperation = RowOf<typeof lockedOperations>;
type Changed = "status" | "subStatus" | "failure";
type OperationRow = Omit<LockedOperation, Changed> & {
  -readonly [Field in Changed]: LockedOperation[Field];
};

const legSnapshots = table({
  id: text,
  operationId: text,
  position: int,
  sourceChainId: int,
  state: text as Column<LegState>,
  version: int,
  failure: json(z.unknown()) as Column<Failure | null>,
  receivedBase: nullable(base),
  sponsorReservedWei: nullable(base),
});

export type LegSnapshot = RowOf<typeof legSnapshots>;

interface Event {
  readonly operationId: string;
  /**
   * Sequence number, from 1, of the event within the events that the transaction adds to its
   * operation.
   */
  readonly place: number;
  readonly type: string;
  readonly data: unknown;
  readonly now: Date;
}

export interface WorkingSet {
  readonly row: OperationRow;
  readonly legs: readonly LegSnapshot[];
  readonly events: Event[];
  readonly projectEvents: NewEvent[];
  changes: number;
  changedAt: Date | null;
}

/**
 * The beginning of an SQL statement. The CTE `locked` locks the operations and contains their rows.
 * To avoid deadlocks, all transactions lock operations in the order of their ids, and then legs in
 * the order of their ids. Rows are read after the locks are acquired, so they include everything
 * that was committed during the wait.
 */
const locking = (projectId: string, operationIds: readonly string[]): Statement => sql`
  WITH locked AS MATERIALIZED (
    SELECT o.id, o.project_id, o.version, o.kind, o.status, o.sub_status, o.failure, o.retry_of,
      o.minimum_base,
      (
        SELECT q.transfer_id FROM quote q
        WHERE q.project_id = ${projectId} AND q.operation_id = o.id
      ) AS quoted_id,
      (
        SELECT p.id FROM privacy_transfer p
        WHERE p.project_id = ${projectId} AND p.operation_id = o.id
      ) AS private_id
    FROM operation o
    WHERE o.project_id = ${projectId} AND o.id = ANY(${operationIds}::text[])
    ORDER BY o.id COLLATE "C"
    FOR NO KEY UPDATE OF o
  )`;

const lockWithLegs = (
  db: SqlReader,
  projectId: string,
  operationIds: readonly string[],
): Promise<readonly object[]> =>
  db.query<object>(sql`
    ${locking(projectId, operationIds)}
    SELECT ${lockedOperations.columns("locked")}, ${legSnapshots.columns("l")}
    FROM locked
    JOIN operation_leg l ON l.project_id = ${projectId} AND l.operation_id = locked.id
    ORDER BY l.id COLLATE "C"
    FOR NO KEY UPDATE OF l`);

const lockAlone = (
  db: SqlReader,
  projectId: string,
  operationIds: readonly string[],
): Promise<readonly LockedOperation[]> =>
  lockedOperations.all(
    db,
    sql`
      ${locking(projectId, operationIds)}
      SELECT ${lockedOperations.columns("locked")} FROM locked`,
  );

/**
 * Locks operations of a project and their legs until the transaction ends.
 * @returns for each operation id, the operation's working set
 */
export const readWorkingSets = async (
  db: SqlReader,
  projectId: string,
  operationIds: readonly string[],
): Promise<Map<string, WorkingSet>> => {
  const wanted = [...new Set(operationIds)];
  const rows = await lockWithLegs(db, projectId, wanted);
  const legs = rows
    .map((row) => legSnapshots.read(row))
    .toSorted((one, other) => one.position - other.position);
  const found = new Map<string, LockedOperation>();
  const add = (operation: LockedOperation) => found.set(operation.id, operation);
  for (const row of rows) add(lockedOperations.read(row));
  const legless = wanted.filter((id) => !found.has(id));
  if (legless.length > 0)
    for (const operation of await lockAlone(db, projectId, legless)) add(operation);
  for (const id of wanted)
    if (!found.has(id)) throw new RefusedItemError(`There is no operation ${id}.`);
  const workingSets = [...found.values()].map((operation): [string, WorkingSet] => [
    operation.id,
    {
      row: { ...operation },
      legs: legs.filter(({ operationId }) => operationId === operation.id),
      events: [],
      projectEvents: [],
      changes: 0,
      changedAt: null,
    },
  ]);
  return new Map(workingSets);
};

// Assigns payments on chain to legs as refunds. The claims on a payment never exceed its amount.

/** Part of a payment that refunds one leg's deposit, in base units of the bridged token. */
export interface RefundClaim {
  readonly payment: RefundPayment;
  readonly amountBase: bigint;
  /**
   * The person who named the payment, as `actorName` returns it; null when the chains prove the
   * refund.
   */
  readonly decidedBy: string | null;
}

export interface LegClaim extends RefundClaim {
  readonly legId: string;
  readonly now: Date;
}

/** Deletes the refund claims of these legs, in the transaction that moves the legs. */
export const releaseRefunds = async (db: Sql, legIds: readonly string[]): Promise<void> => {
  if (legIds.length === 0) return;
  await db.change(sql`
    WITH gone AS (
      DELETE FROM refund_claim WHERE leg_id = ANY(${legIds}::text[])
      RETURNING chain_id, tx_hash, log_index, amount_base
    ),
    sums AS (
      SELECT chain_id, tx_hash, log_index, sum(amount_base) AS amount
      FROM gone
      GROUP BY chain_id, tx_hash, log_index
    )
    UPDATE refund_payment p SET claimed_base = p.claimed_base - s.amount
    FROM sums s
    WHERE p.chain_id = s.chain_id AND p.tx_hash = s.tx_hash AND p.log_index = s.log_index`);
};

/**
 * Claims parts of payments as refunds of legs, in the transaction that moves the legs. Earlier
 * claims of the same legs are deleted.
 * @throws RefundTakenError when other legs have claimed so much of a payment that the rest is too
 * small
 */
export const claimRefunds = async (db: Sql, claims: readonly LegClaim[]): Promise<void> => {
  await releaseRefunds(
    db,
    claims.map(({ legId }) => legId),
  );
  // All transactions insert claims in the order of the payments, to avoid deadlocks.
  const ordered = claims.toSorted((a, b) =>
    paymentKey(a.payment) < paymentKey(b.payment) ? -1 : 1,
  );
  for (const { payment, amountBase, legId, decidedBy, now } of ordered) {
    const { chainId, txHash, logIndex, paidBase } = payment;
    const taken = await db.change(sql`
      INSERT INTO refund_payment AS p (chain_id, tx_hash, log_index, paid_base, claimed_base)
      SELECT
        ${chainId}::int,
        ${txHash},
        ${logIndex}::int,
        ${paidBase}::numeric,
        ${amountBase}::numeric
      WHERE ${amountBase}::numeric <= ${paidBase}::numeric
      ON CONFLICT (chain_id, tx_hash, log_index) DO UPDATE SET
        claimed_base = p.claimed_base + excluded.claimed_base
      WHERE p.claimed_base + excluded.claimed_base <= p.paid_base`);
    if (taken === 0) throw new RefundTakenError();
    await db.change(sql`
      INSERT INTO refund_claim (
        leg_id, chain_id, tx_hash, log_index, amount_base, decided_by, created_at
      )
      VALUES (
        ${legId},
        ${chainId}::int,
        ${txHash},
        ${logIndex}::int,
        ${amountBase}::numeric,
        ${decidedBy},
        ${now}::timestamptz
      )`);
  }
};
