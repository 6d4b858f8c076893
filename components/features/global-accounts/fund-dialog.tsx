"use client";

import { useQueryClient } from "@tanstack/react-query";
import { useState, type ReactNode } from "react";
import { toast } from "sonner";
import { ApiSnippet } from "@/components/features/api-snippet/api-snippet";
import { codeOf } from "@/components/features/money-flow/api-error";
import { isZero } from "@/components/features/overview/sums";
import { useReserves, type Reserve } from "@/components/features/reserves/use-reserves";
import { queryKeyOf } from "@/components/features/session/use-api";
import { useSentOnce } from "@/components/features/session/use-sent-once";
import { Amount } from "@/components/ui/amount";
import { Button } from "@/components/ui/button";
import { Dialog } from "@/components/ui/dialog";
import { ErrorState } from "@/components/ui/error-state";
import { Field, Input } from "@/components/ui/field";
import { fundGlobalAccount, getGlobalAccount, listEntries, listGlobalAccounts } from "@/lib/contracts/global-accounts";
import { getReserves } from "@/lib/contracts/reserves";
import { accountName, type Account } from "./account";
import { amountProblem, missing } from "./fund-model";
import { FundTreasury } from "./fund-treasury";
import { ReserveFacts } from "./reserve-facts";

interface FundDialogProps {
  readonly account: Account;
  readonly open: boolean;
  readonly onOpenChange: (open: boolean) => void;
}

export const FundDialog = ({ account, open, onOpenChange }: FundDialogProps): ReactNode => (
  <Dialog
    open={open}
    onOpenChange={onOpenChange}
    title={`Fund ${accountName(account)}`}
    description="Counts a part of the treasury's money to this account. Nothing moves on chain."
  >
    <FundForm account={account} onClose={() => onOpenChange(false)} />
  </Dialog>
);

interface FormProps {
  readonly account: Account;
  readonly onClose: () => void;
}

const FundForm = ({ account, onClose }: FormProps): ReactNode => {
  const { amount, setAmount, problem, short, reserve, reserves, mutation, body, submit } = useFunding(account, onClose);
  const max = reserve === undefined || reserve.available.startsWith("-") ? "0" : reserve.available;
  return (
    <form
      className="flex flex-col gap-4"
      noValidate
      onSubmit={(event) => {
        event.preventDefault();
        void submit();
      }}
    >
      <Field
        label={`Amount in ${account.currency}`}
        error={problem}
        aside={
          <Button variant="link" className="h-5" disabled={isZero(max)} onClick={() => setAmount(max)}>
            All that is available
          </Button>
        }
      >
        <Input numeric placeholder="0.0" value={amount} onChange={(event) => setAmount(event.target.value)} autoFocus />
      </Field>
      <ReserveFacts reserves={reserves} reserve={reserve} account={account} />
      {short !== null || codeOf(mutation.error) === "insufficient_reserves" ? (
        <NotEnough account={account} short={short} />
      ) : null}
      {mutation.isError && codeOf(mutation.error) !== "insufficient_reserves" ? (
        <ErrorState compact error={mutation.error} money="The account is as it was." />
      ) : null}
      <ApiSnippet method="POST" path={fundGlobalAccount.path.replace("{id}", account.id)} body={body} />
      <div className="flex justify-end gap-2">
        <Button onClick={onClose}>Cancel</Button>
        <Button type="submit" variant="primary" loading={mutation.isPending}>
          Fund account
        </Button>
      </div>
    </form>
  );
};

const useFunding = (account: Account, onClose: () => void) => {
  const queryClient = useQueryClient();
  const reserves = useReserves();
  const [amount, setAmount] = useState("");
  const [tried, setTried] = useState(false);
  const { mutation, send } = useSentOnce(fundGlobalAccount);
  const reserve: Reserve | undefined = reserves.data?.data.find(({ assetId }) => assetId === account.assetId);
  const wrong = amountProblem(amount, account);
  // What is not known yet is left to the service to refuse.
  const short = reserves.data === undefined ? null : missing(amount, reserve?.available ?? "0", account);
  const body = { amount: amount.trim() === "" ? "100" : amount.trim(), currency: account.assetId };
  const submit = async (): Promise<void> => {
    setTried(true);
    if (wrong !== null || short !== null) return;
    const params = { id: account.id };
    const funding = await send({ params, body }).catch(() => null);
    void queryClient.invalidateQueries({ queryKey: queryKeyOf(getReserves) });
    if (funding === null) return;
    toast.success(`${funding.amount} ${account.currency} went into ${accountName(account)}.`);
    for (const queryKey of [
      queryKeyOf(getGlobalAccount, { params }),
      queryKeyOf(listGlobalAccounts),
      queryKeyOf(listEntries),
    ])
      void queryClient.invalidateQueries({ queryKey });
    onClose();
  };
  const change = (text: string): void => {
    setAmount(text);
    mutation.reset();
  };
  return { amount, setAmount: change, problem: tried ? wrong : null, short, reserve, reserves, mutation, body, submit };
};

interface NotEnoughProps {
  readonly account: Account;
  /** Null: it was enough by what this page knows, but not by what the service knows. */
  readonly short: string | null;
}

/** How much is missing, and how it can be had. */
const NotEnough = ({ account, short }: NotEnoughProps): ReactNode => (
  <div role="alert" className="flex flex-col gap-2 rounded-card bg-warning-tint px-3 py-2.5">
    <p className="font-semibold text-warning">
      {short === null ? (
        "The reserves are not enough"
      ) : (
        <>
          <Amount value={short} unit={account.currency} /> more than the reserves have
        </>
      )}
    </p>
    <p>
      Accounts may not hold more than the treasury does. Send {account.currency} to the treasury, on any of its chains,
      or lower the amount; nothing was moved.
    </p>
    <FundTreasury account={account} />
  </div>
);
