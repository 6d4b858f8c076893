import { scopeOf, type LedgerCommand } from "./commands";
import type { Effects } from "./decide";
import type { Sql } from "@/lib/platform/db/sql";
import { bare, idArray, plainArray, timeArray } from "./sql";
import type { Account } from "./snapshot";
import { KeyTakenError } from "./errors";

export interface Written {
  readonly command: LedgerCommand;
  readonly keyHash: string;
  readonly effects: Effects;
}

const INSERT_TRANSACTIONS = `
  INSERT INTO ledger_transaction
    (id, project_id, kind, scope, idempotency_key, key_hash, request_digest, reverses_id, rejection, data, created_by, created_at)
  SELECT id, project_id, kind, scope, idempotency_key, key_hash, request_digest, reverses_id, rejection::jsonb, data::jsonb,
    created_by, created_at
  FROM unnest($1::uuid[], $2::text[], $3::text[], $4::text[], $5::text[], $6::uuid[], $7::bytea[], $8::uuid[], $9::text[],
    $10::text[], $11::text[], $12::timestamptz[])
    AS t (id, project_id, kind, scope, idempotency_key, key_hash, request_digest, reverses_id, rejection, data, created_by,
      created_at)
  ON CONFLICT DO NOTHING`;

const INSERT_ENTRIES = `
  INSERT INTO ledger_entry (project_id, account_id, seq, transaction_id, currency, amount, balance_after, created_at)
  SELECT $1, e.* FROM unnest($2::uuid[], $3::int8[], $4::uuid[], $5::text[], $6::numeric[], $7::numeric[], $8::timestamptz[]) AS e`;

const UPDATE_ACCOUNTS = `
  UPDATE ledger_account a
  SET balance = n.balance, version = n.version, last_seq = n.last_seq, updated_at = n.updated_at
  FROM unnest($2::uuid[], $3::numeric[], $4::int8[], $5::int8[], $6::timestamptz[])
    AS n (id, balance, version, last_seq, updated_at)
  WHERE a.project_id = $1 AND a.id = n.id`;

const hashes = (digests: readonly string[]): string =>
  `{${digests.map((hex) => `"\\\\x${hex}"`).join(",")}}`;

const orNull = (id: string | null): string => (id === null ? "NULL" : bare(id));

const insertTransactions = async (sql: Sql, written: readonly Written[]): Promise<void> => {
  // Sorted, so that two instances that store the same keys cannot deadlock.
  const rows = [...written].sort((a, b) => (a.keyHash < b.keyHash ? -1 : 1));
  const count = await sql.change(INSERT_TRANSACTIONS, [
    idArray(rows.map(({ effects }) => effects.answer.transactionId)),
    rows.map(({ command }) => command.projectId),
    plainArray(rows.map(({ command }) => command.kind)),
    rows.map(({ command }) => scopeOf(command)),
    rows.map(({ command }) => command.key),
    plainArray(rows.map(({ keyHash }) => keyHash)),
    hashes(rows.map(({ effects }) => effects.answer.digest)),
    plainArray(rows.map(({ effects }) => orNull(effects.reversesId))),
    rows.map(({ effects: { answer } }) =>
      answer.rejection === null ? null : JSON.stringify(answer.rejection),
    ),
    rows.map(({ command: { data } }) => (data === undefined ? null : JSON.stringify(data))),
    rows.map(({ command }) => command.by),
    timeArray(rows.map(({ effects }) => effects.answer.at.getTime())),
  ]);
  if (count !== rows.length) throw new KeyTakenError();
};

const insertEntries = async (
  sql: Sql,
  projectId: string,
  written: readonly Written[],
): Promise<void> => {
  const entries = written.flatMap(({ effects }) => effects.entries);
  if (entries.length === 0) return;
  await sql.change(INSERT_ENTRIES, [
    projectId,
    idArray(entries.map((entry) => entry.accountId)),
    plainArray(entries.map((entry) => entry.seq)),
    idArray(entries.map((entry) => entry.transactionId)),
    entries.map((entry) => entry.currency),
    plainArray(entries.map((entry) => entry.amountBase)),
    plainArray(entries.map((entry) => entry.balanceAfterBase)),
    timeArray(entries.map((entry) => entry.at)),
  ]);
};

const updateAccounts = async (
  sql: Sql,
  projectId: string,
  written: readonly Written[],
): Promise<void> => {
  // Only the last state of each account is written. Earlier states are in its entries.
  const accounts = new Map<string, Account>();
  for (const { effects } of written)
    for (const account of effects.accounts) accounts.set(account.id, account);
  const rows = [...accounts.values()];
  if (rows.length === 0) return;
  await sql.change(UPDATE_ACCOUNTS, [
    projectId,
    idArray(rows.map((account) => account.id)),
    plainArray(rows.map((account) => account.balance)),
    plainArray(rows.map((account) => account.version)),
    plainArray(rows.map((account) => account.lastSeq)),
    timeArray(rows.map((account) => account.updatedAt)),
  ]);
};

/**
 * Writes the effects of a project's batch with three statements for any number of commands.
 * @throws KeyTakenError
 */
export const writeEffects = async (
  sql: Sql,
  projectId: string,
  written: readonly Written[],
): Promise<void> => {
  if (written.length === 0) return;
  await insertTransactions(sql, written);
  await insertEntries(sql, projectId, written);
  await updateAccounts(sql, projectId, written);
};
