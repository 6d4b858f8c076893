import type { SenderQueue } from "@/lib/chain/ports/bundler";
import type { Database } from "@/lib/platform/db/client";
import { sqlOf } from "@/lib/platform/db/sql";
import { sql } from "@/lib/platform/db/statement";
import { bool, table, text } from "@/lib/platform/db/table";

const holders = table({ legId: text });

/**
 * Claims for the deployment of an account on a chain. If two operations both deployed the account,
 * one would fail, so only the holder of the claim includes the deployment. A claimant is a leg (its
 * id) or a batch of a payout (`<payout id>/<number>`).
 */
export const createDeploymentClaims = (database: Database) => {
  const db = sqlOf(database.prisma);

  const hasEnded = async (holder: string): Promise<boolean> => {
    const statement = holder.includes("/")
      ? sql`
          SELECT 1
          FROM payout p
          JOIN wallet_payout_batch b ON b.project_id = p.project_id AND b.payout_id = p.id
          WHERE p.id = split_part(${holder}, '/', 1)
            AND b.number::text = split_part(${holder}, '/', 2)
            AND b.state IN ('paid', 'failed', 'cancelled')`
      : sql`
          SELECT 1 FROM operation_leg
          WHERE id = ${holder} AND state IN ('completed', 'failed', 'refunded')`;
    return (await db.query(statement)).length > 0;
  };

  return {
    /**
     * Claims the deployment, also from a holder that has ended.
     * @returns whether the claimant now holds the claim
     */
    claim: async ({
      chainId,
      address,
      claimant,
      now,
    }: {
      chainId: number;
      address: string;
      claimant: string;
      now: Date;
    }): Promise<boolean> => {
      const claimed = await db.change(sql`
        INSERT INTO account_deployment AS d (chain_id, address, leg_id, claimed_at)
        VALUES (${chainId}::int, ${address}, ${claimant}, ${now}::timestamptz)
        ON CONFLICT (chain_id, address) DO UPDATE SET claimed_at = EXCLUDED.claimed_at
        WHERE d.leg_id = EXCLUDED.leg_id`);
      if (claimed === 1) return true;
      const holder = await holders.first(
        db,
        sql`
          SELECT ${holders.columns("d")} FROM account_deployment d
          WHERE d.chain_id = ${chainId}::int AND d.address = ${address}`,
      );
      if (holder === null || !(await hasEnded(holder.legId))) return false;
      // The condition on the holder prevents two claimants from taking over the same claim: if
      // another process took it over first, no row changes.
      const taken = await db.change(sql`
        UPDATE account_deployment SET
          leg_id = ${claimant},
          claimed_at = ${now}::timestamptz
        WHERE chain_id = ${chainId}::int AND address = ${address} AND leg_id = ${holder.legId}`);
      return taken === 1;
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
 * Seconds after the end of an operation's validity until the operation counts as gone. They cover
 * a difference between the clocks of database and chain, and the time until a bundler drops an
 * expired operation.
 */
const EXPIRED_SECONDS = 60;

const queued = table({
  userOpHash: text,
  isAdmitted: bool,
  isOver: bool,
});

/**
 * The queue of each sender, shared by all instances. An operation leaves its queue when it is
 * mined, when the bundler rejects it, or some time after the end of its validity.
 */
export const createSenderQueue = (database: Database): SenderQueue => ({
  admit: async ({ chainId, sender, userOpHash, validUntil }) => {
    // This row is committed before the rows are locked, so that a transaction that later locks the
    // sender's rows sees it. Two concurrent transactions therefore never admit too many
    // operations.
    await sqlOf(database.prisma).change(sql`
      INSERT INTO bundler_queue (chain_id, user_op_hash, sender, valid_until)
      VALUES (${chainId}::int, ${userOpHash}, ${sender}, ${validUntil}::timestamptz)
      ON CONFLICT DO NOTHING`);
    return database.transaction(async (tx) => {
      const db = sqlOf(tx);
      const rows = await queued.all(
        db,
        sql`
          SELECT user_op_hash AS "userOpHash",
            admitted_at IS NOT NULL AS "isAdmitted",
            valid_until < now() - ${EXPIRED_SECONDS}::int * interval '1 second' AS "isOver"
          FROM bundler_queue
          WHERE chain_id = ${chainId}::int AND sender = ${sender}
          ORDER BY place
          FOR UPDATE`,
      );
      const over = rows.flatMap((row) => (row.isOver ? [row.userOpHash] : []));
      if (over.length > 0)
        await db.change(sql`
          DELETE FROM bundler_queue
          WHERE chain_id = ${chainId}::int AND user_op_hash = ANY(${over}::text[])`);
      const open = rows.filter(({ isOver }) => !isOver);
      const own = open.findIndex((row) => row.userOpHash === userOpHash);
      if (own < 0) return false;
      if (open[own]?.isAdmitted === true) return true;
      // Counts the operations that were queued earlier, and all that the bundler already has.
      const ahead = open.filter(({ isAdmitted }, index) => index < own || isAdmitted).length;
      if (ahead >= PENDING_MAX) return false;
      await db.change(sql`
        UPDATE bundler_queue SET admitted_at = now()
        WHERE chain_id = ${chainId}::int AND user_op_hash = ${userOpHash}`);
      return true;
    });
  },

  leave: async (chainId, userOpHash) => {
    await database.prisma.bundlerQueue.deleteMany({ where: { chainId, userOpHash } });
  },
});
