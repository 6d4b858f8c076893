"use client";

import { useQueryClient } from "@tanstack/react-query";
import { useRouter } from "next/navigation";
import { useState, type ReactNode } from "react";
import { NamedAddress } from "@/components/features/names/named-address";
import { pathOfPayout } from "@/components/features/payouts/payout";
import { queryKeyOf } from "@/components/features/session/query-key";
import { useSentOnce } from "@/components/features/session/use-sent-once";
import { Alert } from "@/components/ui/alert";
import { Amount } from "@/components/ui/amount";
import { Button } from "@/components/ui/button";
import { Fact, Facts } from "@/components/ui/card";
import { ChainName } from "@/components/ui/chain-name";
import { Dialog } from "@/components/ui/dialog";
import { ErrorState } from "@/components/ui/error-state";
import { Checkbox } from "@/components/ui/field";
import { getGlobalAccount } from "@/lib/contracts/global-accounts";
import { createWalletsPayout, listPayouts } from "@/lib/contracts/payouts";
import { accountName, type Account } from "../account";
import type { CheckedWithdrawal, WithdrawAnswer } from "./use-withdraw";

interface ReviewWithdrawalProps {
  readonly account: Account;
  readonly checked: CheckedWithdrawal;
  readonly onClose: () => void;
}

/** The receipt of what the service found right. Its page then asks for the code, and shows how far it is. */
export const ReviewWithdrawal = ({ account, checked, onClose }: ReviewWithdrawalProps): ReactNode => {
  const { answer, body } = checked;
  const router = useRouter();
  const queryClient = useQueryClient();
  const { mutation, send } = useSentOnce(createWalletsPayout);
  const [compared, setCompared] = useState(false);
  const isMistakable = answer.warnings.some(({ code }) => code === "lookalike_recipient");
  const create = async (): Promise<void> => {
    const payout = await send({ body }).catch(() => null);
    if (payout === null || payout.payoutId === null) return;
    void queryClient.invalidateQueries({ queryKey: queryKeyOf(listPayouts) });
    void queryClient.invalidateQueries({ queryKey: queryKeyOf(getGlobalAccount, { params: { id: account.id } }) });
    router.push(pathOfPayout({ ...payout, payoutId: payout.payoutId }));
  };
  return (
    <Dialog
      open
      onOpenChange={(open) => (open ? undefined : onClose())}
      title="Review the withdrawal"
      description="Nothing leaves the account before you approve it with a one-time code."
      footer={
        <>
          <Button onClick={onClose}>Back</Button>
          <Button
            variant="primary"
            loading={mutation.isPending}
            disabled={isMistakable && !compared}
            onClick={() => void create()}
          >
            Withdraw
          </Button>
        </>
      }
    >
      <div className="flex flex-col gap-4">
        <WithdrawalFacts account={account} checked={checked} />
        {answer.warnings.length === 0 ? null : (
          <Alert tone="warning" title="Look at the recipient again">
            {answer.warnings.map(({ code, message }) => (
              <p key={code} className="wrap-anywhere">
                {message}
              </p>
            ))}
            {isMistakable ? (
              <Checkbox
                label="I have compared the whole address."
                checked={compared}
                onChange={(event) => setCompared(event.target.checked)}
              />
            ) : null}
          </Alert>
        )}
        {mutation.error === null ? null : <ErrorState compact error={mutation.error} money="Nothing was withdrawn." />}
      </div>
    </Dialog>
  );
};

const WithdrawalFacts = ({ account, checked }: Omit<ReviewWithdrawalProps, "onClose">): ReactNode => {
  const { answer, body } = checked;
  const [row] = body.transfers;
  const [total] = answer.totals;
  if (row === undefined || total === undefined) return null;
  return (
    <Facts>
      <Fact label="From">
        <span className="block font-medium">{accountName(account)}</span>
        <code className="font-mono text-sm break-all">{account.id}</code>
      </Fact>
      <Fact label="To">
        <NamedAddress value={row.address} full />
      </Fact>
      <Fact label="Chain">
        <ChainName chainId={answer.chainId} />
      </Fact>
      <Fact label="You withdraw" strong>
        <Amount value={total.amount} unit={account.currency} />
      </Fact>
      <Fact label="They receive" strong>
        <Amount value={total.amount} unit={total.token.symbol} />
      </Fact>
      <NetworkFee fee={answer.networkFee} />
      {answer.reference === null ? null : <Fact label="Reference">{answer.reference}</Fact>}
    </Facts>
  );
};

const NetworkFee = ({ fee }: { readonly fee: WithdrawAnswer["networkFee"] }): ReactNode =>
  fee === null ? null : (
    <Fact label="Network fee, estimated">
      <Amount value={fee.amount} unit={fee.token.symbol} />
      <span className="block text-sm text-fg-3">
        {fee.paidBy === "sponsor" ? "paid by the project's sponsor" : "paid by the treasury"}, not by the account
      </span>
    </Fact>
  );
