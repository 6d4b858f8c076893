"use client";

import type { ReactNode } from "react";
import { accountName } from "@/components/features/global-accounts/account";
import { useKnownAccounts } from "@/components/features/global-accounts/use-accounts";
import { useKnownAddresses } from "@/components/features/transfer/use-known-addresses";
import { ErrorState } from "@/components/ui/error-state";
import { LoadingRows } from "@/components/ui/skeleton";
import { countText } from "@/lib/core/amount-text";
import { PagedRecipients } from "./paged-recipients";
import { countsOf, type Payout } from "./payout";
import { AccountRecipient, RecipientItem, WalletRecipient } from "./recipient-item";
import { usePayoutRows } from "./use-payout-rows";

const LOADING_ROWS_MAX = 6;
/** A longer list is easier to read in the table of the page, which scrolls and filters. */
const SHORT_LIST_MAX = 10;

/** Whom a payout pays once it is approved: names, whole addresses or ids, and amounts. */
export const ApprovalRecipients = ({ payout }: { readonly payout: Payout }): ReactNode => {
  const { total } = countsOf(payout);
  return (
    <div>
      <section
        aria-label="Recipients"
        tabIndex={0}
        className="max-h-[min(18rem,40dvh)] overflow-y-auto rounded-card border"
      >
        <Recipients payout={payout} />
      </section>
      {total > SHORT_LIST_MAX ? (
        // In another tab, because the code is entered here.
        <a href={`/payouts/${payout.payoutId}#rows`} target="_blank" className="link text-sm">
          All {countText(total)} rows in a new tab
        </a>
      ) : null}
    </div>
  );
};

const Recipients = ({ payout }: { readonly payout: Payout }): ReactNode => {
  const query = usePayoutRows(payout);
  const accounts = useKnownAccounts();
  const { known } = useKnownAddresses();
  const rows = query.data?.rows;
  if (rows === undefined)
    return query.isPending ? (
      <LoadingRows what="the rows" rows={Math.min(countsOf(payout).total, LOADING_ROWS_MAX)} />
    ) : (
      <ErrorState compact error={query.error} money="Nothing was paid." onRetry={() => void query.refetch()} />
    );
  const nameOf = (id: string): string | undefined => {
    const account = accounts.find((one) => one.id === id);
    return account === undefined ? undefined : accountName(account);
  };
  return (
    <PagedRecipients rows={rows}>
      {({ index, recipient, amount, unit, reference, note }) => (
        <RecipientItem
          key={index}
          who={
            payout.kind === "wallets" ? (
              <WalletRecipient address={recipient} known={known} />
            ) : (
              <AccountRecipient id={recipient} name={nameOf(recipient)} />
            )
          }
          amount={amount}
          unit={unit}
          reference={[reference, note].find((text) => text !== "") ?? null}
        />
      )}
    </PagedRecipients>
  );
};
