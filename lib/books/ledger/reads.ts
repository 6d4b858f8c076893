import type { LedgerRepository } from "./repository";
import { bare, idArray } from "./sql";
import { LRUCache } from "lru-cache";
import { notFound } from "@/lib/core/errors";
import { handledLater } from "@/lib/core/handled-later";
import { isId } from "@/lib/core/ids";
import type { SqlReader } from "@/lib/platform/db/sql";
import { join, sql, type Statement } from "@/lib/platform/db/statement";
import {
  account,
  ACCOUNT_COLUMNS,
  accountOf,
  type AccountRecord,
  type AccountRow,
  accounts,
  entries,
  entriesBetween,
  entryOf,
  firstFinerEntry,
  reserveStatement,
  statement,
} from "./entry-reads";
import { bindDeps } from "@/lib/core/bind-deps";
import { systemAccountId } from "./commands";

const FUNDING_KINDS = ["fund", "reverse"] as const;

export interface FundingRecord {
  readonly transactionId: string;
  readonly kind: (typeof FUNDING_KINDS)[number];
  readonly accountId: string;
  readonly accountName: string | null;
  readonly currency: string;
  /** Positive, in ledger units. */
  readonly amountBase: bigint;
  readonly createdBy: string;
  readonly createdAt: Date;
}

export interface FundingFilter {
  /** Ids of the transactions to return; all when absent. */
  readonly ids?: readonly string[] | undefined;
  readonly kinds?: readonly FundingRecord["kind"][] | undefined;
  /** RFC 3339, inclusive. */
  readonly from?: string | undefined;
  /** RFC 3339, exclusive. */
  readonly to?: string | undefined;
  /** The id of the account or of the transaction, or a part of the account's name. */
  readonly search?: string | undefined;
  /** Currencies whose fundings match `search` too. */
  readonly searchedCurrencies?: readonly string[] | undefined;
}

export interface FundingQuery extends FundingFilter {
  /** Page cursor: an id. Only fundings with a smaller id, which are older, are returned. */
  readonly before?: string | undefined;
  readonly limit: number;
}

const searched = ({ search, searchedCurrencies = [] }: FundingFilter): Statement[] => {
  if (search === undefined) return [];
  const pattern = `%${search.replaceAll(/[\\%_]/g, "\\$&")}%`;
  return [
    sql`(
      ${search.toLowerCase()}::text IN ('ltx_' || t.id, 'fnd_' || t.id, 'ga_' || a.id)
      OR a.name ILIKE ${pattern}::text
      OR e.currency = ANY (${searchedCurrencies}::text[])
    )`,
  ];
};

/**
 * SQL: the FROM and WHERE clauses that select fundings `t` with their entry `e` and account `a`.
 * Leaves out reversals of other transactions.
 */
export const fundingRows = (projectId: string, filter: FundingFilter): Statement => {
  const { ids, kinds, from, to } = filter;
  const conditions = [
    sql`t.project_id = ${projectId}`,
    sql`t.kind IN ('fund', 'reverse')`,
    sql`t.rejection IS NULL`,
    ...(ids === undefined ? [] : [sql`t.id = ANY (${idArray(ids)}::uuid[])`]),
    ...(kinds === undefined ? [] : [sql`t.kind = ANY (${kinds}::text[])`]),
    ...(from === undefined ? [] : [sql`t.created_at >= ${from}::timestamptz`]),
    ...(to === undefined ? [] : [sql`t.created_at < ${to}::timestamptz`]),
    ...searched(filter),
    sql`(
      t.kind = 'fund'
      OR EXISTS (
        SELECT 1 FROM ledger_transaction f
        WHERE f.project_id = t.project_id AND f.id = t.reverses_id AND f.kind = 'fund'
      )
    )`,
  ];
  return sql`
    FROM ledger_transaction t
    JOIN ledger_entry e ON e.project_id = t.project_id AND e.transaction_id = t.id
    JOIN ledger_account a
      ON a.project_id = t.project_id AND a.id = e.account_id AND a.kind = 'customer'
    WHERE ${join(conditions, " AND ")}`;
};

const READ_NAMES = `
  SELECT id, name FROM ledger_account WHERE project_id = $1 AND id = ANY ($2::uuid[]) AND kind = 'customer' AND name IS NOT NULL`;

interface FundingRow {
  readonly id: string;
  readonly kind: FundingRecord["kind"];
  readonly created_by: string;
  readonly created_at: Date;
  readonly amount: string;
  readonly currency: string;
  readonly account_id: string;
  readonly name: string | null;
}

const fundings = async (
  { query }: LedgerRepository,
  projectId: string,
  { before, limit, ...filter }: FundingQuery,
): Promise<FundingRecord[]> => {
  const older = before === undefined ? sql`` : sql` AND t.id < ${bare(before)}::uuid`;
  // Sorts by id, so that PostgreSQL reads the index of fundings in order and stops at the limit.
  const { text, values } = sql`
    SELECT
      t.id,
      t.kind,
      t.created_by,
      t.created_at,
      abs(e.amount)::text AS amount,
      e.currency,
      e.account_id,
      a.name
    ${fundingRows(projectId, filter)}${older}
    ORDER BY t.id DESC
    LIMIT ${limit}::int`;
  const rows = await query<FundingRow>(text, values);
  return rows.map((row) => ({
    transactionId: `ltx_${row.id}`,
    kind: row.kind,
    accountId: `ga_${row.account_id}`,
    accountName: row.name,
    currency: row.currency,
    amountBase: BigInt(row.amount),
    createdBy: row.created_by,
    createdAt: row.created_at,
  }));
};

/** For each account id, the account's name. Accounts without a name are missing. */
const accountNames = async (
  { query }: LedgerRepository,
  projectId: string,
  accountIds: readonly string[],
): Promise<ReadonlyMap<string, string>> => {
  if (accountIds.length === 0) return new Map();
  const rows = await query<{ id: string; name: string }>(READ_NAMES, [
    projectId,
    idArray(accountIds),
  ]);
  return new Map(rows.map(({ id, name }) => [`ga_${id}`, name]));
};

// Reads the account that pays a payout, and finds recipients that it cannot pay. An account's
// currency is cached, because it never changes.

export type UnfitRecipient = "missing" | "currency" | "frozen";

/** Maximum number of cached accounts (about 20 MB). */
const KEPT_MAX = 100_000;
/**
 * Up to this number, all frozen and closed accounts of a project are read with the payer. Above
 * it, the recipients of each payout are looked up by id in a second query.
 */
const NOT_ACTIVE_MAX = 1000;

const READ_FACTS = `
  SELECT id, currency FROM ledger_account WHERE project_id = $1 AND kind = 'customer' AND id = ANY($2::uuid[])`;

const IS_NOT_ACTIVE = "project_id = $1 AND kind = 'customer' AND status <> 'active'";
// Uses the partial index `ledger_account_not_active_idx`.
const READ_PAYER = `
  SELECT ${ACCOUNT_COLUMNS},
    ARRAY(SELECT id::text FROM ledger_account WHERE ${IS_NOT_ACTIVE} LIMIT ${String(NOT_ACTIVE_MAX + 1)}) AS not_active
  FROM ledger_account WHERE project_id = $1 AND id = $2 AND kind = 'customer'`;
const READ_NOT_ACTIVE_AMONG = `SELECT id FROM ledger_account WHERE ${IS_NOT_ACTIVE} AND id = ANY($2::uuid[])`;

/** The cached facts about a customer account. They never change, and accounts are never deleted. */
interface Facts {
  readonly projectId: string;
  readonly currency: string;
}

interface PayerRow extends AccountRow {
  readonly not_active: readonly string[];
}

/**
 * The ids of accounts that are not active, including at least all such accounts among `ids`.
 * @param notActive ids without prefix of accounts that are not active. A list with more than
 * `NOT_ACTIVE_MAX` ids is incomplete, so the accounts of `ids` are looked up instead
 */
const notActiveAmong = async (
  reader: SqlReader,
  projectId: string,
  {
    notActive,
    ids,
  }: { readonly notActive: readonly string[]; readonly ids: readonly string[] },
): Promise<ReadonlySet<string>> => {
  let found = notActive;
  if (found.length > NOT_ACTIVE_MAX) {
    const readable = ids.filter((id) => isId("globalAccount", id));
    const rows = await reader.query<{ id: string }>(READ_NOT_ACTIVE_AMONG, [
      projectId,
      idArray(readable),
    ]);
    found = rows.map(({ id }) => id);
  }
  return new Set(found.map((id) => `ga_${id}`));
};

/**
 * Project and currency of accounts in the order of `ids`, from the cache or the database. Null for
 * an id that is not a customer account of the project.
 */
const factsOf = async (
  reader: SqlReader,
  kept: LRUCache<string, Facts>,
  projectId: string,
  ids: readonly string[],
): Promise<readonly (Facts | null)[]> => {
  const known = ids.map((id) => {
    const facts = kept.get(id);
    return facts?.projectId === projectId ? facts : null;
  });
  const readable = ids.filter(
    (id, index) => known[index] === null && isId("globalAccount", id),
  );
  if (readable.length === 0) return known;
  const rows = await reader.query<{ id: string; currency: string }>(READ_FACTS, [
    projectId,
    idArray(readable),
  ]);
  // Accounts of one project and currency share one object, to save memory.
  const shared = new Map<string, Facts>();
  const read = new Map<string, Facts>();
  for (const { id, currency } of rows) {
    const facts = shared.get(currency) ?? { projectId, currency };
    shared.set(currency, facts);
    kept.set(`ga_${id}`, facts);
    read.set(`ga_${id}`, facts);
  }
  return ids.map((id, index) => known[index] ?? read.get(id) ?? null);
};

interface Payer {
  readonly source: AccountRecord;
  readonly unfit: ReadonlyMap<string, UnfitRecipient>;
}

const createPayers = () => {
  const kept = new LRUCache<string, Facts>({ max: KEPT_MAX });
  /**
   * Reads the account that pays a payout, and finds the recipients that it cannot pay.
   * @param reader receives the query for the source's balance synchronously, before the first
   * await
   * @param accountIds ids of the recipients, not validated
   * @throws DomainError `not_found` for the source
   */
  return async (
    reader: SqlReader,
    projectId: string,
    {
      sourceId,
      accountIds,
    }: { readonly sourceId: string; readonly accountIds: readonly string[] },
  ): Promise<Payer> => {
    if (!isId("globalAccount", sourceId)) throw notFound();
    const reading = handledLater(
      reader.query<PayerRow>(READ_PAYER, [projectId, bare(sourceId)]),
    );
    const recipients = await factsOf(reader, kept, projectId, accountIds);
    const [row] = await reading;
    if (row === undefined) throw notFound();
    const source = accountOf(row);
    const notActive = await notActiveAmong(reader, projectId, {
      notActive: row.not_active,
      ids: accountIds,
    });
    const unfit = new Map<string, UnfitRecipient>();
    for (const [index, id] of accountIds.entries()) {
      const facts = recipients[index] ?? null;
      if (facts === null) unfit.set(id, "missing");
      else if (facts.currency !== source.currency) unfit.set(id, "currency");
      else if (notActive.has(id)) unfit.set(id, "frozen");
    }
    return { source, unfit };
  };
};

// The system accounts of a currency hold the negated sum of its liabilities, so their rows are read
// instead of all accounts.
const LIABILITIES = `
  SELECT currency, -sum(balance) AS owed, coalesce(sum(balance) FILTER (WHERE kind = 'withdrawal_transit'), 0) AS transit
  FROM ledger_account
  WHERE project_id = $1 AND kind IN ('treasury_reserve', 'withdrawal_transit', 'external') GROUP BY currency ORDER BY currency`;

const BALANCES_AT = `
  SELECT a.id, coalesce(e.balance_after, 0)::text AS balance FROM ledger_account a
  LEFT JOIN LATERAL (
    SELECT balance_after FROM ledger_entry WHERE project_id = $1 AND account_id = a.id AND created_at < $3 ORDER BY seq DESC LIMIT 1) e ON true
  WHERE a.project_id = $1 AND a.currency = $2 AND a.kind = 'customer' AND a.created_at < $3 ORDER BY a.id`;

const LIABILITIES_UNDER_LOCK = `
  SELECT asked.place, (-a.balance)::text AS owed
  FROM unnest($2::uuid[]) WITH ORDINALITY AS asked (id, place) JOIN ledger_account a ON a.project_id = $1 AND a.id = asked.id
  ORDER BY a.id FOR SHARE OF a`;

/**
 * The reads of the ledger. Another project's account counts as missing (DomainError `not_found`).
 */
export const createLedgerReads = (repository: LedgerRepository) => ({
  account: bindDeps(repository, account),
  accounts: bindDeps(repository, accounts),
  payer: createPayers(),
  entries: bindDeps(repository, entries),
  entryOf: bindDeps(repository, entryOf),
  statement: bindDeps(repository, statement),
  reserveStatement: bindDeps(repository, reserveStatement),
  firstFinerEntry: bindDeps(repository, firstFinerEntry),
  entriesBetween: bindDeps(repository, entriesBetween),
  fundings: bindDeps(repository, fundings),
  accountNames: bindDeps(repository, accountNames),
  balancesAt: bindDeps(repository, balancesAt),
  liabilities: bindDeps(repository, liabilities),
  inTransit: bindDeps(repository, inTransit),
});

/**
 * The balance of each customer account of a currency just before `at`. Accounts that were opened
 * later are missing.
 */
const balancesAt = async (
  { query }: LedgerRepository,
  projectId: string,
  currency: string,
  at: Date,
): Promise<{ accountId: string; balanceBase: bigint }[]> => {
  const rows = await query<{ id: string; balance: string }>(BALANCES_AT, [
    projectId,
    currency,
    at,
  ]);
  return rows.map((row) => ({ accountId: `ga_${row.id}`, balanceBase: BigInt(row.balance) }));
};

/**
 * The amounts that the project owes to its accounts, by currency. Excludes amounts in transit, for
 * which the treasury holds money separately.
 */
const liabilities = async (
  { query }: LedgerRepository,
  projectId: string,
): Promise<Map<string, bigint>> => {
  const rows = await query<{ currency: string; owed: string }>(LIABILITIES, [projectId]);
  return new Map(rows.map(({ currency, owed }) => [currency, BigInt(owed)]));
};

/**
 * The amounts that withdrawals debited from accounts and that are neither paid nor returned yet, by
 * currency.
 */
const inTransit = async (
  { query }: LedgerRepository,
  projectId: string,
): Promise<Map<string, bigint>> => {
  const rows = await query<{ currency: string; transit: string }>(LIABILITIES, [projectId]);
  return new Map(rows.map(({ currency, transit }) => [currency, BigInt(transit)]));
};

/**
 * Reads the liabilities in `currencies` under a lock, in the caller's transaction.
 * `createLedgerService` describes the lock.
 */
export const lockLiabilities = async (
  sql: SqlReader,
  projectId: string,
  currencies: readonly string[],
): Promise<readonly bigint[]> => {
  const ids = (["treasury_reserve", "withdrawal_transit"] as const).flatMap((kind) =>
    currencies.map((currency) => bare(systemAccountId(projectId, currency, kind))),
  );
  const rows = await sql.query<{ place: string; owed: string }>(LIABILITIES_UNDER_LOCK, [
    projectId,
    ids,
  ]);
  const owed = new Map(rows.map((row) => [Number(row.place), BigInt(row.owed)]));
  return currencies.map(
    (_, index) => (owed.get(index + 1) ?? 0n) + (owed.get(index + 1 + currencies.length) ?? 0n),
  );
};
