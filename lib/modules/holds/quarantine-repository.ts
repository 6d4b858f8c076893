/**
 * The quarantine: one hold for each balance, of everything that waits there for a person. Whatever sums holds under the lock of a balance
 * therefore leaves it out, without another statement, and thousands of deposits cost no more than one.
 */
import type { Sql } from "@/lib/db/sql";
import { fundsKey, type FundsKey } from "./repository";
import { QUARANTINE } from "./sum-repository";
import { lockFunds } from "./lock-repository";

/** An amount, in base units, that goes into a balance's quarantine, or out of it where it is negative. */
export interface QuarantineChange extends FundsKey {
  readonly projectId: string;
  readonly amountBase: bigint;
}

const idOf = (change: QuarantineChange): string => `${QUARANTINE}:${change.projectId}:${fundsKey(change)}`;

const ADD = `
  INSERT INTO balance_hold (id, operation_id, project_id, wallet_address, chain_id, token, amount_base, created_at)
  VALUES ($1, '${QUARANTINE}', $2, $3, $4::int, $5, $6::numeric, $7::timestamptz)
  ON CONFLICT (id) DO UPDATE SET amount_base = balance_hold.amount_base + EXCLUDED.amount_base`;
const EMPTY = "DELETE FROM balance_hold WHERE id = $1 AND amount_base = $2::numeric";
const TAKE =
  "UPDATE balance_hold SET amount_base = amount_base - $2::numeric WHERE id = $1 AND amount_base > $2::numeric";

const take = async (sql: Sql, id: string, amountBase: bigint): Promise<void> => {
  const values = [id, amountBase.toString()];
  if ((await sql.change(EMPTY, values)) === 1 || (await sql.change(TAKE, values)) === 1) return;
  throw new Error(`The quarantine ${id} holds less than ${String(amountBase)}.`);
};

/** Changes quarantines under the locks of their balances, in the transaction of the deposits that it is about. */
export const changeQuarantine = async (sql: Sql, changes: readonly QuarantineChange[], now: Date): Promise<void> => {
  const sums = new Map<string, QuarantineChange>();
  for (const change of changes) {
    const before = sums.get(idOf(change))?.amountBase ?? 0n;
    sums.set(idOf(change), { ...change, amountBase: before + change.amountBase });
  }
  await lockFunds(sql, [...sums.values()]);
  for (const [id, { projectId, walletAddress, chainId, token, amountBase }] of sums) {
    if (amountBase < 0n) await take(sql, id, -amountBase);
    if (amountBase > 0n)
      await sql.change(ADD, [id, projectId, walletAddress, chainId, token, amountBase.toString(), now]);
  }
};
