/** Reads the moves on a chain that the database knows, for the comparison with the chain. */
import type { Address } from "viem";
import type { Database } from "@/lib/db/client";
import { sqlOn } from "@/lib/db/sql";

/** A smart account whose key the service holds, or that a linked wallet owns. */
export interface KnownAccount {
  readonly projectId: string;
  readonly address: Address;
}

/** A leg that has not ended, or has changed lately. */
export interface KnownLeg {
  readonly id: string;
  readonly operationId: string;
  readonly state: string;
  readonly operationStatus: string;
}

/** A batch of a payout to wallets that has not ended, or has changed lately. */
export interface KnownBatch {
  readonly projectId: string;
  readonly payoutId: string;
  readonly number: number;
  readonly attempt: number;
  readonly state: string;
}

/** A transaction of the service's own that is not final. */
export interface OpenTransaction {
  readonly id: string;
  readonly from: Address;
  readonly nonce: bigint;
  readonly to: Address;
  readonly data: string;
  readonly value: string;
  readonly hashes: readonly string[];
}

const ACCOUNTS = `SELECT project_id AS "projectId", address FROM wallet WHERE owner_address IS NOT NULL`;

const HASHES = `
  SELECT user_op_hash AS hash FROM operation_leg WHERE user_op_hash = ANY($1::text[])
  UNION
  SELECT user_op_hash FROM wallet_payout_batch WHERE user_op_hash = ANY($1::text[])`;
// Operations that were signed again are few, and have no index.
const EARLIER = `
  SELECT DISTINCT earlier AS hash FROM operation_leg, unnest(earlier_user_op_hashes) AS earlier
  WHERE earlier_user_op_hashes && $1::text[]`;

const LEGS = `
  SELECT leg.id, leg.operation_id AS "operationId", leg.state, operation.status AS "operationStatus"
  FROM operation_leg leg JOIN operation ON operation.project_id = leg.project_id AND operation.id = leg.operation_id
  WHERE leg.source_chain_id = $1 AND (leg.updated_at >= $2 OR leg.state IN ('queued', 'submitted'))`;

const BATCHES = `
  SELECT batch.project_id AS "projectId", batch.payout_id AS "payoutId", batch.number, batch.attempt, batch.state
  FROM wallet_payout_batch batch JOIN wallet_payout payout USING (project_id, payout_id)
  WHERE payout.chain_id = $1 AND (batch.updated_at >= $2 OR batch.state IN ('queued', 'signed', 'sent', 'mined'))`;

const OPEN_TRANSACTIONS = `
  SELECT id, from_address AS "from", nonce, "to", data, value::text, array_append(replaced_hashes, hash) AS hashes
  FROM chain_transaction WHERE chain_id = $1 AND status IN ('signed', 'broadcast')`;

export const createKnownRepository = ({ pool }: Pick<Database, "pool">) => {
  const sql = sqlOn(pool);
  return {
    accounts: (): Promise<readonly KnownAccount[]> => sql.query<KnownAccount>(ACCOUNTS, []),

    /** Which of these user operations legs or batches name. */
    knownHashes: async (hashes: readonly string[]): Promise<ReadonlySet<string>> => {
      const rows = await Promise.all([
        sql.query<{ hash: string }>(HASHES, [hashes]),
        sql.query<{ hash: string }>(EARLIER, [hashes]),
      ]);
      return new Set(rows.flat().map(({ hash }) => hash));
    },

    legs: (chainId: number, since: Date): Promise<readonly KnownLeg[]> => sql.query<KnownLeg>(LEGS, [chainId, since]),

    batches: (chainId: number, since: Date): Promise<readonly KnownBatch[]> =>
      sql.query<KnownBatch>(BATCHES, [chainId, since]),

    openTransactions: async (chainId: number): Promise<readonly OpenTransaction[]> => {
      const rows = await sql.query<Omit<OpenTransaction, "nonce"> & { nonce: string | bigint }>(OPEN_TRANSACTIONS, [
        chainId,
      ]);
      return rows.map((row) => ({ ...row, nonce: BigInt(row.nonce) }));
    },

    /** The next nonce that an account would be given; null where it has sent nothing. */
    nextNonce: async (chainId: number, address: Address): Promise<bigint | null> => {
      const [row] = await sql.query<{ next: string | bigint }>(
        "SELECT next FROM signer_nonce WHERE chain_id = $1 AND address = $2",
        [chainId, address],
      );
      return row === undefined ? null : BigInt(row.next);
    },

    raiseNonce: (chainId: number, address: Address, next: bigint): Promise<number> =>
      sql.change("UPDATE signer_nonce SET next = $3 WHERE chain_id = $1 AND address = $2 AND next < $3", [
        ...[chainId, address, next.toString()],
      ]),

    /** Notes a version of a stored transaction, so that its receipt is found. */
    addVersion: (id: string, hash: string): Promise<number> =>
      sql.change(
        "UPDATE chain_transaction SET replaced_hashes = array_append(replaced_hashes, $2) WHERE id = $1 AND NOT ($2 = ANY(replaced_hashes))",
        [id, hash],
      ),
  };
};

export type KnownRepository = ReturnType<typeof createKnownRepository>;
