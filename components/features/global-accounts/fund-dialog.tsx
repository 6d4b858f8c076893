"use client";

import { zodResolver } from "@hookform/resolvers/zod";
import { Droplets } from "lucide-react";
import { type ReactNode, useMemo } from "react";
import { useForm } from "react-hook-form";
import { ApiSnippet } from "@/components/features/api-snippet/api-snippet";
import { useFund } from "@/components/features/faucet/fund";
import { codeOf } from "@/components/features/money-flow/api-error";
import { ReadAs } from "@/components/features/money-flow/read-as";
import { type Reserve, useReserves } from "@/components/features/reserves/use-reserves";
import { useSentOnce, useCache } from "@/components/features/session/use-api";
import { isZero } from "@/components/features/swap/decimal";
import { useTreasury } from "@/components/features/wallets/use-wallets";
import { usePublicConfig } from "@/components/providers/public-config";
import { Address } from "@/components/ui/address";
import { Amount } from "@/components/ui/amount";
import { Button } from "@/components/ui/button";
import { Fact, Facts } from "@/components/ui/card";
import { describeError } from "@/components/ui/describe-error";
import { Dialog } from "@/components/ui/dialog";
import { TextField, DialogForm } from "@/components/ui/form";
import { useHideableText } from "@/components/ui/hidden-amounts";
import { ChainName } from "@/components/ui/marks";
import { QueryContent, type QueryState } from "@/components/ui/states";
import { toast } from "@/components/ui/toast";
import {
  fundGlobalAccount,
  getReserves,
  getUnifiedBalances,
  listEntries,
  listGlobalAccounts,
} from "@/lib/api-client/calls.gen";
import { readAmount, typedAmount } from "@/lib/core/read-amount";
import { type Account, accountName, accountQuery, useCurrencies } from "./account";
import { fundForm, missing } from "./fund-model";

interface FundDialogProps {
  readonly account: Account;
  readonly onClose: () => void;
}

export const FundDialog = ({ account, onClose }: FundDialogProps): ReactNode => {
  const funding = useFunding(account, onClose);
  const { form, typed, short, reserve, mutation } = funding;
  const max =
    reserve === undefined || reserve.available.startsWith("-") ? "0" : reserve.available;
  const lacksReserves = codeOf(mutation.error) === "insufficient_reserves";
  return (
    <Dialog
      onClose={onClose}
      title={`Fund ${accountName(account)}`}
      description="Counts a part of the treasury's money to this account. Nothing moves on chain."
    >
      <DialogForm
        form={form}
        error={lacksReserves ? null : mutation.error}
        onSubmit={funding.submit}
        onChange={() => mutation.reset()}
        money="The account is as it was."
        act="Fund account"
        busy={mutation.isPending}
        onCancel={onClose}
        snippet={
          <ApiSnippet
            call={fundGlobalAccount}
            params={{ id: account.id }}
            body={funding.body}
          />
        }
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
        <ReserveFacts reserves={funding.reserves} reserve={reserve} account={account} />
        {short !== null || lacksReserves ? <NotEnough account={account} short={short} /> : null}
      </DialogForm>
    </Dialog>
  );
};

const useFunding = (account: Account, onClose: () => void) => {
  const cache = useCache();
  const reserves = useReserves();
  const resolver = useMemo(() => zodResolver(fundForm(account)), [account]);
  const form = useForm({ resolver, defaultValues: { amount: "" } });
  const { mutation, send } = useSentOnce(fundGlobalAccount);
  const hideable = useHideableText();
  const reserve = reserves.data?.data.find(({ assetId }) => assetId === account.assetId);
  const typed = form.watch("amount");
  // Until the reserves are loaded, only the service checks the amount.
  const short =
    reserves.data === undefined ? null : missing(typed, reserve?.available ?? "0", account);
  const body = { amount: readAmount(typed) ?? "100", currency: account.assetId };
  const submit = async ({ amount }: { readonly amount: string }): Promise<void> => {
    if (short !== null) return;
    const params = { id: account.id };
    const funding = await send({ params, body: { amount, currency: account.assetId } }).catch(
      () => null,
    );
    void cache.refresh(getReserves, getUnifiedBalances);
    if (funding === null) return;
    toast.success(
      hideable(`${funding.amount} ${account.currency} went into ${accountName(account)}.`),
    );
    void cache.refresh(accountQuery(account.id), listGlobalAccounts, listEntries);
    onClose();
  };
  return { form, typed, short, reserve, reserves, mutation, body, submit };
};

interface NotEnoughProps {
  readonly account: Account;
  /** The missing amount; null when only the service found that the reserves are too small. */
  readonly short: string | null;
}

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
      Accounts may not hold more than the treasury does. Send {account.currency} to the
      treasury, on any of its chains, or lower the amount; nothing was moved.
    </p>
    <FundTreasury account={account} />
  </div>
);

const GIFT = "1000";

const FundTreasury = ({ account }: { readonly account: Account }): ReactNode => {
  const treasury = useTreasury();
  const { devnet } = usePublicConfig();
  if (treasury === undefined) return null;
  return (
    <div className="flex flex-col gap-2">
      <span className="flex flex-wrap items-center gap-x-2">
        Treasury <Address value={treasury.address} full />
      </span>
      {devnet ? <Gifts account={account} /> : null}
    </div>
  );
};

const Gifts = ({ account }: { readonly account: Account }): ReactNode => {
  const cache = useCache();
  const { mutate, isPending, variables, ready } = useFund();
  const tokens =
    useCurrencies()?.find(({ assetId }) => assetId === account.assetId)?.tokens ?? [];
  return (
    <div className="flex flex-wrap gap-2">
      {tokens.map(({ chainId, symbol }) => (
        <Button
          key={chainId}
          size="sm"
          disabled={!ready || isPending}
          loading={isPending && variables.chainId === chainId}
          onClick={() =>
            mutate(
              { chainId, token: symbol, amount: GIFT },
              {
                onSuccess: () => void cache.refresh(getReserves),
                onError: (error) => toast.error(describeError(error).message),
              },
            )
          }
        >
          <Droplets aria-hidden /> 1,000 {symbol} on <ChainName chainId={chainId} />
        </Button>
      ))}
    </div>
  );
};

interface ReserveFactsProps {
  readonly reserves: QueryState<unknown>;
  /** Undefined when the treasury does not hold the asset. */
  readonly reserve: Reserve | undefined;
  readonly account: Account;
}

const ReserveFacts = ({ reserves, reserve, account }: ReserveFactsProps): ReactNode => {
  const stale = reserve?.chains.some((chain) => chain.stale) === true;
  const amount = (value: string | undefined): ReactNode => (
    <Amount value={value ?? "0"} unit={account.currency} />
  );
  return (
    <QueryContent
      query={reserves}
      what="the reserves"
      compact
      money="The money in the treasury is untouched."
    >
      {() => (
        <Facts className="border-y">
          <Fact label="Total, on chain">{amount(reserve?.onChain)}</Fact>
          <Fact label="Reserved">{amount(reserve?.committed)}</Fact>
          <Fact label="Backs accounts">{amount(reserve?.liabilities)}</Fact>
          <Fact label="Available" strong>
            {amount(reserve?.available)}
          </Fact>
          {stale ? (
            <Fact label="A chain does not answer">its balances are not counted</Fact>
          ) : null}
        </Facts>
      )}
    </QueryContent>
  );
};
