"use client";

import type { ReactNode } from "react";
import { toast } from "@/components/ui/toast";
import { accountName } from "@/components/features/global-accounts/account";
import { useKnownAccounts } from "@/components/features/global-accounts/use-accounts";
import { codeOf } from "@/components/features/money-flow/api-error";
import { ApprovalDialog } from "@/components/features/money-flow/approval-dialog";
import type { MoneyProof } from "@/components/features/money-flow/types";
import { NamedAddress } from "@/components/features/names/named-address";
import { useSentOnce } from "@/components/features/session/use-sent-once";
import { Amount } from "@/components/ui/amount";
import { ChainName } from "@/components/ui/chain-name";
import { Fact, Facts } from "@/components/ui/card";
import { approvePayout } from "@/lib/api-client/calls.gen";
import { countText } from "@/lib/core/amount-text";
import { Actor } from "@/components/features/names/actor";
import { ApprovalRecipients } from "./approval-recipients";
import { FundingFacts } from "./funding-facts";
import { countsOf, totalsOf, type Payout } from "./payout";

const NOTHING_PAID = "Nothing was paid.";

const moneyAfter = (error: unknown): string =>
  codeOf(error) === "network_error"
    ? "Whether the code was accepted is not known. Approving again is safe: it is paid once."
    : NOTHING_PAID;

interface ApprovePayoutDialogProps {
  readonly payout: Payout;
  readonly open: boolean;
  readonly onOpenChange: (open: boolean) => void;
  readonly onApproved: (payout: Payout) => void;
}

export const ApprovePayoutDialog = (props: ApprovePayoutDialogProps): ReactNode => {
  const { payout, open, onOpenChange, onApproved } = props;
  const { mutation, send } = useSentOnce(approvePayout);
  const approve = async (proof: MoneyProof): Promise<void> => {
    const approved = await send({ params: { id: payout.payoutId }, body: proof });
    onOpenChange(false);
    onApproved(approved);
    toast.success("Approved. It is paid now.");
  };
  return (
    <ApprovalDialog
      open={open}
      onOpenChange={onOpenChange}
      title="Approve the payout"
      description="The code is good for exactly these rows, and for nothing else."
      subject={{ payoutId: payout.payoutId }}
      money={NOTHING_PAID}
      moneyAfter={moneyAfter}
      approval={mutation}
      onApprove={approve}
    >
      <PayoutFacts payout={payout} />
      <ApprovalRecipients payout={payout} />
    </ApprovalDialog>
  );
};

const SourceAccount = ({ id }: { readonly id: string }): ReactNode => {
  const source = useKnownAccounts().find((account) => account.id === id);
  return (
    <>
      {source === undefined ? null : <span className="block font-medium">{accountName(source)}</span>}
      <code className="font-mono text-sm break-all">{id}</code>
    </>
  );
};

const PayoutFacts = ({ payout }: { readonly payout: Payout }): ReactNode => {
  const { total } = countsOf(payout);
  return (
    <Facts className="border-b">
      {totalsOf(payout).map(({ unit, amount }) => (
        <Fact key={unit} label="You send" strong>
          <Amount value={amount} unit={unit} />
        </Fact>
      ))}
      <Fact label="To">{total === 1 ? "1 row" : `${countText(total)} rows`}</Fact>
      {payout.kind === "wallets" ? (
        <>
          {payout.account === null ? null : (
            <Fact label="Account">
              <SourceAccount id={payout.account.accountId} />
            </Fact>
          )}
          <Fact label="Chain">
            <ChainName chainId={payout.chainId} />
          </Fact>
          <Fact label="From">
            <NamedAddress value={payout.fromAddress} full />
          </Fact>
        </>
      ) : (
        <Fact label="From">
          <SourceAccount id={payout.sourceAccountId} />
        </Fact>
      )}
      {payout.kind === "wallets" && payout.funding !== null ? <FundingFacts funding={payout.funding} /> : null}
      {payout.reference === null ? null : <Fact label="Reference">{payout.reference}</Fact>}
      <Fact label="Created by">
        <Actor id={payout.createdBy} />
      </Fact>
    </Facts>
  );
};
