/** Reads the fundings of a project's accounts and their reversals. */
import type { LedgerRepository } from "./repository";
import { bare, idArray } from "./sql";

export const FUNDING_KINDS = ["fund", "reverse"] as const;

export interface FundingRecord {
  readonly transactionId: string;
  /** `reverse`: of a funding. */
  readonly kind: (typeof FUNDING_KINDS)[number];
  readonly accountId: string;
  readonly accountName: string | null;
  readonly currency: string;
  /** Positive, in ledger units. */
  readonly amountBase: bigint;
  readonly createdBy: string;
  readonly createdAt: Date;
}

export interface FundingQuery {
  /** Only those of a smaller id, which are older. */
  readonly before?: string | undefined;
  readonly limit: number;
  readonly kinds?: readonly FundingRecord["kind"][] | undefined;
  /** RFC 3339, inclusive. */
  readonly from?: string | undefined;
  /** RFC 3339, exclusive. */
  readonly to?: string | undefined;
  /** An id of the account or the transaction, or a part of the account's name. */
  readonly search?: string | undefined;
  /** Or in one of these currencies. */
  readonly searchedCurrencies?: readonly string[] | undefined;
}

// Walks along the index of fundings. A reversal of anything else is no funding's.
const READ_FUNDINGS = `
  SELECT t.id, t.kind, t.created_by, t.created_at, abs(e.amount)::text AS amount, e.currency, e.account_id, a.name
  FROM ledger_transaction t
  JOIN ledger_entry e ON e.project_id = t.project_id AND e.transaction_id = t.id
  JOIN ledger_account a ON a.project_id = t.project_id AND a.id = e.account_id AND a.kind = 'customer'
  WHERE t.project_id = $1 AND t.kind IN ('fund', 'reverse') AND t.rejection IS NULL
    AND ($2::uuid IS NULL OR t.id < $2) AND ($3::text[] IS NULL OR t.kind = ANY ($3))
    AND ($4::timestamptz IS NULL OR t.created_at >= $4) AND ($5::timestamptz IS NULL OR t.created_at < $5)
    AND ($6::text IS NULL OR $6 IN ('ltx_' || t.id, 'fnd_' || t.id, 'ga_' || a.id) OR a.name ILIKE $7
      OR e.currency = ANY ($8::text[]))
    AND (t.kind = 'fund' OR EXISTS (SELECT 1 FROM ledger_transaction f WHERE f.project_id = t.project_id AND f.id = t.reverses_id AND f.kind = 'fund'))
  ORDER BY t.id DESC LIMIT $9`;

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

/** Newest first. */
export const fundings = async (
  { query }: LedgerRepository,
  projectId: string,
  { before, limit, kinds, from, to, search, searchedCurrencies = [] }: FundingQuery,
): Promise<FundingRecord[]> => {
  const pattern = search === undefined ? null : `%${search.replaceAll(/[\\%_]/g, "\\$&")}%`;
  const rows = await query<FundingRow>(READ_FUNDINGS, [
    ...[projectId, before === undefined ? null : bare(before), kinds ?? null, from ?? null, to ?? null],
    ...[search?.toLowerCase() ?? null, pattern, searchedCurrencies, limit],
  ]);
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

/** The names of those of the accounts that have one, by id. */
export const accountNames = async (
  { query }: LedgerRepository,
  projectId: string,
  accountIds: readonly string[],
): Promise<ReadonlyMap<string, string>> => {
  if (accountIds.length === 0) return new Map();
  const rows = await query<{ id: string; name: string }>(READ_NAMES, [projectId, idArray(accountIds)]);
  return new Map(rows.map(({ id, name }) => [`ga_${id}`, name]));
};
