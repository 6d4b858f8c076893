import type { Address } from "viem";
import type { Database } from "@/lib/platform/db/client";
import { sqlOn } from "@/lib/platform/db/sql";
import { sql } from "@/lib/platform/db/statement";
import { int8, type RowOf, table, text } from "@/lib/platform/db/table";
import {
  knownAccounts,
  type KnownBatch,
  knownBatches,
  type KnownLeg,
  knownLegs,
  type OpenTransaction,
  openTransactions,
} from "./rows";

// Reads the movements that the database contains, to compare them with a chain.

const hashRows = table({ hash: text });
const nextNonces = table({ next: int8 });

export const createKnownRepository = ({ pool }: Pick<Database, "pool">) => {
  const db = sqlOn(pool);

  /** The account's next nonce according to the database; null when it has sent nothing. */
  const nextNonce = async (chainId: number, address: Address): Promise<bigint | null> => {
    const account = await nextNonces.first(
      db,
      sql`
        SELECT ${nextNonces.columns()} FROM signer_nonce
        WHERE chain_id = ${chainId}::int AND address = ${address}`,
    );
    return account?.next ?? null;
  };

  return {
    accounts: (): Promise<readonly RowOf<typeof knownAccounts>[]> =>
      knownAccounts.all(
        db,
        sql`SELECT ${knownAccounts.columns()} FROM wallet WHERE owner_address IS NOT NULL`,
      ),

    /**
     * Returns those of the hashes that belong to the operation of a leg or batch in the database.
     */
    knownHashes: async (hashes: readonly string[]): Promise<ReadonlySet<string>> => {
      const rows = await Promise.all([
        hashRows.all(
          db,
          sql`
            SELECT user_op_hash AS hash FROM operation_leg
            WHERE user_op_hash = ANY(${hashes}::text[])
            UNION
            SELECT user_op_hash FROM wallet_payout_batch
            WHERE user_op_hash = ANY(${hashes}::text[])`,
        ),
        // There is no index on earlier hashes, because few operations are signed again.
        hashRows.all(
          db,
          sql`
            SELECT DISTINCT earlier AS hash
            FROM operation_leg, unnest(earlier_user_op_hashes) AS earlier
            WHERE earlier_user_op_hashes && ${hashes}::text[]`,
        ),
      ]);
      return new Set(rows.flat().map(({ hash }) => hash));
    },

    legs: (chainId: number, since: Date): Promise<readonly KnownLeg[]> =>
      knownLegs.all(
        db,
        sql`
          SELECT leg.id, leg.operation_id AS "operationId", leg.state,
            operation.status AS "operationStatus"
          FROM operation_leg leg
          JOIN operation
            ON operation.project_id = leg.project_id AND operation.id = leg.operation_id
          WHERE leg.source_chain_id = ${chainId}::int
            AND (leg.updated_at >= ${since}::timestamptz OR leg.state IN ('queued', 'submitted'))`,
      ),

    batches: (chainId: number, since: Date): Promise<readonly KnownBatch[]> =>
      knownBatches.all(
        db,
        sql`
          SELECT ${knownBatches.columns("batch")}
          FROM wallet_payout_batch batch
          JOIN wallet_payout payout USING (project_id, payout_id)
          WHERE payout.chain_id = ${chainId}::int
            AND (
              batch.updated_at >= ${since}::timestamptz
              OR batch.state IN ('queued', 'signed', 'sent', 'mined')
            )`,
      ),

    openTransactions: (chainId: number): Promise<readonly OpenTransaction[]> =>
      openTransactions.all(
        db,
        sql`
          SELECT id, from_address AS "from", nonce::text AS nonce, "to", data,
            value::text AS value, array_append(replaced_hashes, hash) AS hashes
          FROM chain_transaction
          WHERE chain_id = ${chainId}::int AND status IN ('signed', 'broadcast')`,
      ),

    nextNonce,

    raiseNonce: (chainId: number, address: Address, next: bigint): Promise<number> =>
      db.change(sql`
        UPDATE signer_nonce SET next = ${next}::bigint
        WHERE chain_id = ${chainId}::int AND address = ${address} AND next < ${next}::bigint`),

    /** Adds another version of a stored transaction, so that its receipt is found. */
    addVersion: (id: string, hash: string): Promise<number> =>
      db.change(sql`
        UPDATE chain_transaction SET replaced_hashes = array_append(replaced_hashes, ${hash}::text)
        WHERE id = ${id} AND NOT (${hash}::text = ANY(replaced_hashes))`),
  };
};

export type KnownRepository = ReturnType<typeof createKnownRepository>;
