/** Reads customers' accounts. */
import { notFound } from "@/lib/core/errors";
import { isId } from "@/lib/core/ids";
import type { LedgerRepository } from "./repository";
import type { AccountStatus } from "./snapshot";
import { bare } from "./sql";

/** A customer's account. Amounts in base units. */
export interface AccountRecord {
  readonly id: string;
  readonly currency: string;
  readonly name: string | null;
  readonly status: AccountStatus;
  /** Why it is frozen or closed; null while it is active, and where no reason was given. */
  readonly statusReason: string | null;
  /** The sum of the account's entries. Payouts that are not posted yet may draw on it. */
  readonly postedBase: bigint;
  /** Grows with every change. */
  readonly version: bigint;
  readonly lastSeq: bigint;
  readonly createdAt: Date;
}

export const ACCOUNT_COLUMNS = "id, currency, name, status, status_reason, balance, version, last_seq, created_at";

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

/** Another project's account answers like one that does not exist. @throws DomainError `not_found` */
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

/** Newest first. `before` is the id of the last one of the page before. */
export const accounts = async (
  { query }: LedgerRepository,
  projectId: string,
  page: { limit: number; before?: string | undefined; currency?: string | undefined; search?: string | undefined },
): Promise<AccountRecord[]> => {
  const before = page.before === undefined ? null : bare(page.before);
  const pattern = page.search === undefined ? null : `%${page.search.replaceAll(/[\\%_]/g, "\\$&")}%`;
  const values = [projectId, before, page.limit, page.currency ?? null, pattern];
  return (await query<AccountRow>(READ_ACCOUNTS, values)).map(accountOf);
};
