/** The side of a payout to wallets that an account of the ledger bears: a withdrawal. */
import type { Assets } from "@/lib/chains/assets";
import { DomainError, invalidRequest, type ErrorDetail } from "@/lib/core/errors";
import { formatAmount } from "@/lib/core/money";
import type { SqlReader } from "@/lib/db/sql";
import { LEDGER_DECIMALS, type LedgerService } from "@/lib/modules/ledger/service";
import { toLedgerUnits, type ReservesService } from "@/lib/modules/reserves/service";
import { readSource } from "../accounts/available-funds";
import { refuseFaults } from "./check-rows";
import type { WalletRow } from "./rows";

/** The account that bears the payments of a payout to wallets. */
export interface BearingAccount {
  readonly id: string;
  readonly currency: string;
  /** The sum of all rows, in ledger units. */
  readonly totalBase: bigint;
}

export interface AccountSideDeps {
  readonly assets: Pick<Assets, "find">;
  readonly ledger: Pick<LedgerService, "account">;
  readonly reserves: Pick<ReservesService, "backs">;
}

const units = (base: bigint): string => formatAmount(base, LEDGER_DECIMALS);

const requireNoFunding = (fundFrom: unknown): void => {
  if (fundFrom === undefined || fundFrom === null) return;
  const message =
    "A withdrawal pays what the treasury holds on the chain. Bring the money to the chain with a transfer first, or withdraw on another chain";
  throw invalidRequest([{ path: "fundFrom", message }]);
};

/**
 * The account that bears the payments, where the request names one. Reads nothing that a later withdrawal changes, so that a repeated
 * request gets as far as its earlier answer.
 * @throws DomainError `not_found`; `invalid_request` naming every row in another asset, or in coins that back no account
 */
export const readBearing = async (
  deps: AccountSideDeps,
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
  const { id, currency } = await deps.ledger.account(projectId, sourceAccountId);
  const symbol = deps.assets.find(currency)?.symbol ?? currency;
  const faults = rows.flatMap(({ token }, index): ErrorDetail[] => {
    const path = `transfers.${String(index)}.token`;
    if (token.assetId !== currency)
      return [{ path, message: `is ${token.symbol}, and the account is in ${symbol}`, code: "invalid_request" }];
    if (deps.reserves.backs(token)) return [];
    const message =
      "is the coin with which the treasury pays its network fees on this chain, so it backs no account: withdraw it on another chain";
    return [{ path, message, code: "invalid_request" }];
  });
  refuseFaults(faults, rows.length);
  const totalBase = rows.reduce((sum, { token, amountBase }) => sum + toLedgerUnits(token, amountBase), 0n);
  return { id, currency, totalBase };
};

/**
 * The error that a withdrawal would end in now; null: the account can bear it. The ledger decides when the money is taken.
 * @param ownBase what an open payout, which is this one, counts of it already
 */
export const accountObstacle = async (
  deps: Pick<AccountSideDeps, "ledger" | "assets"> & { readonly reader: SqlReader },
  projectId: string,
  account: BearingAccount,
  ownBase = 0n,
): Promise<DomainError | null> => {
  const { source, availableBase } = await readSource(deps, projectId, account.id);
  if (source.status !== "active")
    return new DomainError("invalid_state", `The account is ${source.status}, so nothing leaves it. Nothing was paid.`);
  const left = availableBase + ownBase;
  const usableBase = left < source.postedBase ? left : source.postedBase;
  if (usableBase >= account.totalBase) return null;
  const symbol = deps.assets.find(account.currency)?.symbol ?? account.currency;
  const message = `The account has ${units(usableBase)} ${symbol} available, ${units(account.totalBase - usableBase)} less than the withdrawal. Nothing was paid.`;
  return new DomainError("insufficient_balance", message, { details: [{ path: "sourceAccountId", message }] });
};
