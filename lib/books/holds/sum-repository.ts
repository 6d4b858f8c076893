import type { SqlReader } from "@/lib/platform/db/sql";
import { sql, type Statement } from "@/lib/platform/db/statement";
import { base, table } from "@/lib/platform/db/table";
import { type FundsKey, type MovingFunds, movingSums } from "./rows";

// Sums that are read under the lock of a balance. Each part uses an index, so its cost does not
// grow with the wallet's history.

export type { FundsKey, MovingFunds } from "./rows";

/** The `operation_id` of a quarantine's hold. */
export const QUARANTINE = "quarantine";

const isOfBalance = ({ walletAddress, chainId, token }: FundsKey): Statement =>
  sql`h.wallet_address = ${walletAddress} AND h.chain_id = ${chainId}::int AND h.token = ${token}`;

const holdsOf = (key: FundsKey): Statement => sql`
  SELECT h.amount_base FROM balance_hold h
  WHERE ${isOfBalance(key)} AND h.released_at IS NULL`;

export const selectHeldSince = (key: FundsKey, guardVersion: number): Statement => sql`
  SELECT coalesce(sum(amount_base), 0)::text AS sum
  FROM (
    ${holdsOf(key)}
    UNION ALL
    SELECT h.amount_base FROM balance_hold h
    WHERE ${isOfBalance(key)}
      AND h.released_at IS NOT NULL
      AND h.released_version > ${guardVersion}::int
  ) AS holds`;

/**
 * The statement of `committedAfter`. A hold's id is the id of its leg, or `<payout id>/<batch
 * number>`; the leg or batch stores the block in which the money left. The query starts with the
 * blocks, because few of them are newer than the final block.
 * @param releasedAfter holds that were released earlier are ignored
 */
export const selectCommittedAfter = (
  key: FundsKey,
  block: bigint,
  releasedAfter: Date,
): Statement => sql`
  SELECT coalesce(sum(amount_base), 0)::text AS sum
  FROM (
    ${holdsOf(key)}
    UNION ALL
    SELECT h.amount_base
    FROM operation_leg l
    JOIN balance_hold h ON h.id = l.id
    WHERE l.wallet_address = ${key.walletAddress}
      AND l.source_chain_id = ${key.chainId}::int
      AND l.source_block > ${block}::bigint
      AND ${isOfBalance(key)}
      AND h.released_at > ${releasedAfter}::timestamptz
    UNION ALL
    SELECT h.amount_base
    FROM wallet_payout_batch b
    JOIN balance_hold h ON h.id = b.payout_id || '/' || b.number::text
    WHERE b.wallet_address = ${key.walletAddress}
      AND b.chain_id = ${key.chainId}::int
      AND b.block_number > ${block}::numeric
      AND ${isOfBalance(key)}
      AND h.released_at > ${releasedAfter}::timestamptz
  ) AS holds`;

/**
 * Holds that were released longer ago than this are ignored, because every chain finalizes blocks
 * within this time.
 */
const FINAL_WITHIN_MS = 7 * 24 * 60 * 60 * 1000;

const sums = table({ sum: base });

const sumOf = async (db: SqlReader, statement: Statement): Promise<bigint> =>
  (await sums.first(db, statement))?.sum ?? 0n;

/**
 * The held amount of a balance that was read at the given version of its guard, in base units.
 * Includes holds that were released since then, because the balance may not show them as spent yet.
 */
export const heldSince = (
  db: SqlReader,
  key: FundsKey,
  guardVersion: number,
): Promise<bigint> => sumOf(db, selectHeldSince(key, guardVersion));

/**
 * The amount in base units that accepted operations and payouts take and that the balance at
 * `block` still includes: all holds, and spendings that were mined after `block`.
 */
export const committedAfter = (
  db: SqlReader,
  key: FundsKey,
  block: bigint,
  now: Date,
): Promise<bigint> =>
  sumOf(db, selectCommittedAfter(key, block, new Date(now.getTime() - FINAL_WITHIN_MS)));

/** A chain with the block at which its balances were read. */
interface BalancesAt {
  readonly chainId: number;
  readonly blockNumber: bigint;
}

/**
 * Holds that were released longer ago than this are ignored. Their money left in a block that every
 * displayed balance includes.
 */
const RELEASED_WITHIN_MS = 60 * 60 * 1000;

/**
 * Money that is leaving the balances of a project's wallets. `at` has the blocks at which the
 * balances were read. Selects by address instead of project, because a wallet that two projects
 * have linked has one balance, and reservations count the holds of both projects.
 */
export const movingFunds = (
  db: SqlReader,
  { projectId, at, now }: { projectId: string; at: readonly BalancesAt[]; now: Date },
): Promise<MovingFunds[]> => {
  const releasedAfter = new Date(now.getTime() - RELEASED_WITHIN_MS);
  return movingSums.all(
    db,
    sql`
      WITH own AS (
        SELECT address FROM wallet WHERE project_id = ${projectId} AND unlinked_at IS NULL
      ), read AS (
        SELECT * FROM unnest(
          ${at.map(({ chainId }) => chainId)}::int[],
          ${at.map(({ blockNumber }) => blockNumber.toString())}::numeric[]
        ) AS chain (chain_id, block)
      ), held AS (
        SELECT h.* FROM own
        JOIN balance_hold h ON h.wallet_address = own.address AND h.released_at IS NULL
        UNION ALL
        SELECT h.* FROM own
        JOIN balance_hold h
          ON h.wallet_address = own.address
          AND h.released_at > ${releasedAfter}::timestamptz
      )
      SELECT ${movingSums.columns("summed")}
      FROM (
        SELECT owner, chain_id, token,
          coalesce(sum(amount) FILTER (WHERE NOT sent AND NOT quarantined), 0) AS reserved_base,
          coalesce(sum(amount) FILTER (WHERE sent), 0) AS pending_out_base,
          coalesce(sum(amount) FILTER (WHERE quarantined), 0) AS quarantined_base
        FROM (
          SELECT h.wallet_address AS owner, h.chain_id, h.token, h.amount_base AS amount,
            h.operation_id = ${QUARANTINE} AS quarantined,
            h.released_at IS NOT NULL OR coalesce(l.state, b.state, 'queued') <> 'queued' AS sent
          FROM held h
          JOIN read ON read.chain_id = h.chain_id
          LEFT JOIN operation_leg l ON l.id = h.id
          LEFT JOIN wallet_payout_batch b
            ON b.project_id = h.project_id
            AND b.payout_id = h.operation_id
            AND b.number = nullif(split_part(h.id, '/', 2), '')::int
          WHERE h.released_at IS NULL
            OR coalesce(l.source_block::numeric, b.block_number) > read.block
        ) AS moving
        GROUP BY owner, chain_id, token
      ) AS summed`,
  );
};
