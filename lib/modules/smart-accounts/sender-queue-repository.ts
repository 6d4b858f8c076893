import type { Database } from "@/lib/db/client";
import type { SenderQueue } from "@/lib/ports/bundler";

/** The number of operations that a bundler holds of one sender that has no stake (ERC-7562, SAME_SENDER_MEMPOOL_COUNT). */
const PENDING_MAX = 4;
/** The database's time and the chain's differ, and a bundler drops an operation some time after its validity. */
const EXPIRED_SECONDS = 60;

interface Row {
  readonly userOpHash: string;
  readonly isAdmitted: boolean;
}

/**
 * The queue of each sender, shared by all instances. An operation leaves it when it is mined, when the bundler refuses it, or when its
 * validity is over.
 */
export const createSenderQueue = (database: Database): SenderQueue => ({
  admit: async ({ chainId, sender, userOpHash, validUntil }) => {
    // Committed before the rows are locked: a transaction that locks the sender's rows later sees this one, so two of them never admit too many.
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
      // Operations that wait longer go first, and operations that the bundler has already keep their places.
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
