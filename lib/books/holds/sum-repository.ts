import type { SqlReader } from "@/lib/platform/db/sql";

// Sums that are read under the lock of a balance. Each part reads an index, so its cost does not
// grow with the wallet's history.

/** Identifies a balance by wallet, chain and token (lower-case address, or `native`). */
export interface FundsKey {
  readonly walletAddress: string;
  readonly chainId: number;
  readonly token: string;
}

/** The `operation_id` of the hold for deposits that wait for a person. */
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

// The id of a hold is the id of its leg, or `<payout id>/<batch number>`. The leg or batch stores
// the block in which the money left. The query starts with the blocks, because few of them are
// newer than the final block.
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
  ) AS holds`;

/** Every chain makes a block final within this time. */
const FINAL_WITHIN_MS = 7 * 24 * 60 * 60 * 1000;

const sumOf = async (sql: SqlReader, text: string, values: readonly unknown[]): Promise<bigint> => {
  const [row] = await sql.query<{ sum: string }>(text, values);
  return BigInt(row?.sum ?? 0);
};

/**
 * The held amount of a balance that was read at the given version of its guard, in base units. It
 * includes holds that were released since then, because the balance that was read may not show them
 * as spent yet.
 */
export const heldSince = (sql: SqlReader, key: FundsKey, guardVersion: number): Promise<bigint> =>
  sumOf(sql, HELD_SINCE, [key.walletAddress, key.chainId, key.token, guardVersion]);

/**
 * The amount in base units that accepted operations and payouts take from a balance, as far as the
 * balance at `block` still includes it: all holds, and the spendings that were mined after `block`.
 */
export const committedAfter = (
  sql: SqlReader,
  key: FundsKey,
  block: bigint,
  now: Date,
): Promise<bigint> => {
  const since = new Date(now.getTime() - FINAL_WITHIN_MS);
  return sumOf(sql, COMMITTED_AFTER, [
    key.walletAddress,
    key.chainId,
    key.token,
    block.toString(),
    since,
  ]);
};

/** A chain, and the block at which its balances were read. */
interface BalancesAt {
  readonly chainId: number;
  readonly blockNumber: bigint;
}

/**
 * Money that accepted operations and payouts take from a balance and that the balance still
 * includes.
 */
export interface MovingFunds {
  readonly owner: string;
  readonly chainId: number;
  /** Lower-case token address, or `native`. */
  readonly token: string;
  /** Held for transactions that were not sent yet, in base units. */
  readonly reservedBase: bigint;
  /** Sent, but not mined in the block of the balance. */
  readonly pendingOutBase: bigint;
  /** Held for deposits that wait for a person. */
  readonly quarantinedBase: bigint;
}

// Selects by address, not by project: a wallet that two projects linked has one balance, and
// reservations count the holds of both.
const MOVING = `
  WITH own AS (SELECT address FROM wallet WHERE project_id = $1 AND unlinked_at IS NULL),
  read AS (SELECT * FROM unnest($2::int[], $3::numeric[]) AS chain (chain_id, block)),
  held AS (
    SELECT h.* FROM own JOIN balance_hold h ON h.wallet_address = own.address AND h.released_at IS NULL
    UNION ALL
    SELECT h.* FROM own JOIN balance_hold h ON h.wallet_address = own.address AND h.released_at > $4::timestamptz)
  SELECT owner, chain_id, token, coalesce(sum(amount) FILTER (WHERE NOT sent AND NOT quarantined), 0)::text AS reserved,
    coalesce(sum(amount) FILTER (WHERE sent), 0)::text AS pending_out,
    coalesce(sum(amount) FILTER (WHERE quarantined), 0)::text AS quarantined
  FROM (
    SELECT h.wallet_address AS owner, h.chain_id, h.token, h.amount_base AS amount,
      h.operation_id = '${QUARANTINE}' AS quarantined,
      h.released_at IS NOT NULL OR coalesce(l.state, b.state, 'queued') <> 'queued' AS sent
    FROM held h
    JOIN read ON read.chain_id = h.chain_id
    LEFT JOIN operation_leg l ON l.id = h.id
    LEFT JOIN wallet_payout_batch b ON b.project_id = h.project_id AND b.payout_id = h.operation_id
      AND b.number = nullif(split_part(h.id, '/', 2), '')::int
    WHERE h.released_at IS NULL OR coalesce(l.source_block::numeric, b.block_number) > read.block) AS moving
  GROUP BY owner, chain_id, token`;

/**
 * A hold that was released longer ago than this was spent in a block that every displayed balance
 * includes.
 */
const RELEASED_WITHIN_MS = 60 * 60 * 1000;

/** Money that is leaving the balances of a project's wallets, which were read at these blocks. */
export const movingFunds = async (
  sql: SqlReader,
  { projectId, at, now }: { projectId: string; at: readonly BalancesAt[]; now: Date },
): Promise<MovingFunds[]> => {
  const rows = await sql.query<{
    owner: string;
    chain_id: number;
    token: string;
    reserved: string;
    pending_out: string;
    quarantined: string;
  }>(MOVING, [
    projectId,
    at.map(({ chainId }) => chainId),
    at.map(({ blockNumber }) => blockNumber.toString()),
    new Date(now.getTime() - RELEASED_WITHIN_MS),
  ]);
  return rows.map(({ owner, chain_id, token, reserved, pending_out, quarantined }) => ({
    owner,
    chainId: chain_id,
    token,
    reservedBase: BigInt(reserved),
    pendingOutBase: BigInt(pending_out),
    quarantinedBase: BigInt(quarantined),
  }));
};
