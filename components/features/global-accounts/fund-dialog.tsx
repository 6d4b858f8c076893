"use client";

import { zodResolver } from "@hookform/resolvers/zod";
import { useQueryClient } from "@tanstack/react-query";
import { useMemo, type ReactNode } from "react";
import { useForm } from "react-hook-form";
import { toast } from "@/components/ui/toast";
import { ApiSnippet } from "@/components/features/api-snippet/api-snippet";
import { codeOf } from "@/components/features/money-flow/api-error";
import { ReadAs } from "@/components/features/money-flow/read-as";
import { isZero } from "@/components/features/overview/sums";
import { useReserves, type Reserve } from "@/components/features/reserves/use-reserves";
import { queryKeyOf } from "@/components/features/session/query-key";
import { useSentOnce } from "@/components/features/session/use-sent-once";
import { Amount } from "@/components/ui/amount";
import { Button } from "@/components/ui/button";
import { useHideableText } from "@/components/ui/hideable-text";
import { Dialog } from "@/components/ui/dialog";
import { Form, FormError, TextField } from "@/components/ui/form";
import {
  fundGlobalAccount,
  getGlobalAccount,
  getReserves,
  listEntries,
  listGlobalAccounts,
} from "@/lib/api-client/calls.gen";
import { readAmount, typedAmount } from "@/lib/core/read-amount";
import { accountName, type Account } from "./account";
import { fundForm, missing } from "./fund-model";
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
  const { form, typed, short, reserve, reserves, mutation, body, submit } = useFunding(account, onClose);
  const max = reserve === undefined || reserve.available.startsWith("-") ? "0" : reserve.available;
  const lacksReserves = codeOf(mutation.error) === "insufficient_reserves";
  return (
    <Form
      form={form}
      error={lacksReserves ? null : mutation.error}
      onSubmit={submit}
      className="flex flex-col gap-4"
      onChange={() => mutation.reset()}
    >
      <TextField
        control={form.control}
        name="amount"
        label={`Amount in ${account.currency}`}
        aside={
          <Button
            variant="link"
            className="h-5"
            disabled={isZero(max)}
            onClick={() => {
              mutation.reset();
              form.setValue("amount", typedAmount(max), { shouldValidate: true });
            }}
          >
            Use all that is available
          </Button>
        }
        hint={<ReadAs value={typed} read={readAmount(typed)} symbol={account.currency} />}
        input={{ numeric: true, placeholder: typedAmount("0.0"), autoFocus: true }}
      />
      <ReserveFacts reserves={reserves} reserve={reserve} account={account} />
      {short !== null || lacksReserves ? <NotEnough account={account} short={short} /> : null}
      <FormError money="The account is as it was." />
      <ApiSnippet method="POST" path={fundGlobalAccount.path.replace("{id}", account.id)} body={body} />
      <div className="flex justify-end gap-2">
        <Button onClick={onClose}>Cancel</Button>
        <Button type="submit" variant="primary" loading={mutation.isPending}>
          Fund account
        </Button>
      </div>
    </Form>
  );
};

const useFunding = (account: Account, onClose: () => void) => {
  const queryClient = useQueryClient();
  const reserves = useReserves();
  const resolver = useMemo(() => zodResolver(fundForm(account)), [account]);
  const form = useForm({ resolver, defaultValues: { amount: "" } });
  const { mutation, send } = useSentOnce(fundGlobalAccount);
  const hideable = useHideableText();
  const reserve: Reserve | undefined = reserves.data?.data.find(({ assetId }) => assetId === account.assetId);
  const typed = form.watch("amount");
  // While the reserves are not known, the service checks the amount.
  const short = reserves.data === undefined ? null : missing(typed, reserve?.available ?? "0", account);
  const body = { amount: readAmount(typed) ?? "100", currency: account.assetId };
  const submit = async ({ amount }: { readonly amount: string }): Promise<void> => {
    if (short !== null) return;
    const params = { id: account.id };
    const funding = await send({ params, body: { amount, currency: account.assetId } }).catch(() => null);
    void queryClient.invalidateQueries({ queryKey: queryKeyOf(getReserves) });
    if (funding === null) return;
    toast.success(hideable(`${funding.amount} ${account.currency} went into ${accountName(account)}.`));
    for (const queryKey of [
      queryKeyOf(getGlobalAccount, { params }),
      queryKeyOf(listGlobalAccounts),
      queryKeyOf(listEntries),
    ])
      void queryClient.invalidateQueries({ queryKey });
    onClose();
  };
  return { form, typed, short, reserve, reserves, mutation, body, submit };
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
