/** Checks the ledger account that funds a payout to wallets. Such a payout is a withdrawal. */
import { DomainError, invalidRequest, type ErrorDetail } from "@/lib/core/errors";
import { formatAmount } from "@/lib/core/money";
import { LEDGER_DECIMALS } from "@/lib/books/ledger/service";
import { toLedgerUnits } from "@/lib/books/reserves/service";
import { readSource } from "../accounts/request";
import type { PayoutsContext } from "../context";
import { refuseFaults } from "../limits";
import type { BearingAccount } from "./account-side-repository";
import type { WalletRow } from "./rows";

const units = (base: bigint): string => formatAmount(base, LEDGER_DECIMALS);

const requireNoFunding = (fundFrom: unknown): void => {
  if (fundFrom === undefined || fundFrom === null) return;
  const message =
    "A withdrawal pays what the treasury holds on the chain. Bring the money to the chain with a transfer first, or withdraw on another chain";
  throw invalidRequest([{ path: "fundFrom", message }]);
};

/**
 * Reads the account that funds the payout; null when the request names none. Does not read the
 * balance, because a repeated request must get the answer of the first request even when the
 * balance has changed.
 * @throws DomainError `not_found`; `invalid_request` when the request also has `fundFrom`, and
 * naming every row in another asset or in a coin that backs no account
 */
export const readBearing = async (
  context: PayoutsContext,
  projectId: string,
  input: {
    readonly sourceAccountId?: string | undefined;
    readonly fundFrom?: unknown;
    readonly rows: readonly WalletRow[];
  },
): Promise<BearingAccount | null> => {
  const { sourceAccountId, rows } = input;
  if (sourceAccountId === undefined) return null;
  requireNoFunding(input.fundFrom);
  const { id, currency } = await context.ledger.account(projectId, sourceAccountId);
  const symbol = context.assets.find(currency)?.symbol ?? currency;
  const faults = rows.flatMap(({ token }, index): ErrorDetail[] => {
    const path = `transfers.${String(index)}.token`;
    if (token.assetId !== currency)
      return [
        {
          path,
          message: `is ${token.symbol}, and the account is in ${symbol}`,
          code: "invalid_request",
        },
      ];
    if (context.reserves.backs(token)) return [];
    const message =
      "is the coin with which the treasury pays its network fees on this chain, so it backs no account: withdraw it on another chain";
    return [{ path, message, code: "invalid_request" }];
  });
  refuseFaults(faults, rows.length);
  const totalBase = rows.reduce(
    (sum, { token, amountBase }) => sum + toLedgerUnits(token, amountBase),
    0n,
  );
  return { id, currency, totalBase };
};

/**
 * Returns the error that a withdrawal from the account would cause now; null when the account can
 * fund it. The ledger decides again when the account is debited.
 * @param ownBase the amount that `openPayoutTotals` already counts for this payout; 0 for a payout
 * that is not stored
 */
export const accountObstacle = async (
  context: PayoutsContext,
  projectId: string,
  account: BearingAccount,
  ownBase = 0n,
): Promise<DomainError | null> => {
  const { source, availableBase } = await readSource(context, projectId, account.id);
  if (source.status !== "active")
    return new DomainError(
      "invalid_state",
      `The account is ${source.status}, so nothing leaves it. Nothing was paid.`,
    );
  const left = availableBase + ownBase;
  const usableBase = left < source.postedBase ? left : source.postedBase;
  if (usableBase >= account.totalBase) return null;
  const symbol = context.assets.find(account.currency)?.symbol ?? account.currency;
  const message = `The account has ${units(usableBase)} ${symbol} available, ${units(account.totalBase - usableBase)} less than the withdrawal. Nothing was paid.`;
  return new DomainError("insufficient_balance", message, {
    details: [{ path: "sourceAccountId", message }],
  });
};
