import { notFound } from "@/lib/core/errors";
import { isId } from "@/lib/core/ids";
import type { LedgerRepository } from "./repository";
import type { AccountStatus } from "./snapshot";
import { bare } from "./sql";
import { systemAccountId, type LedgerData, type LedgerKind } from "./commands";

/** A customer's account. Amounts in base units. */
export interface AccountRecord {
  readonly id: string;
  readonly currency: string;
  readonly name: string | null;
  readonly status: AccountStatus;
  /** Why the account is frozen or closed. Null while it is active, and if no reason was given. */
  readonly statusReason: string | null;
  /** The sum of the account's entries. Payouts that are not posted yet may still debit it. */
  readonly postedBase: bigint;
  /** Grows with every change. */
  readonly version: bigint;
  readonly lastSeq: bigint;
  readonly createdAt: Date;
}

export const ACCOUNT_COLUMNS =
  "id, currency, name, status, status_reason, balance, version, last_seq, created_at";

const READ_ACCOUNT = `
  SELECT ${ACCOUNT_COLUMNS} FROM ledger_account WHERE id = $1 AND project_id = $2 AND kind = 'customer'`;

const READ_ACCOUNTS = `
  SELECT ${ACCOUNT_COLUMNS} FROM ledger_account
  WHERE project_id = $1 AND kind = 'customer' AND ($2::uuid IS NULL OR id < $2)
    AND ($4::text IS NULL OR currency = $4) AND ($5::text IS NULL OR name ILIKE $5 OR 'ga_' || id ILIKE $5)
  ORDER BY id DESC LIMIT $3`;

export interface AccountRow {
  readonly id: string;
  readonly currency: string;
  readonly name: string | null;
  readonly status: AccountStatus;
  readonly status_reason: string | null;
  readonly balance: string;
  readonly version: string;
  readonly last_seq: string;
  readonly created_at: Date;
}

export const accountOf = (row: AccountRow) =>
  ({
    id: `ga_${row.id}`,
    currency: row.currency,
    name: row.name,
    status: row.status,
    statusReason: row.status_reason,
    postedBase: BigInt(row.balance),
    version: BigInt(row.version),
    lastSeq: BigInt(row.last_seq),
    createdAt: row.created_at,
  }) satisfies AccountRecord;

/**
 * A customer's account. Another project's account counts as missing.
 * @throws DomainError `not_found`
 */
export const account = async (
  { query }: LedgerRepository,
  projectId: string,
  accountId: string,
): Promise<AccountRecord> => {
  const rows = isId("globalAccount", accountId)
    ? await query<AccountRow>(READ_ACCOUNT, [bare(accountId), projectId])
    : [];
  if (!rows[0]) throw notFound();
  return accountOf(rows[0]);
};

/** Accounts, newest first. `before` is the id of the last account of the previous page. */
export const accounts = async (
  { query }: LedgerRepository,
  projectId: string,
  page: {
    limit: number;
    before?: string | undefined;
    currency?: string | undefined;
    search?: string | undefined;
  },
): Promise<AccountRecord[]> => {
  const before = page.before === undefined ? null : bare(page.before);
  const pattern =
    page.search === undefined ? null : `%${page.search.replaceAll(/[\\%_]/g, "\\$&")}%`;
  const values = [projectId, before, page.limit, page.currency ?? null, pattern];
  return (await query<AccountRow>(READ_ACCOUNTS, values)).map(accountOf);
};

export interface EntryRecord {
  readonly seq: bigint;
  readonly transactionId: string;
  readonly kind: LedgerKind;
  readonly amountBase: bigint;
  readonly balanceAfterBase: bigint;
  readonly currency: string;
  readonly createdAt: Date;
  readonly data: LedgerData | null;
  /** The other account of the transaction, if there is exactly one and it is a customer's. */
  readonly counterpartyId: string | null;
  /** Null when there is no counterparty, or it has no name. */
  readonly counterpartyName: string | null;
  readonly reversesId: string | null;
  readonly reversedById: string | null;
}

export interface Statement {
  readonly openingBase: bigint;
  readonly closingBase: bigint;
  /** The sums of credits and of debits in the period, both positive. */
  readonly inBase: bigint;
  readonly outBase: bigint;
  readonly firstSeq: bigint;
  /** Sequence number after the period's last entry. */
  readonly endSeq: bigint;
}

const ENTRY_COLUMNS = `
  e.seq, e.transaction_id, e.amount, e.balance_after, e.currency, e.created_at, t.kind, t.data, t.reverses_id,
  (SELECT r.id FROM ledger_transaction r WHERE r.project_id = e.project_id AND r.reverses_id = t.id) AS reversed_by,
  (SELECT CASE WHEN count(*) = 1 THEN (array_agg(a.id) FILTER (WHERE a.kind = 'customer'))[1] END
   FROM (SELECT o.project_id, o.account_id FROM ledger_entry o
         WHERE o.project_id = e.project_id AND o.transaction_id = e.transaction_id AND o.account_id <> e.account_id LIMIT 2) o
   JOIN ledger_account a ON a.project_id = o.project_id AND a.id = o.account_id) AS counterparty_id`;

/**
 * Adds the counterparty's name to entries.
 * @param inner a query that selects ENTRY_COLUMNS of the project $1
 */
const named = (inner: string, order: "" | "DESC" = ""): string => `
  SELECT entry.*, other.name AS counterparty_name FROM (${inner}) AS entry
  LEFT JOIN ledger_account AS other ON other.project_id = $1 AND other.id = entry.counterparty_id ORDER BY entry.seq ${order}`;

const READ_ENTRIES = named(
  `SELECT ${ENTRY_COLUMNS} FROM ledger_entry e JOIN ledger_transaction t ON t.project_id = e.project_id AND t.id = e.transaction_id
   WHERE e.project_id = $1 AND e.account_id = $2 AND ($3::int8 IS NULL OR e.seq < $3) ORDER BY e.seq DESC LIMIT $4`,
  "DESC",
);

const READ_ENTRY = named(
  `SELECT ${ENTRY_COLUMNS} FROM ledger_entry e JOIN ledger_transaction t ON t.project_id = e.project_id AND t.id = e.transaction_id
   WHERE e.project_id = $1 AND e.account_id = $2 AND e.transaction_id = $3`,
);

const READ_RANGE = named(
  `SELECT ${ENTRY_COLUMNS} FROM ledger_entry e JOIN ledger_transaction t ON t.project_id = e.project_id AND t.id = e.transaction_id
   WHERE e.project_id = $1 AND e.account_id = $2 AND e.seq >= $3 AND e.seq < $4 ORDER BY e.seq LIMIT $5`,
);

// An account's entries are ordered by time too, so a binary search over seq finds the first entry
// at or after a time. It needs about two dozen look-ups in the primary key, and no index on times.
const FIRST_SEQ_AT = `
  WITH RECURSIVE search (low, high) AS (
    SELECT 1::int8, last_seq + 1 FROM ledger_account WHERE project_id = $1 AND id = $2
    UNION ALL
    SELECT CASE WHEN e.created_at < $3 THEN s.mid + 1 ELSE s.low END, CASE WHEN e.created_at < $3 THEN s.high ELSE s.mid END
    FROM (SELECT low, high, (low + high) / 2 AS mid FROM search WHERE low < high) s
    JOIN ledger_entry e ON e.project_id = $1 AND e.account_id = $2 AND e.seq = s.mid
  )
  SELECT low AS seq FROM search WHERE low = high`;

const TURNOVER = `
  SELECT coalesce(sum(amount) FILTER (WHERE amount > 0), 0)::text AS received, coalesce(-sum(amount) FILTER (WHERE amount < 0), 0)::text AS sent
  FROM ledger_entry WHERE project_id = $1 AND account_id = $2 AND seq >= $3 AND seq < $4`;

const FIRST_FINER = `
  SELECT seq, amount FROM ledger_entry
  WHERE project_id = $1 AND account_id = $2 AND seq >= $3 AND seq < $4 AND mod(amount, $5::numeric) <> 0 ORDER BY seq LIMIT 1`;

const BALANCE_AFTER =
  "SELECT balance_after FROM ledger_entry WHERE project_id = $1 AND account_id = $2 AND seq = $3";

interface EntryRow {
  readonly seq: string;
  readonly transaction_id: string;
  readonly amount: string;
  readonly balance_after: string;
  readonly currency: string;
  readonly created_at: Date;
  readonly kind: LedgerKind;
  readonly data: LedgerData | null;
  readonly reverses_id: string | null;
  readonly reversed_by: string | null;
  readonly counterparty_id: string | null;
  readonly counterparty_name: string | null;
}

interface Owned {
  readonly projectId: string;
  readonly accountId: string;
}

const prefixed = (prefix: string, id: string | null): string | null =>
  id === null ? null : `${prefix}_${id}`;

const toEntry = (row: EntryRow): EntryRecord => ({
  seq: BigInt(row.seq),
  transactionId: `ltx_${row.transaction_id}`,
  kind: row.kind,
  amountBase: BigInt(row.amount),
  balanceAfterBase: BigInt(row.balance_after),
  currency: row.currency,
  createdAt: row.created_at,
  data: row.data,
  counterpartyId: prefixed("ga", row.counterparty_id),
  counterpartyName: row.counterparty_name,
  reversesId: prefixed("ltx", row.reverses_id),
  reversedById: prefixed("ltx", row.reversed_by),
});

const firstSeqAt = async (
  { query }: LedgerRepository,
  { projectId, accountId }: Owned,
  time: Date,
): Promise<bigint> => {
  const [found] = await query<{ seq: string }>(FIRST_SEQ_AT, [
    projectId,
    bare(accountId),
    time,
  ]);
  return BigInt(found?.seq ?? 1);
};

const balanceBefore = async (
  { query }: LedgerRepository,
  { projectId, accountId }: Owned,
  seq: bigint,
): Promise<bigint> => {
  const [found] = await query<{ balance_after: string }>(BALANCE_AFTER, [
    projectId,
    bare(accountId),
    seq - 1n,
  ]);
  return BigInt(found?.balance_after ?? 0);
};

/** Entries, newest first. `before` is the seq of the last entry of the previous page. */
export const entries = async (
  repository: LedgerRepository,
  projectId: string,
  accountId: string,
  page: { limit: number; before?: bigint },
): Promise<EntryRecord[]> => {
  await account(repository, projectId, accountId);
  return (
    await repository.query<EntryRow>(READ_ENTRIES, [
      projectId,
      bare(accountId),
      page.before ?? null,
      page.limit,
    ])
  ).map(toEntry);
};

/** The account's entry of a transaction; null when it has none. */
export const entryOf = async (
  repository: LedgerRepository,
  projectId: string,
  accountId: string,
  transactionId: string,
): Promise<EntryRecord | null> => {
  await account(repository, projectId, accountId);
  if (!isId("ledgerTransaction", transactionId)) return null;
  const [row] = await repository.query<EntryRow>(READ_ENTRY, [
    projectId,
    bare(accountId),
    bare(transactionId),
  ]);
  return row === undefined ? null : toEntry(row);
};

const statementOf = async (
  repository: LedgerRepository,
  owned: Owned,
  period: { from: Date; to: Date },
): Promise<Statement> => {
  const { projectId, accountId } = owned;
  const firstSeq = await firstSeqAt(repository, owned, period.from);
  const endSeq = await firstSeqAt(repository, owned, period.to);
  const [turnover] = await repository.query<{ received: string; sent: string }>(TURNOVER, [
    projectId,
    bare(accountId),
    firstSeq,
    endSeq,
  ]);
  return {
    openingBase: await balanceBefore(repository, owned, firstSeq),
    closingBase: await balanceBefore(repository, owned, endSeq),
    inBase: BigInt(turnover?.received ?? 0),
    outBase: BigInt(turnover?.sent ?? 0),
    firstSeq,
    endSeq,
  };
};

/** The statement from `from` (inclusive) to `to` (exclusive). @throws DomainError `not_found` */
export const statement = async (
  repository: LedgerRepository,
  projectId: string,
  accountId: string,
  period: { from: Date; to: Date },
): Promise<Statement> => {
  await account(repository, projectId, accountId);
  return statementOf(repository, { projectId, accountId }, period);
};

/**
 * The statement of a currency's reserve account. It is empty when the project has no account in the
 * currency yet.
 */
export const reserveStatement = (
  repository: LedgerRepository,
  projectId: string,
  currency: string,
  period: { from: Date; to: Date },
): Promise<Statement> => {
  const accountId = systemAccountId(projectId, currency, "treasury_reserve");
  return statementOf(repository, { projectId, accountId }, period);
};

/**
 * The first entry from `firstSeq` (inclusive) to `endSeq` (exclusive) whose amount is not a
 * multiple of `stepBase`; null when there is none.
 */
export const firstFinerEntry = async (
  { query }: LedgerRepository,
  { projectId, accountId }: Owned,
  range: { firstSeq: bigint; endSeq: bigint; stepBase: bigint },
): Promise<{ seq: bigint; amountBase: bigint } | null> => {
  const values = [projectId, bare(accountId), range.firstSeq, range.endSeq, range.stepBase];
  const [row] = await query<{ seq: string; amount: string }>(FIRST_FINER, values);
  return row === undefined ? null : { seq: BigInt(row.seq), amountBase: BigInt(row.amount) };
};

/** Entries from `firstSeq` (inclusive) to `endSeq` (exclusive), oldest first. */
export const entriesBetween = async (
  { query }: LedgerRepository,
  { projectId, accountId }: Owned,
  range: { firstSeq: bigint; endSeq: bigint; limit: number },
): Promise<EntryRecord[]> => {
  const values = [projectId, bare(accountId), range.firstSeq, range.endSeq, range.limit];
  return (await query<EntryRow>(READ_RANGE, values)).map(toEntry);
};
