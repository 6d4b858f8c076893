import { bindDeps } from "@/lib/core/bind-deps";
import type { JudgedPart } from "@/lib/db/together";
import { account, accounts } from "./account-reads";
import { systemAccountId } from "./commands";
import { entries, entriesBetween, entryOf, statement } from "./entry-reads";
import { accountNames, fundings } from "./funding-repository";
import { createPayers } from "./payer-repository";
import type { LedgerRepository } from "./repository";
import { bare } from "./sql";

// The system side of a currency is what is owed to its customers, negated: two rows to read instead of all accounts.
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

/** The reads of the ledger. Another project's account answers like one that does not exist: DomainError `not_found`. */
export const createLedgerReads = (repository: LedgerRepository) => ({
  account: bindDeps(repository, account),
  accounts: bindDeps(repository, accounts),
  payer: createPayers(),
  entries: bindDeps(repository, entries),
  entryOf: bindDeps(repository, entryOf),
  statement: bindDeps(repository, statement),
  entriesBetween: bindDeps(repository, entriesBetween),
  fundings: bindDeps(repository, fundings),
  accountNames: bindDeps(repository, accountNames),
  balancesAt: bindDeps(repository, balancesAt),
  liabilities: bindDeps(repository, liabilities),
  inTransit: bindDeps(repository, inTransit),
});

/** The balance of each customer's account of a currency just before `at`, by id. Accounts opened later are not in it. */
const balancesAt = async (
  { query }: LedgerRepository,
  projectId: string,
  currency: string,
  at: Date,
): Promise<{ accountId: string; balanceBase: bigint }[]> => {
  const rows = await query<{ id: string; balance: string }>(BALANCES_AT, [projectId, currency, at]);
  return rows.map((row) => ({ accountId: `ga_${row.id}`, balanceBase: BigInt(row.balance) }));
};

/** The amounts that the project owes to its accounts, by currency; without what is in transit, for which the treasury holds money. */
const liabilities = async ({ query }: LedgerRepository, projectId: string): Promise<Map<string, bigint>> => {
  const rows = await query<{ currency: string; owed: string }>(LIABILITIES, [projectId]);
  return new Map(rows.map(({ currency, owed }) => [currency, BigInt(owed)]));
};

/** The amounts that withdrawals took out of accounts and that are neither paid nor returned yet, by currency. */
const inTransit = async ({ query }: LedgerRepository, projectId: string): Promise<Map<string, bigint>> => {
  const rows = await query<{ currency: string; transit: string }>(LIABILITIES, [projectId]);
  return new Map(rows.map(({ currency, transit }) => [currency, BigInt(transit)]));
};

/** Reads `liabilities` of some currencies under a lock, as a part of the caller's transaction; LedgerService describes it. */
export const liabilitiesPart = (
  projectId: string,
  currencies: readonly string[],
  keep: (liabilitiesBase: readonly bigint[]) => void,
): JudgedPart => {
  const ids = (["treasury_reserve", "withdrawal_transit"] as const).flatMap((kind) =>
    currencies.map((currency) => bare(systemAccountId(projectId, currency, kind))),
  );
  return {
    text: LIABILITIES_UNDER_LOCK,
    values: [projectId, ids],
    judge: (rows) => {
      const owed = new Map(rows.map((row) => [Number(row.place), BigInt(String(row.owed))]));
      keep(currencies.map((_, index) => (owed.get(index + 1) ?? 0n) + (owed.get(index + 1 + currencies.length) ?? 0n)));
    },
  };
};
