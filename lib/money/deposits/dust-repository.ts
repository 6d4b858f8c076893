import type { Sql, SqlReader } from "@/lib/platform/db/sql";
import { sql } from "@/lib/platform/db/statement";
import { type DustSum, dustSums } from "./rows";

// Dust of projects. Dust in blocks that are not final is stored as rows of `deposit`, which a
// reorganisation may drop; dust in final blocks is stored as sums in `deposit_dust`.

/**
 * Adds the dust of final blocks to the sums, and removes its rows. One statement does both, so that
 * neither a crash nor another instance counts a row twice. Final blocks are not searched again, so
 * no row comes back.
 */
export const foldDust = async (
  db: Sql,
  chainId: number,
  finalNumber: bigint,
): Promise<void> => {
  await db.change(sql`
    WITH final AS (
      DELETE FROM deposit
      WHERE chain_id = ${chainId}::int AND block_number <= ${finalNumber}::bigint AND state = 'dust'
      RETURNING project_id, wallet_id, wallet_address, token, amount_base, detected_at
    )
    INSERT INTO deposit_dust AS d (
      project_id, wallet_id, chain_id, token, wallet_address, count, total_base, last_at
    )
    SELECT project_id, wallet_id, ${chainId}::int, token,
      min(wallet_address), count(*), sum(amount_base), max(detected_at)
    FROM final
    GROUP BY project_id, wallet_id, token
    ORDER BY project_id, wallet_id, token
    ON CONFLICT (project_id, wallet_id, chain_id, token) DO UPDATE SET
      count = d.count + EXCLUDED.count,
      total_base = d.total_base + EXCLUDED.total_base,
      last_at = greatest(d.last_at, EXCLUDED.last_at)`);
};

/** The sums of a project, the newest first. */
export const readDustSums = (
  db: SqlReader,
  projectId: string,
  limit: number,
): Promise<DustSum[]> =>
  dustSums.all(
    db,
    sql`
      SELECT ${dustSums.columns("summed")}
      FROM (
        SELECT wallet_id, min(wallet_address) AS wallet_address, chain_id, token,
          sum(count) AS count, sum(total_base) AS total_base, max(last_at) AS last_at
        FROM (
          SELECT wallet_id, wallet_address, chain_id, token, count, total_base, last_at
          FROM deposit_dust WHERE project_id = ${projectId}
          UNION ALL
          SELECT wallet_id, wallet_address, chain_id, token, 1, amount_base, detected_at
          FROM deposit WHERE project_id = ${projectId} AND state = 'dust'
        ) AS each
        GROUP BY wallet_id, chain_id, token
      ) AS summed
      ORDER BY last_at DESC, wallet_id, chain_id, token
      LIMIT ${limit}::int`,
  );
