/**
 * Changes the ledger account that funds a payout to wallets (a withdrawal), in the transaction that
 * holds or releases the treasury's money.
 */
import type { Tx } from "@/lib/platform/db/client";
import type { Sql, SqlReader } from "@/lib/platform/db/sql";
import { sql } from "@/lib/platform/db/statement";
import { base, table } from "@/lib/platform/db/table";
import { postWithin } from "@/lib/books/ledger/service";
import { toLedgerUnits } from "@/lib/books/reserves/service";
import { parseTotals, tokenNamed } from "./wallet-payout";
import type { TokenTotal } from "./rows";

/**
 * Reads the account that funds a payout; null when the project funds it. The account of a payout
 * never changes.
 */
export const bearerOf = async (
  tx: Tx,
  projectId: string,
  payoutId: string,
): Promise<Bearer | null> => {
  const { sourceAccountId: accountId, currency } = await tx.payout.findUniqueOrThrow({
    where: { projectId, id: payoutId },
    select: { sourceAccountId: true, currency: true },
  });
  if (accountId === null || currency === null) return null;
  const where = { projectId_payoutId: { projectId, payoutId } };
  const { totals } = await tx.walletPayout.findUniqueOrThrow({
    where,
    select: { totals: true },
  });
  return { accountId, currency, totals: parseTotals(totals) };
};

export interface BearingAccount {
  readonly id: string;
  readonly currency: string;
  /** The sum of all rows, in ledger units. */
  readonly totalBase: bigint;
}

/** The actor's name in the ledger entries of withdrawals, which no person posts. */
const WORKER = "payouts";

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
 * Debits the whole amount of a withdrawal from its account. Call it after the locks of the
 * treasury's balances, because every transaction acquires these locks in this order.
 * @throws DomainError `insufficient_balance`, `invalid_state` when the account is frozen or closed
 */
export const debitAccount = async (
  db: Sql,
  { projectId, payoutId, account, now }: Withdrawal,
): Promise<void> => {
  const { id: from, currency, totalBase: amountBase } = account;
  const key = { projectId, key: payoutId, by: WORKER, data: { payoutId } };
  await postWithin(db, { ...key, kind: "withdraw", from, amountBase, currency }, now);
};

interface Settlement {
  readonly projectId: string;
  readonly payoutId: string;
  readonly bearer: Bearer | null;
  /**
   * Identifies the money that is posted: the number and version of a batch, from `batchVersion`.
   */
  readonly part: string;
  /** Lower-case address of the token, or `native`. */
  readonly token: string;
  /** The amount that has left the treasury, in base units of the token. Default 0. */
  readonly paidBase?: bigint;
  /** The amount that returns to the account, in base units of the token. Default 0. */
  readonly returnedBase?: bigint;
  readonly now: Date;
}

/**
 * Posts to the ledger that money of a payout has left the treasury, or returns to the account. Does
 * nothing when no account funds the payout. The caller must have locked the payout's row, and
 * changed the state of the batch by compare-and-set in the same transaction, so that the money of
 * each batch is posted once.
 */
export const settleAccount = async (db: Sql, settlement: Settlement): Promise<void> => {
  const {
    projectId,
    payoutId,
    bearer,
    part,
    paidBase = 0n,
    returnedBase = 0n,
    now,
  } = settlement;
  if (bearer === null || paidBase + returnedBase === 0n) return;
  const { accountId: to, currency, totals } = bearer;
  const token = tokenNamed(totals, settlement.token);
  const amounts = {
    paidBase: toLedgerUnits(token, paidBase),
    returnedBase: toLedgerUnits(token, returnedBase),
  };
  const key = { projectId, key: `${payoutId}/${part}`, by: WORKER, data: { payoutId } };
  await postWithin(db, { ...key, kind: "settle", to, currency, ...amounts }, now);
  await db.change(sql`
    UPDATE payout SET
      paid_base = paid_base + ${amounts.paidBase}::numeric,
      failed_base = failed_base + ${amounts.returnedBase}::numeric
    WHERE project_id = ${projectId} AND id = ${payoutId}`);
};

const sums = table({ totalBase: base });

/**
 * Sums the amounts that withdrawals have debited from an account and that are neither paid nor
 * returned yet, in ledger units.
 */
export const inTransitOf = async (
  db: SqlReader,
  projectId: string,
  accountId: string,
): Promise<bigint> => {
  const found = await sums.first(
    db,
    sql`
      SELECT ${sums.columns("summed")}
      FROM (
        SELECT coalesce(sum(total_base - paid_base - failed_base), 0) AS total_base
        FROM payout
        WHERE project_id = ${projectId}
          AND source_account_id = ${accountId}
          AND kind = 'wallets'
          AND evaluation_id IS NOT NULL
      ) AS summed`,
  );
  return found?.totalBase ?? 0n;
};
