import { isId } from "@/lib/core/ids";
import { systemAccountId, type LedgerCommand } from "./commands";
import type { Sql } from "@/lib/platform/db/sql";
import { idArray, plainArray } from "./sql";
import {
  emptySnapshot,
  type AccountKind,
  type AccountStatus,
  type SourceTransaction,
  type Rejection,
  type Snapshot,
} from "./snapshot";

// Every instance locks accounts in the order of their ids, which prevents deadlocks. The weaker NO
// KEY lock suffices, because no foreign key refers to accounts.
const LOCK_ACCOUNTS = `
  SELECT id, project_id, currency, kind, status, minimum::text, balance::text, version, last_seq,
    (extract(epoch FROM updated_at) * 1000)::int8 AS updated_at
  FROM ledger_account WHERE project_id = $1 AND id = ANY($2::uuid[]) ORDER BY id FOR NO KEY UPDATE`;

const READ_ANSWERS = `
  SELECT id, key_hash, encode(request_digest, 'hex') AS digest, rejection,
    (extract(epoch FROM created_at) * 1000)::int8 AS created_at
  FROM ledger_transaction WHERE project_id = $1 AND key_hash = ANY($2::uuid[])`;

const READ_SOURCE_TRANSACTIONS = `
  SELECT t.id, t.project_id, t.kind, e.account_id, e.amount
  FROM ledger_transaction t LEFT JOIN ledger_entry e ON e.project_id = t.project_id AND e.transaction_id = t.id
  WHERE t.project_id = $1 AND t.id = ANY($2::uuid[]) ORDER BY t.id, e.account_id, e.seq`;

const READ_REVERSED =
  "SELECT reverses_id FROM ledger_transaction WHERE project_id = $1 AND reverses_id = ANY($2::uuid[])";

interface AccountRow {
  readonly id: string;
  readonly project_id: string;
  readonly currency: string;
  readonly kind: AccountKind;
  readonly status: AccountStatus;
  readonly minimum: string | null;
  readonly balance: string;
  readonly version: string;
  readonly last_seq: string;
  readonly updated_at: string;
}

interface AnswerRow {
  readonly id: string;
  readonly key_hash: string;
  readonly digest: string;
  readonly rejection: Rejection | null;
  readonly created_at: string;
}

interface SourceTransactionRow {
  readonly id: string;
  readonly project_id: string;
  readonly kind: string;
  readonly account_id: string | null;
  readonly amount: string | null;
}

/** Reads transactions with their entries. Both never change. */
const readSourceTransactions = async (
  sql: Sql,
  projectId: string,
  ids: readonly string[],
): Promise<Map<string, SourceTransaction>> => {
  const sourceTransactions = new Map<
    string,
    SourceTransaction & { entries: { accountId: string; amountBase: bigint }[] }
  >();
  if (ids.length === 0) return sourceTransactions;
  for (const row of await sql.query<SourceTransactionRow>(READ_SOURCE_TRANSACTIONS, [
    projectId,
    idArray(ids),
  ])) {
    const id = `ltx_${row.id}`;
    const source = sourceTransactions.get(id) ?? {
      id,
      projectId: row.project_id,
      kind: row.kind,
      entries: [],
      reversed: false,
    };
    sourceTransactions.set(id, source);
    if (row.account_id !== null && row.amount !== null)
      source.entries.push({
        accountId: `ga_${row.account_id}`,
        amountBase: BigInt(row.amount),
      });
  }
  return sourceTransactions;
};

const systemAccounts = ({
  projectId,
  currency,
}: {
  projectId: string;
  currency: string;
}): string[] => [
  systemAccountId(projectId, currency, "treasury_reserve"),
  systemAccountId(projectId, currency, "withdrawal_transit"),
];

/**
 * The accounts that a command names, and the system accounts that its decision reads or changes.
 */
const namedAccounts = (command: LedgerCommand): string[] => {
  switch (command.kind) {
    case "transfer":
      return [command.from, command.to];
    case "batch":
      return command.rows.flatMap(({ from, to }) => [from, to]);
    case "fund":
      return [...systemAccounts(command), command.to];
    case "reverse":
      return [];
    case "withdraw":
      // A withdrawal compares the reserve account with the balances on chain. The reserve account
      // is locked here, because all transactions lock in the same order.
      return [...systemAccounts(command), command.from];
    case "settle":
      return [...systemAccounts(command), command.to];
  }
};

const lockAccounts = async (
  sql: Sql,
  projectId: string,
  snapshot: Snapshot,
  ids: readonly string[],
): Promise<void> => {
  if (ids.length === 0) return;
  for (const row of await sql.query<AccountRow>(LOCK_ACCOUNTS, [projectId, idArray(ids)])) {
    const id = `ga_${row.id}`;
    snapshot.accounts.set(id, {
      id,
      projectId: row.project_id,
      currency: row.currency,
      kind: row.kind,
      status: row.status,
      minimum: row.minimum === null ? null : BigInt(row.minimum),
      balance: BigInt(row.balance),
      version: BigInt(row.version),
      lastSeq: BigInt(row.last_seq),
      updatedAt: Number(row.updated_at),
    });
  }
};

const readAnswers = async (
  sql: Sql,
  projectId: string,
  snapshot: Snapshot,
  keyHashes: readonly string[],
): Promise<void> => {
  for (const row of await sql.query<AnswerRow>(READ_ANSWERS, [
    projectId,
    plainArray(keyHashes),
  ]))
    snapshot.answers.set(row.key_hash, {
      transactionId: `ltx_${row.id}`,
      digest: row.digest,
      at: new Date(Number(row.created_at)),
      rejection: row.rejection,
    });
};

/**
 * Reads again under the locks which transactions are reversed, because reversals are stored only
 * under the locks of their accounts.
 */
const readUnderLock = async (
  sql: Sql,
  projectId: string,
  snapshot: Snapshot,
  sourceTransactions: ReadonlyMap<string, SourceTransaction>,
): Promise<void> => {
  for (const [id, source] of sourceTransactions) snapshot.sourceTransactions.set(id, source);
  if (sourceTransactions.size === 0) return;
  const rows = await sql.query<{ reverses_id: string }>(READ_REVERSED, [
    projectId,
    idArray([...sourceTransactions.keys()]),
  ]);
  for (const { reverses_id } of rows) {
    const source = snapshot.sourceTransactions.get(`ltx_${reverses_id}`);
    if (source) source.reversed = true;
  }
};

/**
 * Locks all accounts of the commands of one project, and reads the snapshot for their decisions.
 * While the locks are held, no other transaction changes the accounts. Stored answers are read
 * after locking, so that they include commits of other instances.
 */
export const readSnapshot = async (
  sql: Sql,
  projectId: string,
  commands: readonly LedgerCommand[],
  keyHashes: readonly string[],
): Promise<Snapshot> => {
  const snapshot = emptySnapshot();
  const reversedIds = commands.flatMap((command) =>
    command.kind === "reverse" && isId("ledgerTransaction", command.transactionId)
      ? [command.transactionId]
      : [],
  );
  // Entries never change, so they may be read before the locks.
  const sourceTransactions = await readSourceTransactions(sql, projectId, reversedIds);
  const accountIds = new Set<string>();
  for (const command of commands) for (const id of namedAccounts(command)) accountIds.add(id);
  for (const source of sourceTransactions.values())
    for (const entry of source.entries) accountIds.add(entry.accountId);
  await lockAccounts(
    sql,
    projectId,
    snapshot,
    [...accountIds].filter((id) => isId("globalAccount", id)),
  );
  await readAnswers(sql, projectId, snapshot, keyHashes);
  await readUnderLock(sql, projectId, snapshot, sourceTransactions);
  return snapshot;
};
