import { DomainError } from "@/lib/core/errors";
import type { Database } from "@/lib/db/client";
import type { Sql } from "@/lib/db/sql";

/** A transaction that a linked wallet sent for an action of a leg. */
export interface SentByWallet {
  readonly chainId: number;
  readonly hash: string;
  readonly actionId: string;
  readonly legId: string;
}

const SENT = `jsonb_to_recordset($1::jsonb) AS sent ("chainId" int, hash text, "legId" text, "actionId" text)`;
const INSERT_SENT = `
  INSERT INTO wallet_transaction (chain_id, hash, leg_id, action_id)
  SELECT "chainId", hash, "legId", "actionId" FROM ${SENT} ORDER BY 1, 2 ON CONFLICT DO NOTHING`;
const READ_SENT = `
  SELECT t.chain_id AS "chainId", t.hash, t.leg_id AS "legId", t.action_id AS "actionId"
  FROM ${SENT} JOIN wallet_transaction t ON t.chain_id = sent."chainId" AND t.hash = sent.hash`;

/**
 * Assigns the transactions to these legs, inside the transaction that accepts their operation.
 * @throws DomainError `invalid_signature`, naming every action whose transaction belongs to another leg
 */
export const claimTransactions = async (sql: Sql, sent: readonly SentByWallet[]): Promise<void> => {
  if (sent.length === 0) return;
  const rows = sent.map((each) => ({ ...each, hash: each.hash.toLowerCase() }));
  const values = [JSON.stringify(rows)];
  await sql.change(INSERT_SENT, values);
  const stored = await sql.query<SentByWallet>(READ_SENT, values);
  const taken = rows.filter(
    ({ chainId, hash, legId, actionId }) =>
      !stored.some(
        (row) => row.chainId === chainId && row.hash === hash && row.legId === legId && row.actionId === actionId,
      ),
  );
  if (taken.length === 0) return;
  throw new DomainError(
    "invalid_signature",
    "A transaction was named for another action already. Nothing was recorded.",
    {
      details: taken.map(({ actionId }) => ({
        path: `signatures.${actionId}`,
        message: "names a transaction that counts for another action already",
        code: "already_used",
      })),
    },
  );
};

export const createWalletTransactionRepository = ({ prisma }: Database) => ({
  /** Assigns a replacement transaction to its leg. False when it belongs to another leg. */
  adopt: async (sent: SentByWallet): Promise<boolean> => {
    const row = { ...sent, hash: sent.hash.toLowerCase() };
    await prisma.walletTransaction.createMany({ data: [row], skipDuplicates: true });
    const stored = await prisma.walletTransaction.findUnique({
      where: { chainId_hash: { chainId: row.chainId, hash: row.hash } },
    });
    return stored?.legId === row.legId && stored.actionId === row.actionId;
  },
});
