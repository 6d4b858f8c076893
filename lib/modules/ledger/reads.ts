import { notFound } from "@/lib/core/errors";
import { isId } from "@/lib/core/ids";
import type { LedgerData, LedgerKind } from "./commands";
import type { LedgerRepository } from "./repository";
import { bare, idArray } from "./sql";
import type { AccountStatus } from "./snapshot";

/** A customer's account. Amounts in base units. */
export interface AccountRecord {
  readonly id: string;
  readonly currency: string;
  readonly name: string | null;
  readonly status: AccountStatus;
  /** What can be spent: posted less pending. */
  readonly availableBase: bigint;
  /** What open holds set aside. */
  readonly pendingBase: bigint;
  readonly postedBase: bigint;
  /** Grows with every change. */
  readonly version: bigint;
  readonly lastSeq: bigint;
  readonly createdAt: Date;
}

/** Why an account cannot be paid: it is none of the project's, in another currency, or frozen. */
export type UnfitRecipient = "missing" | "currency" | "frozen";

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
  readonly reversesId: string | null;
  readonly reversedById: string | null;
}

/** A period of an account. */
export interface Statement {
  readonly openingBase: bigint;
  readonly closingBase: bigint;
  /** What came in and went out in between, both positive. */
  readonly inBase: bigint;
  readonly outBase: bigint;
  /** Its entries: from this seq … */
  readonly firstSeq: bigint;
  /** … up to and without this one. */
  readonly endSeq: bigint;
}

const ACCOUNT_COLUMNS = "id, currency, name, status, balance, held, version, last_seq, created_at";

const READ_ACCOUNT = `
  SELECT ${ACCOUNT_COLUMNS} FROM ledger_account WHERE id = $1 AND project_id = $2 AND kind = 'customer'`;

const READ_ACCOUNTS = `
  SELECT ${ACCOUNT_COLUMNS} FROM ledger_account
  WHERE project_id = $1 AND kind = 'customer' AND ($2::uuid IS NULL OR id < $2)
    AND ($4::text IS NULL OR currency = $4) AND ($5::text IS NULL OR name ILIKE $5 OR 'ga_' || id ILIKE $5)
  ORDER BY id DESC LIMIT $3`;

// Most rows are fine, so only the others travel.
const READ_UNFIT = `
  SELECT wanted.id,
    CASE WHEN a.id IS NULL THEN 'missing' WHEN a.currency <> source.currency THEN 'currency' ELSE 'frozen' END AS fault
  FROM ledger_account source CROSS JOIN unnest($3::uuid[]) AS wanted (id)
  LEFT JOIN ledger_account a ON a.id = wanted.id AND a.project_id = $1 AND a.kind = 'customer'
  WHERE source.id = $2 AND source.project_id = $1 AND (a.id IS NULL OR a.currency <> source.currency OR a.status <> 'active')`;

const ENTRY_COLUMNS = `
  e.seq, e.transaction_id, e.amount, e.balance_after, e.currency, e.created_at, t.kind, t.data, t.reverses_id,
  (SELECT r.id FROM ledger_transaction r WHERE r.reverses_id = t.id) AS reversed_by,
  (SELECT CASE WHEN count(*) = 1 THEN (array_agg(a.id) FILTER (WHERE a.kind = 'customer'))[1] END
   FROM (SELECT o.account_id FROM ledger_entry o
         WHERE o.transaction_id = e.transaction_id AND o.account_id <> e.account_id LIMIT 2) o
   JOIN ledger_account a ON a.id = o.account_id) AS counterparty_id`;

const READ_ENTRIES = `
  SELECT ${ENTRY_COLUMNS} FROM ledger_entry e JOIN ledger_transaction t ON t.id = e.transaction_id
  WHERE e.account_id = $1 AND ($2::int8 IS NULL OR e.seq < $2) ORDER BY e.seq DESC LIMIT $3`;

const READ_ENTRY = `
  SELECT ${ENTRY_COLUMNS} FROM ledger_entry e JOIN ledger_transaction t ON t.id = e.transaction_id
  WHERE e.account_id = $1 AND e.transaction_id = $2`;

const READ_RANGE = `
  SELECT ${ENTRY_COLUMNS} FROM ledger_entry e JOIN ledger_transaction t ON t.id = e.transaction_id
  WHERE e.account_id = $1 AND e.seq >= $2 AND e.seq < $3 ORDER BY e.seq LIMIT $4`;

// Times never fall along an account's seq, so halving finds the first entry at or after a time with two dozen look-ups in the
// primary key, and no index on times has to be kept.
const FIRST_SEQ_AT = `
  WITH RECURSIVE search (low, high) AS (
    SELECT 1::int8, last_seq + 1 FROM ledger_account WHERE id = $1
    UNION ALL
    SELECT CASE WHEN e.created_at < $2 THEN s.mid + 1 ELSE s.low END, CASE WHEN e.created_at < $2 THEN s.high ELSE s.mid END
    FROM (SELECT low, high, (low + high) / 2 AS mid FROM search WHERE low < high) s
    JOIN ledger_entry e ON e.account_id = $1 AND e.seq = s.mid
  )
  SELECT low AS seq FROM search WHERE low = high`;

const TURNOVER = `
  SELECT coalesce(sum(amount) FILTER (WHERE amount > 0), 0)::text AS received, coalesce(-sum(amount) FILTER (WHERE amount < 0), 0)::text AS sent
  FROM ledger_entry WHERE account_id = $1 AND seq >= $2 AND seq < $3`;

const BALANCE_AFTER = "SELECT balance_after FROM ledger_entry WHERE account_id = $1 AND seq = $2";

// The system side of a currency is what is owed to its customers, negated: one row to read instead of all accounts.
const LIABILITIES = `
  SELECT currency, -sum(balance) AS owed FROM ledger_account
  WHERE project_id = $1 AND kind IN ('treasury_reserve', 'external') GROUP BY currency ORDER BY currency`;

const BALANCES_AT = `
  SELECT a.id, coalesce(e.balance_after, 0)::text AS balance FROM ledger_account a
  LEFT JOIN LATERAL (
    SELECT balance_after FROM ledger_entry WHERE account_id = a.id AND created_at < $3 ORDER BY seq DESC LIMIT 1) e ON true
  WHERE a.project_id = $1 AND a.currency = $2 AND a.kind = 'customer' AND a.created_at < $3 ORDER BY a.id`;

const EXPIRED_HOLDS = `
  SELECT h.id, a.project_id FROM ledger_hold h JOIN ledger_account a ON a.id = h.account_id
  WHERE h.status = 'open' AND h.expires_at <= $1 ORDER BY h.expires_at LIMIT $2`;

interface AccountRow {
  readonly id: string;
  readonly currency: string;
  readonly name: string | null;
  readonly status: AccountStatus;
  readonly balance: string;
  readonly held: string;
  readonly version: string;
  readonly last_seq: string;
  readonly created_at: Date;
}

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
}

const toAccount = (row: AccountRow): AccountRecord => {
  const postedBase = BigInt(row.balance);
  const pendingBase = BigInt(row.held);
  return {
    id: `ga_${row.id}`,
    currency: row.currency,
    name: row.name,
    status: row.status,
    availableBase: postedBase - pendingBase,
    pendingBase,
    postedBase,
    version: BigInt(row.version),
    lastSeq: BigInt(row.last_seq),
    createdAt: row.created_at,
  };
};

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
  reversesId: prefixed("ltx", row.reverses_id),
  reversedById: prefixed("ltx", row.reversed_by),
});

/** What the ledger knows. Another project's account answers like one that does not exist: DomainError `not_found`. */
export const createLedgerReads = ({ query }: LedgerRepository) => {
  const account = async (projectId: string, accountId: string): Promise<AccountRecord> => {
    const rows = isId("globalAccount", accountId)
      ? await query<AccountRow>(READ_ACCOUNT, [bare(accountId), projectId])
      : [];
    if (!rows[0]) throw notFound();
    return toAccount(rows[0]);
  };

  const firstSeqAt = async (accountId: string, time: Date): Promise<bigint> => {
    const [found] = await query<{ seq: string }>(FIRST_SEQ_AT, [bare(accountId), time]);
    return BigInt(found?.seq ?? 1);
  };

  const balanceBefore = async (accountId: string, seq: bigint): Promise<bigint> => {
    const [found] = await query<{ balance_after: string }>(BALANCE_AFTER, [bare(accountId), seq - 1n]);
    return BigInt(found?.balance_after ?? 0);
  };

  return {
    account,

    /** Newest first. `before` is the id of the last one of the page before. */
    accounts: async (
      projectId: string,
      page: { limit: number; before?: string | undefined; currency?: string | undefined; search?: string | undefined },
    ): Promise<AccountRecord[]> => {
      const before = page.before === undefined ? null : bare(page.before);
      const pattern = page.search === undefined ? null : `%${page.search.replaceAll(/[\\%_]/g, "\\$&")}%`;
      const values = [projectId, before, page.limit, page.currency ?? null, pattern];
      return (await query<AccountRow>(READ_ACCOUNTS, values)).map(toAccount);
    },

    /** Those of the ids that the source cannot pay, and why. */
    unfitRecipients: async (
      projectId: string,
      sourceId: string,
      accountIds: readonly string[],
    ): Promise<ReadonlyMap<string, UnfitRecipient>> => {
      if (!isId("globalAccount", sourceId)) return new Map();
      const values = [projectId, bare(sourceId), idArray(accountIds)];
      const rows = await query<{ id: string; fault: UnfitRecipient }>(READ_UNFIT, values);
      return new Map(rows.map(({ id, fault }) => [`ga_${id}`, fault]));
    },

    /** Newest first. `before` is the seq of the last one of the page before. */
    entries: async (
      projectId: string,
      accountId: string,
      page: { limit: number; before?: bigint },
    ): Promise<EntryRecord[]> => {
      await account(projectId, accountId);
      return (await query<EntryRow>(READ_ENTRIES, [bare(accountId), page.before ?? null, page.limit])).map(toEntry);
    },

    /** What a transaction did to the account; null: nothing. */
    entryOf: async (projectId: string, accountId: string, transactionId: string): Promise<EntryRecord | null> => {
      await account(projectId, accountId);
      if (!isId("ledgerTransaction", transactionId)) return null;
      const [row] = await query<EntryRow>(READ_ENTRY, [bare(accountId), bare(transactionId)]);
      return row === undefined ? null : toEntry(row);
    },

    /** From `from` up to, but not with, `to`. @throws DomainError `not_found` */
    statement: async (projectId: string, accountId: string, period: { from: Date; to: Date }): Promise<Statement> => {
      await account(projectId, accountId);
      const firstSeq = await firstSeqAt(accountId, period.from);
      const endSeq = await firstSeqAt(accountId, period.to);
      const [turnover] = await query<{ received: string; sent: string }>(TURNOVER, [bare(accountId), firstSeq, endSeq]);
      return {
        openingBase: await balanceBefore(accountId, firstSeq),
        closingBase: await balanceBefore(accountId, endSeq),
        inBase: BigInt(turnover?.received ?? 0),
        outBase: BigInt(turnover?.sent ?? 0),
        firstSeq,
        endSeq,
      };
    },

    /** Of an account that is known to be the project's: those from `firstSeq` up to, but not with, `endSeq`, oldest first. */
    entriesBetween: async (
      accountId: string,
      range: { firstSeq: bigint; endSeq: bigint; limit: number },
    ): Promise<EntryRecord[]> => {
      const values = [bare(accountId), range.firstSeq, range.endSeq, range.limit];
      return (await query<EntryRow>(READ_RANGE, values)).map(toEntry);
    },

    /** What each customer's account of a currency held just before `at`, by id. Accounts opened later are not in it. */
    balancesAt: async (
      projectId: string,
      currency: string,
      at: Date,
    ): Promise<{ accountId: string; balanceBase: bigint }[]> => {
      const rows = await query<{ id: string; balance: string }>(BALANCES_AT, [projectId, currency, at]);
      return rows.map((row) => ({ accountId: `ga_${row.id}`, balanceBase: BigInt(row.balance) }));
    },

    /** What the project owes to its accounts, by currency. */
    liabilities: async (projectId: string): Promise<Map<string, bigint>> => {
      const rows = await query<{ currency: string; owed: string }>(LIABILITIES, [projectId]);
      return new Map(rows.map(({ currency, owed }) => [currency, BigInt(owed)]));
    },

    /** Open holds whose time is over, the oldest first. */
    expiredHolds: async (now: Date, limit: number): Promise<{ holdId: string; projectId: string }[]> => {
      const rows = await query<{ id: string; project_id: string }>(EXPIRED_HOLDS, [now, limit]);
      return rows.map((row) => ({ holdId: `hld_${row.id}`, projectId: row.project_id }));
    },
  };
};
