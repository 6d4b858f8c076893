import type { Database } from "@/lib/db/client";
import { sqlOf } from "@/lib/db/sql";

const CLAIM = `
  INSERT INTO account_deployment AS d (chain_id, address, leg_id, claimed_at) VALUES ($1::int, $2, $3, $4::timestamptz)
  ON CONFLICT (chain_id, address) DO UPDATE SET claimed_at = EXCLUDED.claimed_at WHERE d.leg_id = EXCLUDED.leg_id
  RETURNING leg_id`;

const HOLDER = "SELECT leg_id AS holder FROM account_deployment WHERE chain_id = $1::int AND address = $2";

const ENDED_LEG = "SELECT 1 FROM operation_leg WHERE id = $1 AND state IN ('completed', 'failed', 'refunded')";

const ENDED_BATCH = `
  SELECT 1 FROM payout p JOIN wallet_payout_batch b ON b.project_id = p.project_id AND b.payout_id = p.id
  WHERE p.id = split_part($1, '/', 1) AND b.number::text = split_part($1, '/', 2) AND b.state IN ('paid', 'failed', 'cancelled')`;

// The last condition names the holder that was read before: when another process took the deployment over from it first, no row changes.
const TAKE = `
  UPDATE account_deployment SET leg_id = $3, claimed_at = $4::timestamptz
  WHERE chain_id = $1::int AND address = $2 AND leg_id = $5`;

/**
 * Claims for the deployment of an account on a chain. Of two operations that both contain the deployment one would fail, so only the
 * holder of the claim includes it. A claimant is a leg (its id) or a batch of a payout (`<payout id>/<number>`).
 */
export const createDeploymentClaims = (database: Database) => {
  const sql = sqlOf(database.prisma);
  const hasEnded = async (holder: string): Promise<boolean> =>
    (await sql.query(holder.includes("/") ? ENDED_BATCH : ENDED_LEG, [holder])).length > 0;

  return {
    /** @returns true when the account was unclaimed, when the claimant holds the claim, or when the holder has ended */
    claim: async (claim: { chainId: number; address: string; claimant: string; now: Date }): Promise<boolean> => {
      const values = [claim.chainId, claim.address, claim.claimant, claim.now.toISOString()];
      if ((await sql.query(CLAIM, values)).length === 1) return true;
      const [row] = await sql.query<{ holder: string }>(HOLDER, [claim.chainId, claim.address]);
      if (row === undefined || !(await hasEnded(row.holder))) return false;
      return (await sql.change(TAKE, [...values, row.holder])) === 1;
    },
  };
};

export type DeploymentClaims = ReturnType<typeof createDeploymentClaims>;
