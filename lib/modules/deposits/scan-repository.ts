/** How far each chain was searched. Moving on is a compare-and-set, in the transaction that stores what was found. */
import type { Sql, SqlReader } from "@/lib/db/sql";

export interface Cursor {
  /** The newest final block that was searched. */
  readonly finalNumber: bigint;
  /** The newest block that was searched, and its hash. */
  readonly seenNumber: bigint;
  readonly seenHash: string;
  /** The final block of which all coin balances were compared last. */
  readonly nativeNumber: bigint;
}

/** A stored cursor, with the start of its search. */
interface StoredCursor extends Cursor {
  /** When the search began. Wallets that are newer had nothing that was not searched for. */
  readonly startedAt: Date;
}

interface CursorRow {
  readonly final_number: string;
  readonly seen_number: string;
  readonly seen_hash: string;
  readonly native_number: string;
  readonly started_at: Date;
}

const READ = `
  SELECT final_number::text, seen_number::text, seen_hash, native_number::text, started_at FROM deposit_scan WHERE chain_id = $1::int`;

const START = `
  INSERT INTO deposit_scan (chain_id, final_number, seen_number, seen_hash, native_number, started_at, updated_at)
  VALUES ($1::int, $2::bigint, $3::bigint, $4, $5::bigint, $6::timestamptz, $6::timestamptz) ON CONFLICT DO NOTHING`;

const ADVANCE = `
  UPDATE deposit_scan SET final_number = $5::bigint, seen_number = $6::bigint, seen_hash = $7, updated_at = $8::timestamptz
  WHERE chain_id = $1::int AND final_number = $2::bigint AND seen_number = $3::bigint AND seen_hash = $4`;

const ADVANCE_NATIVE = `
  UPDATE deposit_scan SET native_number = $3::bigint, updated_at = $4::timestamptz
  WHERE chain_id = $1::int AND native_number = $2::bigint`;

export const readCursor = async (sql: SqlReader, chainId: number): Promise<StoredCursor | null> => {
  const [row] = await sql.query<CursorRow>(READ, [chainId]);
  if (row === undefined) return null;
  return {
    finalNumber: BigInt(row.final_number),
    seenNumber: BigInt(row.seen_number),
    seenHash: row.seen_hash,
    nativeNumber: BigInt(row.native_number),
    startedAt: row.started_at,
  };
};

/** Where the search of a chain begins. Balances of that block are taken as they are. */
export const startCursor = async (sql: Sql, chainId: number, cursor: Cursor, now: Date): Promise<void> => {
  const { finalNumber, seenNumber, seenHash, nativeNumber } = cursor;
  await sql.change(START, [chainId, String(finalNumber), String(seenNumber), seenHash, String(nativeNumber), now]);
};

export type Reached = Pick<Cursor, "finalNumber" | "seenNumber" | "seenHash">;

/** @returns false when another instance has moved on meanwhile: nothing may be stored then */
export const advance = async (sql: Sql, chainId: number, from: Reached, to: Reached, now: Date): Promise<boolean> => {
  const before = [String(from.finalNumber), String(from.seenNumber), from.seenHash];
  const after = [String(to.finalNumber), String(to.seenNumber), to.seenHash];
  return (await sql.change(ADVANCE, [chainId, ...before, ...after, now])) === 1;
};

/** As `advance`, for the comparison of coins. */
export const advanceNative = async (
  sql: Sql,
  chainId: number,
  move: { readonly from: bigint; readonly to: bigint; readonly now: Date },
): Promise<boolean> =>
  (await sql.change(ADVANCE_NATIVE, [chainId, String(move.from), String(move.to), move.now])) === 1;
