"use client";

import { ArrowRight } from "lucide-react";
import { useId, type ReactNode } from "react";
import { useController } from "react-hook-form";
import { ApiSnippet } from "@/components/features/api-snippet/api-snippet";
import { AmountEntry } from "@/components/features/money-flow/amount-entry";
import { codeOf } from "@/components/features/money-flow/api-error";
import { EmailNotice } from "@/components/features/money-flow/email-notice";
import type { SwapSetup } from "@/components/features/swap/use-swap-setup";
import { RecipientField } from "@/components/features/transfer/recipient-field";
import { Desk } from "@/components/layout/desk";
import { Amount } from "@/components/ui/amount";
import { Button } from "@/components/ui/button";
import { Card, Fact, Facts } from "@/components/ui/card";
import { Combobox } from "@/components/ui/combobox";
import { ErrorState } from "@/components/ui/error-state";
import { Field, Input } from "@/components/ui/field";
import { Form } from "@/components/ui/form";
import { chainOption } from "@/components/ui/marked-options";
import { createWalletsPayout } from "@/lib/contracts/payouts";
import { readAmount } from "@/lib/core/read-amount";
import { accountName, type Account } from "../account";
import { ReviewWithdrawal } from "./review-withdrawal";
import { useWithdraw, type Withdrawing } from "./use-withdraw";

interface WithdrawDeskProps {
  readonly account: Account;
  readonly setup: SwapSetup;
}

/** The form, its receipt, and the review after which a code approves it. */
export const WithdrawDesk = ({ account, setup }: WithdrawDeskProps): ReactNode => {
  const withdrawing = useWithdraw(account, setup);
  const { form, body, checked, check, obstacle } = withdrawing;
  const example = {
    ...{ sourceAccountId: account.id, chainId: setup.chains[0]?.id ?? 1 },
    transfers: [{ address: "0x…", amount: "12.5", token: account.currency }],
  };
  return (
    <>
      <Form form={form} onSubmit={() => (obstacle === null ? check() : Promise.resolve())} aria-label="Withdrawal">
        <Desk
          fields={
            <>
              <EmailNotice />
              <AmountCard account={account} setup={setup} withdrawing={withdrawing} />
              <RecipientCard withdrawing={withdrawing} />
              <ApiSnippet method={createWalletsPayout.method} path={createWalletsPayout.path} body={body ?? example} />
            </>
          }
          receipt={<Receipt account={account} withdrawing={withdrawing} />}
        />
      </Form>
      {checked === null ? null : <ReviewWithdrawal account={account} checked={checked} onClose={withdrawing.back} />}
    </>
  );
};

interface PartProps {
  readonly withdrawing: Withdrawing;
}

/** How much, and on which chain; each chain with what the treasury can pay there. */
const AmountCard = ({ account, setup, withdrawing }: WithdrawDeskProps & PartProps): ReactNode => {
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
              .map((chain) => {
                const amount = held(String(chain.id));
                return {
                  ...chainOption(chain),
                  keywords: [chain.name],
                  ...(amount === null
                    ? {}
                    : {
                        aside: <Amount value={amount} symbol={account.currency} plain className="text-sm text-fg-2" />,
                      }),
                };
              })}
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

const RecipientCard = ({ withdrawing: { form, recipient, serverErrors, choose } }: PartProps): ReactNode => {
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
        <Field label="Reference, optional" error={errors.reference?.message ?? serverErrors.reference}>
          <Input placeholder="Withdrawal May" {...form.register("reference")} />
        </Field>
      </div>
    </Card>
  );
};

const Receipt = ({ account, withdrawing }: Pick<WithdrawDeskProps, "account"> & PartProps): ReactNode => {
  const { values, token, obstacle, error, checking, check } = withdrawing;
  const reasonId = useId();
  const amount = readAmount(values.amount);
  return (
    <Card title="Receipt" flush>
      <Facts className="px-4 py-2">
        <Fact label="From">{accountName(account)}</Fact>
        <Fact label="You withdraw" strong>
          {amount === null ? "–" : <Amount value={amount} unit={account.currency} />}
        </Fact>
        <Fact label="They receive" strong>
          {amount === null ? "–" : <Amount value={amount} unit={token?.symbol ?? account.currency} />}
        </Fact>
        <Fact label="Fees">
          none from the account
          <span className="block text-sm text-fg-3">the project pays the network fee</span>
        </Fact>
      </Facts>
      {error === null ? null : (
        <div className="p-4">
          <ErrorState compact error={error} money="Nothing was withdrawn." onRetry={() => void check()} />
          {codeOf(error) === "duplicate_payout" ? (
            <Button className="mt-2" onClick={() => void check(true)}>
              Withdraw it again
            </Button>
          ) : null}
        </div>
      )}
      <div className="flex flex-wrap items-center justify-end gap-2 border-t px-4 py-3">
        <p id={reasonId} className="mr-auto text-sm text-fg-3">
          {obstacle}
        </p>
        <Button
          type="submit"
          variant="primary"
          loading={checking}
          disabled={obstacle !== null}
          aria-describedby={reasonId}
        >
          Review <ArrowRight aria-hidden />
        </Button>
      </div>
    </Card>
  );
};
