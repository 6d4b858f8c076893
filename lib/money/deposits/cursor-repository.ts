import type { Sql, SqlReader } from "@/lib/platform/db/sql";
import { sql } from "@/lib/platform/db/statement";
import type { RowOf } from "@/lib/platform/db/table";
import { cursors } from "./rows";

// Stores how far each chain was searched. The cursor moves by compare-and-set, in the transaction
// that stores the found deposits.

type StoredCursor = RowOf<typeof cursors>;
export type Cursor = Omit<StoredCursor, "startedAt">;

export const readCursor = (db: SqlReader, chainId: number): Promise<StoredCursor | null> =>
  cursors.first(
    db,
    sql`SELECT ${cursors.columns()} FROM deposit_scan WHERE chain_id = ${chainId}::int`,
  );

/**
 * Stores the block at which the search of a chain begins. Balances at that block are not deposits.
 */
export const startCursor = async (
  db: Sql,
  chainId: number,
  cursor: Cursor,
  now: Date,
): Promise<void> => {
  await db.change(sql`
    INSERT INTO deposit_scan (chain_id, updated_at, ${cursors.names})
    SELECT ${chainId}::int, ${now}::timestamptz, ${cursors.names}
    FROM ${cursors.list([{ ...cursor, startedAt: now }])} AS cursor
    ON CONFLICT DO NOTHING`);
};

export type Reached = Pick<Cursor, "finalNumber" | "seenNumber" | "seenHash">;

/**
 * Moves the cursor to the blocks that were searched.
 * @returns false when another instance has moved the cursor in the meantime; then nothing may be
 * stored
 */
export const advance = async (
  db: Sql,
  chainId: number,
  from: Reached,
  to: Reached,
  now: Date,
): Promise<boolean> => {
  const moved = await db.change(sql`
    UPDATE deposit_scan SET
      final_number = ${to.finalNumber}::bigint,
      seen_number = ${to.seenNumber}::bigint,
      seen_hash = ${to.seenHash},
      updated_at = ${now}::timestamptz
    WHERE chain_id = ${chainId}::int
      AND final_number = ${from.finalNumber}::bigint
      AND seen_number = ${from.seenNumber}::bigint
      AND seen_hash = ${from.seenHash}`);
  return moved === 1;
};

/** Like `advance`, for the block at which the coin balances were last compared. */
export const advanceNative = async (
  db: Sql,
  chainId: number,
  move: { readonly from: bigint; readonly to: bigint; readonly now: Date },
): Promise<boolean> => {
  const moved = await db.change(sql`
    UPDATE deposit_scan SET native_number = ${move.to}::bigint, updated_at = ${move.now}::timestamptz
    WHERE chain_id = ${chainId}::int AND native_number = ${move.from}::bigint`);
  return moved === 1;
};
