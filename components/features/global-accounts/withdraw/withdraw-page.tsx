"use client";

import Link from "next/link";
import { useRouter } from "next/navigation";
import { type ReactNode, useState } from "react";
import { useController } from "react-hook-form";
import { ApiSnippet } from "@/components/features/api-snippet/api-snippet";
import { AmountEntry } from "@/components/features/money-flow/amount-entry";
import { codeOf } from "@/components/features/money-flow/api-error";
import { EmailNotice } from "@/components/features/money-flow/email-notice";
import { ReviewBar } from "@/components/features/money-flow/quote-shell";
import { NamedAddress } from "@/components/features/names/names";
import { pathOfPayout } from "@/components/features/payouts/payout";
import { useSentOnce, useCache } from "@/components/features/session/use-api";
import { type SwapSetup, useSwapSetup } from "@/components/features/swap/use-swap-setup";
import { RecipientField } from "@/components/features/transfer/recipient-field";
import { WarningList } from "@/components/features/warnings/warnings";
import { Desk, DeskSkeleton } from "@/components/layout/desk";
import { Alert } from "@/components/ui/alert";
import { Amount } from "@/components/ui/amount";
import { Button } from "@/components/ui/button";
import { buttonLooks } from "@/components/ui/button-looks";
import { Card, Fact, Facts } from "@/components/ui/card";
import { Combobox } from "@/components/ui/combobox";
import { Dialog } from "@/components/ui/dialog";
import { Checkbox, Field, Input } from "@/components/ui/field";
import { Form } from "@/components/ui/form";
import { ChainName, chainOption } from "@/components/ui/marks";
import { PageHeader } from "@/components/ui/page-header";
import { ActionError, ErrorState, joinQueries, QueryPanel } from "@/components/ui/states";
import { createWalletsPayout, listPayouts } from "@/lib/contracts/payouts";
import { readAmount } from "@/lib/core/read-amount";
import { type Account, accountName, accountQuery, useAccount } from "../account";
import {
  type CheckedWithdrawal,
  useWithdraw,
  type WithdrawAnswer,
  type Withdrawing,
} from "./use-withdraw";

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
  const { form, body, checked, check, obstacle } = withdrawing;
  const example = {
    sourceAccountId: account.id,
    chainId: setup.chains[0]?.id ?? 1,
    transfers: [{ address: "0x…", amount: "12.5", token: account.currency }],
  };
  return (
    <>
      <Form
        form={form}
        onSubmit={() => (obstacle === null ? check() : Promise.resolve())}
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
      {checked === null ? null : (
        <ReviewWithdrawal account={account} checked={checked} onClose={withdrawing.back} />
      )}
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
  const { values, token, obstacle, error, checking, check } = withdrawing;
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
            onRetry={() => void check()}
          />
          {codeOf(error) === "duplicate_payout" ? (
            <Button className="mt-2" onClick={() => void check(true)}>
              Withdraw it again
            </Button>
          ) : null}
        </div>
      )}
      <ReviewBar reason={obstacle} loading={checking} />
    </Card>
  );
};

interface ReviewWithdrawalProps {
  readonly account: Account;
  readonly checked: CheckedWithdrawal;
  readonly onClose: () => void;
}

/**
 * The receipt of the checked withdrawal. Confirming creates the payout and opens its page, where a
 * code approves it.
 */
const ReviewWithdrawal = ({ account, checked, onClose }: ReviewWithdrawalProps): ReactNode => {
  const { answer, body } = checked;
  const router = useRouter();
  const cache = useCache();
  const { mutation, send } = useSentOnce(createWalletsPayout);
  const [compared, setCompared] = useState(false);
  const isMistakable = answer.warnings.some(({ code }) => code === "lookalike_recipient");
  const create = async (): Promise<void> => {
    const payout = await send({ body }).catch(() => null);
    if (payout === null || payout.payoutId === null) return;
    void cache.refresh(listPayouts, accountQuery(account.id));
    router.push(pathOfPayout({ ...payout, payoutId: payout.payoutId }));
  };
  return (
    <Dialog
      onClose={onClose}
      title="Check the withdrawal"
      description="Nothing leaves the account before you review and approve it."
      footer={
        <>
          <Button onClick={onClose}>Back</Button>
          <Button
            variant="primary"
            loading={mutation.isPending}
            disabled={isMistakable && !compared}
            onClick={() => void create()}
          >
            Go on to the review
          </Button>
        </>
      }
    >
      <div className="flex flex-col gap-4">
        <WithdrawalFacts account={account} checked={checked} />
        <WarningList title="Look at the recipient again" warnings={answer.warnings}>
          {isMistakable ? (
            <Checkbox
              label="I have compared the whole address."
              checked={compared}
              onChange={(event) => setCompared(event.target.checked)}
            />
          ) : null}
        </WarningList>
        <ActionError error={mutation.error} money="Nothing was withdrawn." />
      </div>
    </Dialog>
  );
};

const WithdrawalFacts = ({
  account,
  checked,
}: Omit<ReviewWithdrawalProps, "onClose">): ReactNode => {
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
        <NamedAddress value={row.address} chainId={answer.chainId} full />
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
        {fee.paidBy === "sponsor" ? "paid by the project's sponsor" : "paid by the treasury"},
        not by the account
      </span>
    </Fact>
  );
