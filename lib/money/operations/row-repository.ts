/** Reads and writes any number of operations and legs with one raw statement. */
import type { Sql, SqlReader } from "@/lib/platform/db/sql";
import { storedText } from "@/lib/platform/db/codecs";
import { type Leg, type LegRow, parseLeg } from "./leg";
import { type Operation, type OperationRow, parseOperation } from "./operation";

/**
 * How a column is returned: unchanged, as text that keeps every digit, as text of a day, or as a
 * time, which is text inside JSON.
 */
type Form = "plain" | "numeric" | "integer" | "day" | "time";

const OPERATION_FIELDS: Record<keyof OperationRow, Form> = {
  id: "plain",
  projectId: "plain",
  kind: "plain",
  status: "plain",
  subStatus: "plain",
  request: "plain",
  quoted: "plain",
  minimumBase: "numeric",
  failure: "plain",
  createdBy: "plain",
  retryOf: "plain",
  acceptedAt: "plain",
  retriedBy: "plain",
  gasWaits: "plain",
  evaluationId: "plain",
  createdAt: "plain",
  updatedAt: "plain",
  expiresAt: "plain",
};

const LEG_FIELDS: Record<keyof LegRow, Form> = {
  projectId: "plain",
  id: "plain",
  operationId: "plain",
  position: "plain",
  walletId: "plain",
  walletAddress: "plain",
  sourceChainId: "plain",
  destChainId: "plain",
  state: "plain",
  routeLeg: "plain",
  amountBase: "numeric",
  spentBase: "numeric",
  receivedBase: "numeric",
  fillDeadline: "time",
  via: "plain",
  executorWalletId: "plain",
  walletTransactions: "plain",
  permit: "plain",
  userOpHash: "plain",
  earlierUserOpHashes: "plain",
  userOperation: "plain",
  gas: "plain",
  validUntil: "time",
  fromBlock: "integer",
  sourceTxHash: "plain",
  sourceBlock: "integer",
  sourceConfirmations: "plain",
  gasCostWei: "numeric",
  gasPaidBy: "plain",
  deposit: "plain",
  depositedBase: "numeric",
  destTxHash: "plain",
  destBlock: "integer",
  destConfirmations: "plain",
  refundTxHash: "plain",
  refundBlock: "integer",
  refundedBase: "numeric",
  refundToken: "plain",
  refundAttention: "plain",
  failure: "plain",
  sponsorReservedWei: "numeric",
  sponsorDay: "day",
  version: "plain",
  updatedAt: "time",
};

/** The column name of a field: `sourceTxHash` is `source_tx_hash`. */
export const columnOf = (field: string): string =>
  field.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

const LEG_PREFIX = "leg.";
// The text of a date depends on a session setting, which a node of a Citus cluster refuses in
// RETURNING. The number of days since 1970 does not.
const CASTS: Record<Form, string> = {
  plain: "",
  numeric: "::text",
  integer: "::text",
  day: " - DATE '1970-01-01'",
  time: "",
};
const DAY_MS = 86_400_000;
const listOf = (fields: Readonly<Record<string, Form>>, table: string, prefix: string): string =>
  Object.entries(fields)
    .map(([field, form]) => `${table}.${columnOf(field)}${CASTS[form]} AS "${prefix}${field}"`)
    .join(", ");

/** The columns of a leg for `readLeg`, in a SELECT or RETURNING whose table is named `l`. */
export const LEG_COLUMNS = listOf(LEG_FIELDS, "l", LEG_PREFIX);

type Raw = Readonly<Record<string, unknown>>;

const valueOf = (value: unknown, form: Form): unknown => {
  if (form === "day" && typeof value === "number") return new Date(value * DAY_MS);
  if (typeof value !== "string") return value;
  if (form === "integer") return BigInt(value);
  return form === "time" ? new Date(value) : value;
};

/** @param raw a row with `LEG_COLUMNS`, as the driver or a part of a statement returns it */
export const readLeg = (raw: Raw): Leg =>
  parseLeg(
    Object.fromEntries(
      Object.entries(LEG_FIELDS).map(([field, form]) => [
        field,
        valueOf(raw[`${LEG_PREFIX}${field}`], form),
      ]),
    ) as unknown as LegRow,
  );

const LEG_INSERT_COLUMNS = ["kind", ...Object.keys(LEG_FIELDS).map(columnOf)].join(", ");
const INSERT_LEGS = `
  INSERT INTO operation_leg (${LEG_INSERT_COLUMNS})
  SELECT ${LEG_INSERT_COLUMNS} FROM jsonb_populate_recordset(NULL::operation_leg, $1::jsonb)`;

/** Stores the legs of an operation, in the transaction that accepts it. */
export const insertLegs = async (sql: Sql, legs: readonly Leg[]): Promise<void> => {
  const rows = legs.map((leg) => ({
    ...Object.fromEntries(
      Object.entries(leg).map(([field, value]) => [columnOf(field), value as unknown]),
    ),
    // The column `gas` is not nullable. Transactions that a linked wallet sends by itself have no
    // gas limits from us, so an empty object is stored.
    gas: leg.gas ?? {},
    kind: leg.routeLeg.kind,
  }));
  await sql.change(INSERT_LEGS, [storedText(rows)]);
};

const READ = `
  SELECT ${listOf(OPERATION_FIELDS, "o", "")}, ${LEG_COLUMNS}
  FROM operation o LEFT JOIN operation_leg l ON l.project_id = o.project_id AND l.operation_id = o.id
  WHERE o.id = ANY($1::text[]) ORDER BY o.id, l.position`;

const LEG_ID = `${LEG_PREFIX}id`;

/**
 * @returns the error when an operation cannot be parsed; it must not prevent the others from being
 * driven
 */
const parseOrError = (row: Raw, legs: readonly Raw[]): Operation | Error => {
  try {
    return {
      ...parseOperation({ ...(row as unknown as OperationRow), legs: [] }),
      legs: legs.map(readLeg),
    };
  } catch (error) {
    return error instanceof Error ? error : new Error(String(error));
  }
};

/**
 * Reads the operations with these ids and their legs in one statement. The map holds an error for
 * an operation that cannot be read, and nothing for an unknown id.
 */
export const findOperations = async (
  sql: SqlReader,
  ids: readonly string[],
): Promise<Map<string, Operation | Error>> => {
  const found = new Map<string, { row: Raw; legs: Raw[] }>();
  for (const row of await sql.query<Raw & { id: string }>(READ, [ids])) {
    const known = found.get(row.id) ?? { row, legs: [] };
    if (row[LEG_ID] !== null) known.legs.push(row);
    found.set(row.id, known);
  }
  return new Map([...found].map(([id, { row, legs }]) => [id, parseOrError(row, legs)]));
};
