/** Reads the entries of customers' accounts, and statements made of them. */
import { isId } from "@/lib/core/ids";
import { account } from "./account-reads";
import type { LedgerData, LedgerKind } from "./commands";
import type { LedgerRepository } from "./repository";
import { bare } from "./sql";

export interface EntryRecord {
  readonly seq: bigint;
  readonly transactionId: string;
  readonly kind: LedgerKind;
  readonly amountBase: bigint;
  readonly balanceAfterBase: bigint;
  readonly currency: string;
  readonly createdAt: Date;
  readonly data: LedgerData | null;
  /** The other account, where there is exactly one; the system's own accounts are not named. */
  readonly counterpartyId: string | null;
  /** Null where it has none, or no account is named. */
  readonly counterpartyName: string | null;
  readonly reversesId: string | null;
  readonly reversedById: string | null;
}

/** A period of an account. */
export interface Statement {
  readonly openingBase: bigint;
  readonly closingBase: bigint;
  /** The sums that came in and went out in between, both positive. */
  readonly inBase: bigint;
  readonly outBase: bigint;
  /** Its entries: from this seq … */
  readonly firstSeq: bigint;
  /** … up to and without this one. */
  readonly endSeq: bigint;
}

const ENTRY_COLUMNS = `
  e.seq, e.transaction_id, e.amount, e.balance_after, e.currency, e.created_at, t.kind, t.data, t.reverses_id,
  (SELECT r.id FROM ledger_transaction r WHERE r.project_id = e.project_id AND r.reverses_id = t.id) AS reversed_by,
  (SELECT CASE WHEN count(*) = 1 THEN (array_agg(a.id) FILTER (WHERE a.kind = 'customer'))[1] END
   FROM (SELECT o.project_id, o.account_id FROM ledger_entry o
         WHERE o.project_id = e.project_id AND o.transaction_id = e.transaction_id AND o.account_id <> e.account_id LIMIT 2) o
   JOIN ledger_account a ON a.project_id = o.project_id AND a.id = o.account_id) AS counterparty_id`;

/** Entries with the name of the other account. @param inner selects ENTRY_COLUMNS of the project $1 */
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

// Times never fall along an account's seq, so halving finds the first entry at or after a time with two dozen look-ups in the
// primary key, and no index on times has to be kept.
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

const BALANCE_AFTER = "SELECT balance_after FROM ledger_entry WHERE project_id = $1 AND account_id = $2 AND seq = $3";

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

/** An account of a project. */
interface Owned {
  readonly projectId: string;
  readonly accountId: string;
}

const prefixed = (prefix: string, id: string | null): string | null => (id === null ? null : `${prefix}_${id}`);

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
  const [found] = await query<{ seq: string }>(FIRST_SEQ_AT, [projectId, bare(accountId), time]);
  return BigInt(found?.seq ?? 1);
};

const balanceBefore = async (
  { query }: LedgerRepository,
  { projectId, accountId }: Owned,
  seq: bigint,
): Promise<bigint> => {
  const [found] = await query<{ balance_after: string }>(BALANCE_AFTER, [projectId, bare(accountId), seq - 1n]);
  return BigInt(found?.balance_after ?? 0);
};

/** Newest first. `before` is the seq of the last one of the page before. */
export const entries = async (
  repository: LedgerRepository,
  projectId: string,
  accountId: string,
  page: { limit: number; before?: bigint },
): Promise<EntryRecord[]> => {
  await account(repository, projectId, accountId);
  return (
    await repository.query<EntryRow>(READ_ENTRIES, [projectId, bare(accountId), page.before ?? null, page.limit])
  ).map(toEntry);
};

/** The entry of a transaction on the account; null: it has none. */
export const entryOf = async (
  repository: LedgerRepository,
  projectId: string,
  accountId: string,
  transactionId: string,
): Promise<EntryRecord | null> => {
  await account(repository, projectId, accountId);
  if (!isId("ledgerTransaction", transactionId)) return null;
  const [row] = await repository.query<EntryRow>(READ_ENTRY, [projectId, bare(accountId), bare(transactionId)]);
  return row === undefined ? null : toEntry(row);
};

/** From `from` up to, but not with, `to`. @throws DomainError `not_found` */
export const statement = async (
  repository: LedgerRepository,
  projectId: string,
  accountId: string,
  period: { from: Date; to: Date },
): Promise<Statement> => {
  await account(repository, projectId, accountId);
  const firstSeq = await firstSeqAt(repository, { projectId, accountId }, period.from);
  const endSeq = await firstSeqAt(repository, { projectId, accountId }, period.to);
  const [turnover] = await repository.query<{ received: string; sent: string }>(TURNOVER, [
    projectId,
    bare(accountId),
    firstSeq,
    endSeq,
  ]);
  return {
    openingBase: await balanceBefore(repository, { projectId, accountId }, firstSeq),
    closingBase: await balanceBefore(repository, { projectId, accountId }, endSeq),
    inBase: BigInt(turnover?.received ?? 0),
    outBase: BigInt(turnover?.sent ?? 0),
    firstSeq,
    endSeq,
  };
};

/** Those from `firstSeq` up to, but not with, `endSeq`, oldest first. */
export const entriesBetween = async (
  { query }: LedgerRepository,
  { projectId, accountId }: Owned,
  range: { firstSeq: bigint; endSeq: bigint; limit: number },
): Promise<EntryRecord[]> => {
  const values = [projectId, bare(accountId), range.firstSeq, range.endSeq, range.limit];
  return (await query<EntryRow>(READ_RANGE, values)).map(toEntry);
};
