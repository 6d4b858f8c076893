/** Changes the account that bears a payout to wallets, in the transaction that holds or frees the treasury's money. */
import type { Tx } from "@/lib/db/client";
import type { Sql, SqlReader } from "@/lib/db/sql";
import { postWithin } from "@/lib/modules/ledger/service";
import { toLedgerUnits } from "@/lib/modules/reserves/service";
import type { BearingAccount } from "./account-side";
import { parseTotals, tokenNamed } from "./wallet-payout";
import type { TokenTotal } from "./rows";

/** The account that bears the payout. A payout never changes it. */
export const bearerOf = async (tx: Tx, projectId: string, payoutId: string): Promise<Bearer | null> => {
  const { sourceAccountId: accountId, currency } = await tx.payout.findUniqueOrThrow({
    where: { projectId, id: payoutId },
    select: { sourceAccountId: true, currency: true },
  });
  if (accountId === null || currency === null) return null;
  const where = { projectId_payoutId: { projectId, payoutId } };
  const { totals } = await tx.walletPayout.findUniqueOrThrow({ where, select: { totals: true } });
  return { accountId, currency, totals: parseTotals(totals) };
};

/** Names the actor of postings that follow from what a chain shows. */
const WORKER = "payouts";

/** The account of a payout, with the tokens in which its rows are paid. */
export interface Bearer {
  readonly accountId: string;
  readonly currency: string;
  readonly totals: readonly TokenTotal[];
}

interface Withdrawal {
  readonly projectId: string;
  readonly payoutId: string;
  readonly account: BearingAccount;
  readonly now: Date;
}

/**
 * Takes the whole amount out of the account. Call it after the locks of balances on chain.
 * @throws DomainError `insufficient_balance`, `invalid_state` when the account is frozen or closed
 */
export const debitAccount = async (sql: Sql, { projectId, payoutId, account, now }: Withdrawal): Promise<void> => {
  const { id: from, currency, totalBase: amountBase } = account;
  const key = { projectId, key: payoutId, by: WORKER, data: { payoutId } };
  await postWithin(sql, { ...key, kind: "withdraw", from, amountBase, currency }, now);
};

const COUNT = `
  UPDATE payout SET paid_base = paid_base + $3::numeric, failed_base = failed_base + $4::numeric WHERE project_id = $1 AND id = $2`;

interface Settlement {
  readonly projectId: string;
  readonly payoutId: string;
  readonly bearer: Bearer | null;
  /** Distinguishes the parts of a payout that end one by one: a batch, and its version. */
  readonly part: string;
  /** Lower-case address, or `native`. */
  readonly token: string;
  /** In base units of the token. */
  readonly paidBase?: bigint;
  readonly returnedBase?: bigint;
  readonly now: Date;
}

/**
 * Says what became of a part of the money: it has left the treasury, or is the account's again. The caller has locked the payout's row,
 * and changes the part's state by compare-and-set in the same transaction, so each part is settled once.
 */
export const settleAccount = async (sql: Sql, settlement: Settlement): Promise<void> => {
  const { projectId, payoutId, bearer, part, paidBase = 0n, returnedBase = 0n, now } = settlement;
  if (bearer === null || paidBase + returnedBase === 0n) return;
  const { accountId: to, currency, totals } = bearer;
  const token = tokenNamed(totals, settlement.token);
  const amounts = { paidBase: toLedgerUnits(token, paidBase), returnedBase: toLedgerUnits(token, returnedBase) };
  const key = { projectId, key: `${payoutId}/${part}`, by: WORKER, data: { payoutId } };
  await postWithin(sql, { ...key, kind: "settle", to, currency, ...amounts }, now);
  await sql.change(COUNT, [projectId, payoutId, amounts.paidBase.toString(), amounts.returnedBase.toString()]);
};

const IN_TRANSIT = `
  SELECT coalesce(sum(total_base - paid_base - failed_base), 0)::text AS total FROM payout
  WHERE project_id = $1 AND source_account_id = $2 AND kind = 'wallets' AND evaluation_id IS NOT NULL`;

/** The amount of an account that withdrawals took out and that is neither paid nor returned yet, in ledger units. */
export const inTransitOf = async (reader: SqlReader, projectId: string, accountId: string): Promise<bigint> => {
  const [row] = await reader.query<{ total: string }>(IN_TRANSIT, [projectId, accountId]);
  return BigInt(row?.total ?? 0);
};
