import type { SqlReader } from "@/lib/db/sql";
import { fundsKey, type FundsKey } from "./repository";

// The same row as for reserving: its lock serialises all transactions that need the balance.
const LOCK = `
  INSERT INTO balance_guard (wallet_address, chain_id, token) VALUES ($1, $2::int, $3)
  ON CONFLICT (wallet_address, chain_id, token) DO UPDATE SET version = balance_guard.version`;

/** Locks the balances until the transaction ends. All callers lock in the same order, which prevents deadlocks. */
export const lockFunds = async (sql: SqlReader, keys: readonly FundsKey[]): Promise<void> => {
  const known = new Map(keys.map((key) => [fundsKey(key), key]));
  for (const [, key] of [...known].sort(([a], [b]) => (a < b ? -1 : 1)))
    await sql.query(LOCK, [key.walletAddress, key.chainId, key.token]);
};
