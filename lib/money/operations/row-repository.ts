import type { Sql, SqlReader } from "@/lib/platform/db/sql";
import { sql } from "@/lib/platform/db/statement";
import { type Leg, legFrom } from "./leg";
import type { Operation } from "./operation";
import { legs, newLegs, operations } from "./rows";

export const insertLegs = async (db: Sql, accepted: readonly Leg[]): Promise<void> => {
  const rows = accepted.map((leg) => ({
    ...leg,
    // The column `gas` is not nullable. The service sets no gas limits for transactions that a
    // linked wallet sends, so an empty object is stored.
    gas: leg.gas ?? {},
    kind: leg.routeLeg.kind,
  }));
  await db.change(sql`
    INSERT INTO operation_leg (${newLegs.names})
    SELECT ${newLegs.names} FROM ${newLegs.list(rows)} AS leg`);
};

const joinedLegs = legs.under("leg.");

interface JoinedRow {
  readonly id: string;
  /** The leg's id. All columns of the leg are null when the operation has no leg. */
  readonly "leg.id": string | null;
}

/**
 * Returns the error when an operation cannot be parsed. A thrown error would also stop the driving
 * of the other operations.
 */
const parseOrError = (row: JoinedRow, joined: readonly JoinedRow[]): Operation | Error => {
  try {
    return {
      ...operations.read(row),
      legs: joined.map((each) => legFrom(joinedLegs.read(each))),
    };
  } catch (error) {
    return error instanceof Error ? error : new Error(String(error));
  }
};

/**
 * Reads operations and their legs in one statement. The map has an error for an operation that
 * cannot be parsed, and no entry for an unknown id.
 */
export const findOperations = async (
  db: SqlReader,
  ids: readonly string[],
): Promise<Map<string, Operation | Error>> => {
  const rows = await db.query<JoinedRow>(sql`
    SELECT ${operations.columns("o")}, ${joinedLegs.columns("l")}
    FROM operation o
    LEFT JOIN operation_leg l ON l.project_id = o.project_id AND l.operation_id = o.id
    WHERE o.id = ANY(${ids}::text[])
    ORDER BY o.id, l.position`);
  const found = new Map<string, { row: JoinedRow; joined: JoinedRow[] }>();
  for (const row of rows) {
    const known = found.get(row.id) ?? { row, joined: [] };
    if (row["leg.id"] !== null) known.joined.push(row);
    found.set(row.id, known);
  }
  return new Map([...found].map(([id, { row, joined }]) => [id, parseOrError(row, joined)]));
};
