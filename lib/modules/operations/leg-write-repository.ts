/** Changes of legs of one project in one statement for any number of them, each a compare-and-set against the version that was read. */
import { jsonRows } from "@/lib/db/json-rows";
import { RefusedItemError } from "@/lib/db/batches";
import type { SqlReader } from "@/lib/db/sql";
import type { JudgedPart } from "@/lib/db/together";
import { storedText } from "@/lib/ports/routing-json";
import type { Leg, LegChange } from "./leg";
import { columnOf } from "./row-repository";
import type { LegState } from "./summary";

export interface LegWrite {
  /** As it was read. */
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
  .map((column) => `${column} = CASE WHEN w.change ? '${column}' THEN (w.changed).${column} ELSE l.${column} END`)
  .join(", ");

// The legs are locked in the order of their ids before they are changed, because a join may visit them in any order and two sets that
// overlap would wait for each other.
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
      if (!(field in CHANGEABLE)) throw new RefusedItemError(`The field ${field} of a leg does not change.`);
      // The column is not nullable; a wallet's own transactions have no gas limits of ours.
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

/** The leg as a write leaves it. */
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

/** Writes of different legs, as a part of a statement. The caller has locked the legs and compared their versions. */
export const legWritesPart = (writes: readonly LegWrite[]): JudgedPart => ({
  text: WRITE,
  values: valuesOf(writes),
  rowsExactly: writes.length,
  judge: (rows) => {
    if (rows.length !== writes.length) throw new RefusedItemError("A leg was changed although it is locked.");
  },
});

/**
 * Only the first of several writes of one leg can succeed: the others read the leg before it.
 * @returns the changed leg by its write; where it is missing, somebody else has changed the leg since it was read
 */
export const writeLegs = async (sql: SqlReader, writes: readonly LegWrite[]): Promise<Map<LegWrite, Leg>> => {
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
