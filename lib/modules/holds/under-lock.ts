import type { SqlReader } from "@/lib/db/sql";
import { fundsKey, type FundsKey } from "./repository";

// The same row as for reserving: its lock serialises all transactions that need the balance.
const LOCK = `
  INSERT INTO balance_guard (wallet_address, chain_id, token) VALUES ($1, $2::int, $3)
  ON CONFLICT (wallet_address, chain_id, token) DO UPDATE SET version = balance_guard.version`;

// The id of a hold is the id of its leg, or `<payout id>/<batch number>`; the leg or batch stores the block in which the money left.
const COMMITTED = `
  SELECT coalesce(sum(h.amount_base), 0)::text AS committed
  FROM balance_hold h
  LEFT JOIN operation_leg l ON l.id = h.id
  LEFT JOIN wallet_payout_batch b ON b.project_id = h.project_id AND b.payout_id = h.operation_id
    AND b.number = nullif(split_part(h.id, '/', 2), '')::int
  WHERE h.wallet_address = $1 AND h.chain_id = $2::int AND h.token = $3
    AND (h.released_at IS NULL
      OR (h.released_at > $5::timestamptz AND coalesce(l.source_block::numeric, b.block_number) > $4::numeric))`;

/** Every chain makes a block final within this time. */
const FINAL_WITHIN_MS = 7 * 24 * 60 * 60 * 1000;

/** Locks the balances until the transaction ends. All callers lock in the same order, which prevents deadlocks. */
export const lockFunds = async (sql: SqlReader, keys: readonly FundsKey[]): Promise<void> => {
  const known = new Map(keys.map((key) => [fundsKey(key), key]));
  for (const [, key] of [...known].sort(([a], [b]) => (a < b ? -1 : 1)))
    await sql.query(LOCK, [key.walletAddress, key.chainId, key.token]);
};

/**
 * The amount, in base units, that accepted operations and payouts take from a balance and that the balance at `block` still includes: the
 * sum of all holds and of the spendings that were mined after `block`.
 */
export const committedAfter = async (sql: SqlReader, key: FundsKey, block: bigint, now: Date): Promise<bigint> => {
  const since = new Date(now.getTime() - FINAL_WITHIN_MS);
  const values = [key.walletAddress, key.chainId, key.token, block.toString(), since];
  const [row] = await sql.query<{ committed: string }>(COMMITTED, values);
  return BigInt(row?.committed ?? 0);
};
