import type { Database, Tx } from "@/lib/db/client";
import { Prisma } from "@/lib/db/generated/client";
import { TakenError } from "./errors";

/** A deposit number of a private wallet in a pool. */
export interface Slot {
  readonly walletId: string;
  readonly pool: string;
  readonly number: number;
}

/**
 * SQL condition on a slot: its operation, or the operation's step, ended without a deposit, and no transaction can make that deposit any
 * more. The purpose of a step's transaction is written as `purposeOf` of drive-step.ts writes it. Transactions of earlier attempts are
 * final before the next attempt begins, so the last attempt decides.
 */
const isFree = (slot: Prisma.Sql): Prisma.Sql => Prisma.sql`EXISTS (
  SELECT 1 FROM operation o
  LEFT JOIN privacy_step p ON p.project_id = ${slot}.project_id AND p.operation_id = o.id AND p.slot_number = ${slot}.number
  LEFT JOIN chain_transaction t ON t.chain_id = p.chain_id
    AND t.purpose = 'privacy:' || p.operation_id || ':' || p.position || ':' || p.attempt
  WHERE o.id = ${slot}.operation_id AND (t.id IS NULL OR t.status = 'final')
    AND CASE WHEN p.state IS NULL THEN o.status IN ('failed', 'cancelled', 'expired', 'refunded') ELSE p.state = 'failed' END)`;

/** Takes a deposit number that no other operation uses, or has used for a deposit. @throws TakenError */
export const takeSlot = async (
  tx: Tx,
  at: { readonly projectId: string; readonly chainId: number; readonly operationId: string },
  slot: Slot,
): Promise<void> => {
  const taken = await tx.$executeRaw`
    INSERT INTO privacy_slot (project_id, wallet_id, chain_id, pool, number, operation_id)
    VALUES (${at.projectId}, ${slot.walletId}, ${at.chainId}, ${slot.pool}, ${slot.number}, ${at.operationId})
    ON CONFLICT (project_id, wallet_id, chain_id, pool, number) DO UPDATE SET operation_id = EXCLUDED.operation_id
    WHERE ${isFree(Prisma.sql`privacy_slot`)}`;
  if (taken === 0) throw new TakenError("The deposit number is in use.");
};

/** Deposit numbers of private wallets. */
export const createSlotRepository = ({ prisma }: Pick<Database, "prisma">) => ({
  takeSlot,

  /** Numbers of the wallet in the pool that operations use, or have used for a deposit. */
  numbersInUse: async (
    projectId: string,
    walletId: string,
    at: { readonly chainId: number; readonly pool: string },
  ): Promise<ReadonlySet<number>> => {
    const rows = await prisma.$queryRaw<{ number: number }[]>`
      SELECT s.number FROM privacy_slot s
      WHERE s.project_id = ${projectId} AND s.wallet_id = ${walletId} AND s.chain_id = ${at.chainId} AND s.pool = ${at.pool}
        AND NOT ${isFree(Prisma.sql`s`)}`;
    return new Set(rows.map(({ number }) => number));
  },
});
