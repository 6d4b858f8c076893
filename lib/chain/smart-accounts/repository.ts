import type { Database } from "@/lib/platform/db/client";
import { sqlOf } from "@/lib/platform/db/sql";
import type { SenderQueue } from "@/lib/chain/ports/bundler";

const CLAIM = `
  INSERT INTO account_deployment AS d (chain_id, address, leg_id, claimed_at) VALUES ($1::int, $2, $3, $4::timestamptz)
  ON CONFLICT (chain_id, address) DO UPDATE SET claimed_at = EXCLUDED.claimed_at WHERE d.leg_id = EXCLUDED.leg_id
  RETURNING leg_id`;

const HOLDER =
  "SELECT leg_id AS holder FROM account_deployment WHERE chain_id = $1::int AND address = $2";

const ENDED_LEG =
  "SELECT 1 FROM operation_leg WHERE id = $1 AND state IN ('completed', 'failed', 'refunded')";

const ENDED_BATCH = `
  SELECT 1 FROM payout p JOIN wallet_payout_batch b ON b.project_id = p.project_id AND b.payout_id = p.id
  WHERE p.id = split_part($1, '/', 1) AND b.number::text = split_part($1, '/', 2) AND b.state IN ('paid', 'failed', 'cancelled')`;

// The last condition names the holder that was read before: when another process took the
// deployment over from it first, no row changes.
const TAKE = `
  UPDATE account_deployment SET leg_id = $3, claimed_at = $4::timestamptz
  WHERE chain_id = $1::int AND address = $2 AND leg_id = $5`;

/**
 * Claims for the deployment of an account on a chain. If two operations both contained the
 * deployment, one would fail, so only the holder of the claim includes it. A claimant is a leg (its
 * id) or a batch of a payout (`<payout id>/<number>`).
 */
export const createDeploymentClaims = (database: Database) => {
  const sql = sqlOf(database.prisma);
  const hasEnded = async (holder: string): Promise<boolean> =>
    (await sql.query(holder.includes("/") ? ENDED_BATCH : ENDED_LEG, [holder])).length > 0;

  return {
    /**
     * @returns true when the account was unclaimed, when the claimant holds the claim, or when the
     * holder has ended
     */
    claim: async (claim: {
      chainId: number;
      address: string;
      claimant: string;
      now: Date;
    }): Promise<boolean> => {
      const values = [claim.chainId, claim.address, claim.claimant, claim.now.toISOString()];
      if ((await sql.query(CLAIM, values)).length === 1) return true;
      const [row] = await sql.query<{ holder: string }>(HOLDER, [claim.chainId, claim.address]);
      if (row === undefined || !(await hasEnded(row.holder))) return false;
      return (await sql.change(TAKE, [...values, row.holder])) === 1;
    },
  };
};

export type DeploymentClaims = ReturnType<typeof createDeploymentClaims>;

/**
 * Number of operations that a bundler stores for one sender without a stake (ERC-7562,
 * SAME_SENDER_MEMPOOL_COUNT).
 */
const PENDING_MAX = 4;
/**
 * Margin because the database's time and the chain's differ, and a bundler drops an operation some
 * time after its validity.
 */
const EXPIRED_SECONDS = 60;

interface Row {
  readonly userOpHash: string;
  readonly isAdmitted: boolean;
}

/**
 * The queue of each sender, shared by all instances. An operation leaves it when it is mined, when
 * the bundler refuses it, or when its validity is over.
 */
export const createSenderQueue = (database: Database): SenderQueue => ({
  admit: async ({ chainId, sender, userOpHash, validUntil }) => {
    // Committed before the rows are locked: a transaction that later locks the sender's rows sees
    // this row, so two transactions never admit too many.
    await database.prisma.$executeRaw`
      INSERT INTO bundler_queue (chain_id, user_op_hash, sender, valid_until)
      VALUES (${chainId}, ${userOpHash}, ${sender}, ${validUntil}) ON CONFLICT DO NOTHING`;
    return database.transaction(async (tx) => {
      const rows = await tx.$queryRaw<(Row & { isOver: boolean })[]>`
        SELECT user_op_hash AS "userOpHash", admitted_at IS NOT NULL AS "isAdmitted",
          valid_until < now() - ${EXPIRED_SECONDS}::int * interval '1 second' AS "isOver"
        FROM bundler_queue WHERE chain_id = ${chainId} AND sender = ${sender} ORDER BY place FOR UPDATE`;
      const over = rows.flatMap((row) => (row.isOver ? [row.userOpHash] : []));
      if (over.length > 0)
        await tx.$executeRaw`DELETE FROM bundler_queue WHERE chain_id = ${chainId} AND user_op_hash = ANY(${over})`;
      const open = rows.filter(({ isOver }) => !isOver);
      const own = open.findIndex((row) => row.userOpHash === userOpHash);
      if (own < 0) return false;
      if (open[own]?.isAdmitted === true) return true;
      // Operations that wait longer go first, and operations that the bundler has already keep
      // their places.
      const ahead = open.filter(({ isAdmitted }, index) => index < own || isAdmitted).length;
      if (ahead >= PENDING_MAX) return false;
      await tx.$executeRaw`
        UPDATE bundler_queue SET admitted_at = now() WHERE chain_id = ${chainId} AND user_op_hash = ${userOpHash}`;
      return true;
    });
  },

  leave: async (chainId, userOpHash) => {
    await database.prisma.bundlerQueue.deleteMany({ where: { chainId, userOpHash } });
  },
});
