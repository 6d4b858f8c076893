"use client";

import { useMemo, type ReactNode } from "react";
import { accountName } from "@/components/features/global-accounts/account";
import { useKnownAccounts } from "@/components/features/global-accounts/use-accounts";
import { useKnownAddresses } from "@/components/features/transfer/use-known-addresses";
import { PagedRecipients } from "../paged-recipients";
import { AccountRecipient, RecipientItem, WalletRecipient } from "../recipient-item";
import type { Checked, NewPayout } from "./use-new-payout";

interface RecipientListProps {
  readonly checked: Checked;
  readonly form: NewPayout;
}

interface Recipient {
  readonly who: ReactNode;
  readonly amount: string;
  readonly unit: string;
  readonly reference: string | undefined;
}

/** Rows as the review shows them: whole addresses and ids. */
const useRecipients = ({ checked, form }: RecipientListProps): readonly (() => Recipient)[] => {
  const accounts = useKnownAccounts();
  const { known } = useKnownAddresses();
  const { wallets, source } = form.target;
  return useMemo(() => {
    if (checked.kind === "global_accounts") {
      const names = new Map(accounts.map((account) => [account.id, accountName(account)]));
      return checked.body.transfers.map(({ recipientAccountId, amount, reference }) => () => ({
        who: <AccountRecipient id={recipientAccountId} name={names.get(recipientAccountId)} />,
        amount,
        unit: source?.currency ?? "",
        reference,
      }));
    }
    const symbols = new Map((wallets?.tokens ?? []).map((token) => [token.address, token.symbol]));
    return checked.body.transfers.map(({ address, amount, token, reference }) => () => ({
      who: <WalletRecipient address={address} known={known} />,
      amount,
      unit: symbols.get(token) ?? token,
      reference,
    }));
  }, [checked, accounts, known, wallets, source?.currency]);
};

export const RecipientList = (props: RecipientListProps): ReactNode => {
  const recipients = useRecipients(props);
  return (
    <section aria-label="Recipients" className="rounded-card border">
      <PagedRecipients rows={recipients}>
        {(recipient, index) => {
          const { who, amount, unit, reference } = recipient();
          return <RecipientItem key={index} who={who} amount={amount} unit={unit} reference={reference ?? null} />;
        }}
      </PagedRecipients>
    </section>
  );
};
