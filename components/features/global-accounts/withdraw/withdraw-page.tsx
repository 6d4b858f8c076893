"use client";

import Link from "next/link";
import type { ReactNode } from "react";
import { useController } from "react-hook-form";
import { ApiSnippet } from "@/components/features/api-snippet/api-snippet";
import { AmountEntry } from "@/components/features/money-flow/amount-entry";
import { codeOf } from "@/components/features/money-flow/api-error";
import { EmailNotice } from "@/components/features/money-flow/email-notice";
import { ReviewBar } from "@/components/features/money-flow/quote-shell";
import { type SwapSetup, useSwapSetup } from "@/components/features/swap/use-swap-setup";
import { RecipientField } from "@/components/features/transfer/recipient-field";
import { Desk, DeskSkeleton } from "@/components/layout/desk";
import { Alert } from "@/components/ui/alert";
import { Amount } from "@/components/ui/amount";
import { Button } from "@/components/ui/button";
import { buttonLooks } from "@/components/ui/button-looks";
import { Card, Fact, Facts } from "@/components/ui/card";
import { Combobox } from "@/components/ui/combobox";
import { Field, Input } from "@/components/ui/field";
import { Form } from "@/components/ui/form";
import { chainOption } from "@/components/ui/marks";
import { PageHeader } from "@/components/ui/page-header";
import { ErrorState, joinQueries, QueryPanel } from "@/components/ui/states";
import { createWalletsPayout } from "@/lib/contracts/payouts";
import { readAmount } from "@/lib/core/read-amount";
import { type Account, accountName, useAccount } from "../account";
import { useWithdraw, type Withdrawing } from "./use-withdraw";

const MONEY = "The money in the account is untouched.";

export const WithdrawPage = ({ accountId }: { readonly accountId: string }): ReactNode => {
  const query = useAccount(accountId);
  const setup = useSwapSetup();
  const account = query.data;
  const parts =
    account === undefined || setup.data === undefined
      ? undefined
      : { account, setup: setup.data };
  // The error of one failed query is shown at once, even while the other query is loading.
  const failed = [query, setup].filter(
    ({ data, isPending }) => data === undefined && !isPending,
  );
  return (
    <>
      <PageHeader
        title={account === undefined ? "Withdraw" : `Withdraw from ${accountName(account)}`}
        description="Pays out of the account to an address on a chain."
        actions={
          <Link href={`/accounts/${accountId}`} className={buttonLooks()}>
            Back to the account
          </Link>
        }
      />
      {account !== undefined && account.status !== "active" ? (
        <Alert tone="warning" title={`This account is ${account.status}`}>
          Nothing leaves it. {account.statusReason}
        </Alert>
      ) : (
        <QueryPanel
          query={joinQueries(failed.length > 0 ? failed : [query, setup], parts)}
          what="the account"
          money={MONEY}
          loading={<DeskSkeleton what="the account" />}
        >
          {(data) => <WithdrawDesk account={data.account} setup={data.setup} />}
        </QueryPanel>
      )}
    </>
  );
};

interface WithdrawDeskProps {
  readonly account: Account;
  readonly setup: SwapSetup;
}

const WithdrawDesk = ({ account, setup }: WithdrawDeskProps): ReactNode => {
  const withdrawing = useWithdraw(account, setup);
  const { form, body, review, obstacle } = withdrawing;
  const example = {
    sourceAccountId: account.id,
    chainId: setup.chains[0]?.id ?? 1,
    transfers: [{ address: "0x…", amount: "12.5", token: account.currency }],
  };
  return (
    <>
      <Form
        form={form}
        onSubmit={() => (obstacle === null ? review() : Promise.resolve())}
        aria-label="Withdrawal"
      >
        <Desk
          fields={
            <>
              <EmailNotice />
              <AmountCard account={account} setup={setup} withdrawing={withdrawing} />
              <RecipientCard withdrawing={withdrawing} />
              <ApiSnippet call={createWalletsPayout} body={body ?? example} />
            </>
          }
          receipt={<Receipt account={account} withdrawing={withdrawing} />}
        />
      </Form>
    </>
  );
};

interface PartProps {
  readonly withdrawing: Withdrawing;
}

const AmountCard = ({
  account,
  setup,
  withdrawing,
}: WithdrawDeskProps & PartProps): ReactNode => {
  const { form, values, token, spendable, serverErrors, choose, held, chainIds } = withdrawing;
  const { errors } = form.formState;
  const { field } = useController({ control: form.control, name: "amount" });
  return (
    <Card title="You withdraw">
      <div className="flex flex-col gap-3">
        <AmountEntry
          label="Amount"
          maxLabel="Use all"
          value={field.value}
          onChange={field.onChange}
          onChoose={(text) => choose("amount", text)}
          onBlur={field.onBlur}
          name={field.name}
          inputRef={field.ref}
          token={token}
          spendable={spendable}
          error={errors.amount?.message ?? serverErrors.amount}
        />
        <Field
          label="On chain"
          error={errors.chainId?.message ?? serverErrors.chainId}
          hint="The treasury pays, with what it holds on this chain."
        >
          <Combobox
            options={setup.chains
              .filter(({ id }) => chainIds.includes(String(id)))
              .map((chain) => ({
                ...chainOption(chain),
                keywords: [chain.name],
                aside: (
                  <HeldOnChain amount={held(String(chain.id))} symbol={account.currency} />
                ),
              }))}
            value={values.chainId}
            onValueChange={(chainId) => choose("chainId", chainId)}
            searchPlaceholder="Chain"
            emptyText="The asset is not on such a chain."
          />
        </Field>
      </div>
    </Card>
  );
};

interface HeldOnChainProps {
  /** Null when unknown. */
  readonly amount: string | null;
  readonly symbol: string;
}

const HeldOnChain = ({ amount, symbol }: HeldOnChainProps): ReactNode =>
  amount === null ? null : (
    <Amount value={amount} symbol={symbol} plain className="text-sm text-fg-2" />
  );

const RecipientCard = ({
  withdrawing: { form, recipient, serverErrors, choose },
}: PartProps): ReactNode => {
  const { errors } = form.formState;
  return (
    <Card title="They receive">
      <div className="flex flex-col gap-3">
        <RecipientField
          recipient={recipient}
          error={errors.toAddress?.message ?? serverErrors.toAddress}
          input={form.register("toAddress")}
          onChoose={(address) => choose("toAddress", address)}
        />
        <Field
          label="Reference, optional"
          error={errors.reference?.message ?? serverErrors.reference}
        >
          <Input placeholder="Withdrawal May" {...form.register("reference")} />
        </Field>
      </div>
    </Card>
  );
};

const Receipt = ({
  account,
  withdrawing,
}: Pick<WithdrawDeskProps, "account"> & PartProps): ReactNode => {
  const { values, token, obstacle, error, pending, review } = withdrawing;
  const amount = readAmount(values.amount);
  return (
    <Card title="Receipt" flush>
      <Facts className="px-4 py-2">
        <Fact label="From">{accountName(account)}</Fact>
        <Fact label="You withdraw" strong>
          {amount === null ? "–" : <Amount value={amount} unit={account.currency} />}
        </Fact>
        <Fact label="They receive" strong>
          {amount === null ? (
            "–"
          ) : (
            <Amount value={amount} unit={token?.symbol ?? account.currency} />
          )}
        </Fact>
        <Fact label="Fees">
          none from the account
          <span className="block text-sm text-fg-3">the project pays the network fee</span>
        </Fact>
      </Facts>
      {error === null ? null : (
        <div className="p-4">
          <ErrorState
            compact
            error={error}
            money="Nothing was withdrawn."
            onRetry={() => void review()}
          />
          {codeOf(error) === "duplicate_payout" ? (
            <Button className="mt-2" onClick={() => void review(true)}>
              Withdraw it again
            </Button>
          ) : null}
        </div>
      )}
      <ReviewBar reason={obstacle} loading={pending} />
    </Card>
  );
};
