"use client";

import Link from "next/link";
import { useRouter } from "next/navigation";
import type { ReactNode } from "react";
import { ApiSnippet } from "@/components/features/api-snippet/api-snippet";
import { AccountPicker } from "@/components/features/global-accounts/account-picker";
import { EmailNotice } from "@/components/features/money-flow/email-notice";
import type { SwapSetup } from "@/components/features/swap/use-swap-setup";
import { walletName } from "@/components/features/wallets/use-wallets";
import { Address } from "@/components/ui/address";
import { buttonLooks } from "@/components/ui/button-looks";
import { Card } from "@/components/ui/card";
import { ErrorState, QueryPanel } from "@/components/ui/states";
import { Field } from "@/components/ui/field";
import { HeldAmount } from "@/components/ui/amount";
import { chainOption, tokenOption } from "@/components/ui/marks";
import { PageHeader } from "@/components/ui/page-header";
import { RadioCards } from "@/components/ui/radio-cards";
import { Select } from "@/components/ui/select";
import { createAccountsPayout, createWalletsPayout } from "@/lib/api-client/calls.gen";
import { RowsCard } from "./rows-card";
import { SummaryCard } from "./summary-card";
import { type NewPayout as Form, useNewPayout } from "./use-new-payout";
import type { Target } from "./use-target";

/**
 * Maximum number of rows in the example call. More rows would slow the page without making the
 * example clearer.
 */
const SNIPPET_ROWS_MAX = 20;

export const NewPayout = (): ReactNode => {
  const form = useNewPayout();
  return (
    <>
      <PageHeader
        title="New payout"
        description="Pay up to 10,000 recipients at once, now or on a schedule."
        actions={
          <Link href="/payouts" className={buttonLooks()}>
            All payouts
          </Link>
        }
      />
      <QueryPanel query={form.target.setupQuery} what="wallets and tokens" rows={6}>
        {(setup) => <Desk form={form} setup={setup} />}
      </QueryPanel>
    </>
  );
};

interface DeskProps {
  readonly form: Form;
  readonly setup: SwapSetup;
}

const Desk = ({ form, setup }: DeskProps): ReactNode => {
  const router = useRouter();
  const review = async (): Promise<void> => {
    const path = await form.submit();
    if (path !== null) router.push(path);
  };
  return (
    <div className="flex flex-col gap-4">
      <div className="grid grid-cols-1 items-start gap-4 lg:grid-cols-[minmax(0,1fr)_18rem]">
        <div className="flex min-w-0 flex-col gap-4">
          <EmailNotice />
          <FromCard target={form.target} setup={setup} />
          {form.target.rules === null ? null : <RowsCard form={form} />}
        </div>
        <SummaryCard form={form} onReview={review} />
      </div>
      <Snippet form={form} />
    </div>
  );
};

const Snippet = ({ form }: { readonly form: Form }): ReactNode => {
  const { target, body } = form;
  const shown =
    body === null || body.transfers.length === 0
      ? null
      : { ...body, transfers: body.transfers.slice(0, SNIPPET_ROWS_MAX) };
  if (target.kind === "wallets") {
    const example = {
      chainId: Number(target.chainId),
      transfers: [{ address: "<address>", amount: "12.5", token: "USDC" }],
    };
    return <ApiSnippet call={createWalletsPayout} body={shown ?? example} />;
  }
  const example = {
    sourceAccountId: "<account>",
    transfers: [{ recipientAccountId: "<account>", amount: "12.5", currency: "USDC" }],
  };
  return <ApiSnippet call={createAccountsPayout} body={shown ?? example} />;
};

const KINDS = [
  {
    value: "wallets",
    label: "To wallets",
    description: "From the treasury to addresses on one chain",
  },
  {
    value: "global_accounts",
    label: "Between accounts",
    description: "At once and without network fees",
  },
] as const;

interface FromCardProps {
  readonly target: Target;
  readonly setup: SwapSetup;
}

const FromCard = ({ target, setup }: FromCardProps): ReactNode => (
  <Card title="From">
    <div className="flex flex-col gap-4">
      <RadioCards
        label="Kind of payout"
        inRow
        value={target.kind}
        onValueChange={(value) =>
          target.setKind(value === "wallets" ? "wallets" : "global_accounts")
        }
        options={KINDS}
      />
      {target.kind === "wallets" ? (
        <FromTreasury target={target} setup={setup} />
      ) : (
        <FromAccount target={target} />
      )}
    </div>
  </Card>
);

const FromTreasury = ({ target, setup }: FromCardProps): ReactNode => {
  const tokens = setup.tokens.filter((token) => String(token.chainId) === target.chainId);
  return (
    <div className="grid grid-cols-1 gap-3 sm:grid-cols-3">
      <Field label="Chain">
        <Select
          value={target.chainId}
          onValueChange={target.setChainId}
          options={setup.chains.map(chainOption)}
        />
      </Field>
      <Field label="Token" hint="For rows without a token.">
        <Select
          value={target.token}
          onValueChange={target.setToken}
          options={tokens.map((token) => tokenOption(token.symbol, token.address))}
        />
      </Field>
      <div className="flex min-w-0 flex-col gap-1">
        <span className="text-sm font-medium text-fg-2">From wallet</span>
        {setup.treasury === undefined ? (
          <span className="text-fg-3">The project has no treasury.</span>
        ) : (
          <span className="flex h-9 items-center gap-2">
            <Address value={setup.treasury.address} name={walletName(setup.treasury)} />
          </span>
        )}
      </div>
    </div>
  );
};

const FromAccount = ({ target }: Pick<FromCardProps, "target">): ReactNode => {
  const { source, sourceId, sourceError, setSourceId } = target;
  return (
    <>
      <Field
        label="Source account"
        hint={
          source === undefined ? (
            "The account that pays; its currency is that of the payout."
          ) : (
            <>
              <HeldAmount value={source.balance.available} unit={source.currency} /> available
            </>
          )
        }
        error={
          source !== undefined && source.status !== "active"
            ? `This account is ${source.status}; it cannot pay.`
            : null
        }
      >
        <AccountPicker value={sourceId} onChange={setSourceId} />
      </Field>
      {sourceError === null || source !== undefined ? null : (
        <ErrorState compact error={sourceError} money="Nothing was paid." />
      )}
    </>
  );
};
