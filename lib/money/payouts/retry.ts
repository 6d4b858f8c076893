/** Builds the request that pays the failed rows of a payout again. */
import { DomainError } from "@/lib/core/errors";
import { formatAmount } from "@/lib/core/money";
import { LEDGER_DECIMALS } from "@/lib/books/ledger/service";
import type { AccountsInput } from "./accounts/request";
import type { PayoutItemRow } from "./accounts/rows";
import type {
  AccountsPayoutView,
  PayoutItems,
  PayoutView,
  WalletsPayoutView,
} from "./payout-view";
import type { WalletItemRow } from "./wallets/read-repository";
import type { WalletsInput } from "./wallets/request";
import { tokenNamed } from "./wallets/wallet-payout";

const NOTHING_RETRYABLE =
  "The failed rows of this payout must not be tried again: each names its reason. Look at the treasury's history before you pay them again.";

const accountsInput = (
  { kind, payout }: AccountsPayoutView,
  rows: readonly PayoutItemRow[],
): AccountsInput => ({
  kind,
  sourceAccountId: payout.sourceAccountId,
  mode: payout.mode,
  reference: payout.reference ?? undefined,
  transfers: rows.map(({ recipientAccountId, amountBase, reference }) => ({
    recipientAccountId,
    amount: formatAmount(amountBase, LEDGER_DECIMALS),
    currency: payout.currency,
    reference: reference ?? undefined,
  })),
});

const walletsInput = (
  { kind, payout, own }: WalletsPayoutView,
  rows: readonly WalletItemRow[],
): WalletsInput => ({
  kind,
  chainId: own.chainId,
  reference: payout.reference ?? undefined,
  fundFrom: own.fundFrom ?? undefined,
  sourceAccountId: payout.sourceAccountId ?? undefined,
  transfers: rows.map(({ recipient, amountBase, token, reference, note }) => ({
    address: recipient,
    amount: formatAmount(amountBase, tokenNamed(own.totals, token).decimals),
    token,
    reference: reference ?? undefined,
    note: note ?? undefined,
  })),
});

/**
 * Builds the request of a retry. Leaves out rows to wallets that would fail again, or that another
 * operation may have paid.
 * @param failed the failed rows, page by page
 * @throws DomainError `invalid_state` when no row may be retried
 */
export const retryInput = async (
  view: PayoutView,
  failed: AsyncIterable<PayoutItems>,
): Promise<AccountsInput | WalletsInput> => {
  const toAccounts: PayoutItemRow[] = [];
  const toWallets: WalletItemRow[] = [];
  for await (const page of failed)
    if (page.kind === "wallets") toWallets.push(...page.rows);
    else toAccounts.push(...page.rows);
  if (view.kind === "global_accounts") return accountsInput(view, toAccounts);
  // The failure of a row decides whether the row may be retried. For a row without a failure, the
  // failure of the payout decides.
  const retryable = toWallets.filter(
    ({ failure }) => (failure ?? view.payout.failure)?.retryable ?? true,
  );
  if (retryable.length === 0) throw new DomainError("invalid_state", NOTHING_RETRYABLE);
  return walletsInput(view, retryable);
};
