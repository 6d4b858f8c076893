import type { Database } from "@/lib/db/client";

/**
 * Claims for the deployment of an account on a chain. Of two operations that both contain the deployment one would fail, so only the
 * holder of the claim includes it. A claimant is a leg (its id) or a batch of a payout (`<payout id>/<number>`).
 */
export const createDeploymentClaims = (database: Database) => ({
  /** @returns true when the account was unclaimed, when the claimant holds the claim, or when the holder has ended */
  claim: async (claim: { chainId: number; address: string; claimant: string; now: Date }): Promise<boolean> => {
    const rows = await database.prisma.$queryRaw<{ leg_id: string }[]>`
      INSERT INTO account_deployment AS d (chain_id, address, leg_id, claimed_at)
      VALUES (${claim.chainId}, ${claim.address}, ${claim.claimant}, ${claim.now})
      ON CONFLICT (chain_id, address) DO UPDATE SET leg_id = EXCLUDED.leg_id, claimed_at = EXCLUDED.claimed_at
      WHERE d.leg_id = EXCLUDED.leg_id
        OR EXISTS (SELECT 1 FROM operation_leg l WHERE l.id = d.leg_id AND l.state IN ('completed', 'failed', 'refunded'))
        OR EXISTS (
          SELECT 1 FROM payout p JOIN wallet_payout_batch b ON b.project_id = p.project_id AND b.payout_id = p.id
          WHERE p.id = split_part(d.leg_id, '/', 1) AND b.number::text = split_part(d.leg_id, '/', 2)
            AND b.state IN ('paid', 'failed', 'cancelled'))
      RETURNING leg_id`;
    return rows.length === 1;
  },
});

export type DeploymentClaims = ReturnType<typeof createDeploymentClaims>;
