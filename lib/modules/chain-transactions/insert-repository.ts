/** Stores a transaction of the service's own in one statement, where its nonce is most likely known beforehand. */
import type { Database } from "@/lib/db/client";
import { keptSqlOn } from "@/lib/db/sql";
import { violatedUnique } from "@/lib/db/unique-violation";
import { BundledElsewhereError } from "@/lib/ports/transactions";
import type { NewTransactionRow, SignedVersion, StoredTransaction, TransactionRow } from "./stored-transaction";

// Stores nothing unless the nonce is still the next one. The names of operations are sorted, so that two bundles never deadlock.
const INSERT = `
  WITH taken AS (
    UPDATE signer_nonce SET next = next + 1
    WHERE address = $3 AND chain_id = $2::int AND next = $4::bigint RETURNING next
  ), stored AS (
    INSERT INTO chain_transaction (id, chain_id, from_address, nonce, purpose, "to", data, value, gas, max_fee_per_gas,
      max_priority_fee_per_gas, raw, hash, replaced_hashes, status, created_at, updated_at)
    SELECT $1, $2::int, $3, $4::bigint, $5, $6, $7, $8::numeric, $9::bigint, $10::numeric, $11::numeric, $12, $13, '{}', 'signed',
      $14::timestamptz, $14::timestamptz
    FROM taken RETURNING id
  ), carried AS (
    INSERT INTO bundle_operation (chain_id, user_op_hash, transaction_id)
    SELECT $2::int, hash, stored.id FROM stored, unnest($15::text[]) AS hash ORDER BY hash
    RETURNING user_op_hash
  )
  SELECT count(*)::int AS count FROM stored`;

const PURPOSE_IS_KNOWN = "chain_transaction_chain_id_purpose_key";
const IS_BUNDLED = "bundle_operation_pkey";

const toStored = (row: TransactionRow, version: SignedVersion): StoredTransaction => ({
  ...row,
  ...version,
  replacedHashes: [],
  status: "signed",
  minedHash: null,
  blockNumber: null,
  broadcastAt: null,
  updatedAt: row.createdAt,
});

const valuesOf = (stored: StoredTransaction, userOpHashes: readonly string[]): unknown[] => [
  ...[stored.id, stored.chainId, stored.from, stored.nonce.toString(), stored.purpose, stored.to, stored.data],
  ...[stored.value, stored.gas, stored.maxFeePerGas, stored.maxPriorityFeePerGas].map(String),
  ...[stored.raw, stored.hash, stored.createdAt.toISOString(), userOpHashes],
];

/**
 * Remembers the next nonce of each account that this instance has used. The statement compares it, so an instance that is wrong stores
 * nothing, and takes the nonce under its lock instead.
 */
export const createQuickInsert = ({ pool }: Pick<Database, "pool">) => {
  const next = new Map<string, bigint>();
  const nameOf = ({ chainId, from }: Pick<TransactionRow, "chainId" | "from">): string => `${String(chainId)}:${from}`;
  const noteNonce = (stored: Pick<StoredTransaction, "chainId" | "from" | "nonce">): void => {
    next.set(nameOf(stored), stored.nonce + 1n);
  };

  return {
    noteNonce,
    /**
     * @returns null when the purpose is stored already; `unknown` when the nonce is not known, or more has to be decided under its lock,
     * and then nothing was stored
     * @throws BundledElsewhereError
     */
    insert: async ({ row, sign, carries, claim }: NewTransactionRow): Promise<StoredTransaction | null | "unknown"> => {
      const nonce = next.get(nameOf(row));
      if (nonce === undefined || claim !== undefined || carries.some(({ after }) => after !== null)) return "unknown";
      next.delete(nameOf(row));
      const stored = toStored(row, await sign(nonce));
      try {
        const values = valuesOf(
          stored,
          carries.map(({ userOpHash }) => userOpHash),
        );
        const [inserted] = await keptSqlOn(pool).query<{ count: number }>(INSERT, values);
        if (inserted?.count !== 1) return "unknown";
      } catch (error) {
        if (violatedUnique(error) === PURPOSE_IS_KNOWN) return null;
        if (violatedUnique(error) === IS_BUNDLED)
          throw new BundledElsewhereError("Another transaction carries some of them by now.");
        throw error;
      }
      noteNonce(stored);
      return stored;
    },
  };
};
