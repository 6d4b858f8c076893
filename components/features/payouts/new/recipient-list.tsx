"use client";

import { useMemo, useState, type ReactNode } from "react";
import { accountName } from "@/components/features/global-accounts/account";
import { useKnownAccounts } from "@/components/features/global-accounts/use-accounts";
import { useKnownAddresses } from "@/components/features/transfer/use-known-addresses";
import { Button } from "@/components/ui/button";
import { countText } from "@/lib/core/amount-text";
import { RecipientItem, WalletRecipient } from "../recipient-item";
import type { Checked, NewPayout } from "./use-new-payout";

const ROWS_SHOWN = 50;

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
        who: (
          <>
            <span className="block">{names.get(recipientAccountId) ?? "Account"}</span>
            <code className="block font-mono text-xs break-all text-fg-2">{recipientAccountId}</code>
          </>
        ),
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

/** Every recipient, a page at a time. */
export const RecipientList = (props: RecipientListProps): ReactNode => {
  const recipients = useRecipients(props);
  const [shown, setShown] = useState(ROWS_SHOWN);
  return (
    <section aria-label="Recipients" className="rounded-card border">
      <ol className="divide-y">
        {recipients.slice(0, shown).map((recipient, index) => {
          const { who, amount, unit, reference } = recipient();
          return <RecipientItem key={index} who={who} amount={amount} unit={unit} reference={reference ?? null} />;
        })}
      </ol>
      {shown < recipients.length ? (
        <div className="flex justify-center border-t py-2">
          <Button size="sm" onClick={() => setShown(shown + ROWS_SHOWN)}>
            Show more ({countText(recipients.length - shown)} left)
          </Button>
        </div>
      ) : null}
    </section>
  );
};
