/** The sums that are read under the lock of a balance. Each part reads an index, so its cost does not grow with the wallet's history. */
import type { SqlReader } from "@/lib/db/sql";

/** Identifies a balance by wallet, chain and token (lower-case address, or `native`). */
export interface FundsKey {
  readonly walletAddress: string;
  readonly chainId: number;
  readonly token: string;
}

/** `operation_id` of the holds of deposits that wait for a person. */
export const QUARANTINE = "quarantine";

const OF_BALANCE = "h.wallet_address = $1 AND h.chain_id = $2::int AND h.token = $3";
const HELD = `SELECT h.amount_base FROM balance_hold h WHERE ${OF_BALANCE} AND h.released_at IS NULL`;

export const HELD_SINCE = `
  SELECT coalesce(sum(amount_base), 0)::text AS sum FROM (
    ${HELD}
    UNION ALL
    SELECT h.amount_base FROM balance_hold h
    WHERE ${OF_BALANCE} AND h.released_at IS NOT NULL AND h.released_version > $4::int
  ) AS holds`;

// The id of a hold is the id of its leg, or `<payout id>/<batch number>`; the leg or batch stores the block in which the money left. The
// blocks are searched first, because few of them are newer than the final block. A batch
// that an older version stored during an upgrade names no wallet; its hold does.
export const COMMITTED_AFTER = `
  SELECT coalesce(sum(amount_base), 0)::text AS sum FROM (
    ${HELD}
    UNION ALL
    SELECT h.amount_base FROM operation_leg l JOIN balance_hold h ON h.id = l.id
    WHERE l.wallet_address = $1 AND l.source_chain_id = $2::int AND l.source_block > $4::bigint
      AND ${OF_BALANCE} AND h.released_at > $5::timestamptz
    UNION ALL
    SELECT h.amount_base FROM wallet_payout_batch b JOIN balance_hold h ON h.id = b.payout_id || '/' || b.number::text
    WHERE b.wallet_address = $1 AND b.chain_id = $2::int AND b.block_number > $4::numeric
      AND ${OF_BALANCE} AND h.released_at > $5::timestamptz
    UNION ALL
    SELECT h.amount_base FROM wallet_payout_batch b JOIN balance_hold h ON h.id = b.payout_id || '/' || b.number::text
    WHERE b.wallet_address IS NULL AND b.block_number > $4::numeric
      AND ${OF_BALANCE} AND h.released_at > $5::timestamptz
  ) AS holds`;

/** Every chain makes a block final within this time. */
const FINAL_WITHIN_MS = 7 * 24 * 60 * 60 * 1000;

const sumOf = async (sql: SqlReader, text: string, values: readonly unknown[]): Promise<bigint> => {
  const [row] = await sql.query<{ sum: string }>(text, values);
  return BigInt(row?.sum ?? 0);
};

/**
 * The held amount of a balance that was read at the given version of its guard, in base units. Holds that were released since then are
 * included, because it is not known whether the balance already shows them as spent, and the same money must not be held twice.
 */
export const heldSince = (sql: SqlReader, key: FundsKey, guardVersion: number): Promise<bigint> =>
  sumOf(sql, HELD_SINCE, [key.walletAddress, key.chainId, key.token, guardVersion]);

/** The statement of `committedAfter`; its row has the sum as `sum`. */
export const committedAfterQuery = (key: FundsKey, block: bigint, now: Date): { text: string; values: unknown[] } => {
  const since = new Date(now.getTime() - FINAL_WITHIN_MS);
  return { text: COMMITTED_AFTER, values: [key.walletAddress, key.chainId, key.token, block.toString(), since] };
};

/**
 * The amount, in base units, that accepted operations and payouts take from a balance and that the balance at `block` still includes: the
 * sum of all holds and of the spendings that were mined after `block`.
 */
export const committedAfter = (sql: SqlReader, key: FundsKey, block: bigint, now: Date): Promise<bigint> => {
  const { text, values } = committedAfterQuery(key, block, now);
  return sumOf(sql, text, values);
};
