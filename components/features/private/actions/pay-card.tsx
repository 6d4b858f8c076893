"use client";

import Link from "next/link";
import type { ReactNode } from "react";
import { ReadAs } from "@/components/features/money-flow/read-as";
import { usdValue } from "@/components/features/swap/decimal";
import type { SwapSetup } from "@/components/features/swap/use-swap-setup";
import { useChainName } from "@/components/features/operations/use-chain-name";
import { Alert } from "@/components/ui/alert";
import { Usd } from "@/components/ui/amount";
import { Combobox } from "@/components/ui/combobox";
import { Field, Input } from "@/components/ui/field";
import { useHiddenAmounts } from "@/components/ui/hidden-amounts";
import { HeldAmount } from "@/components/ui/held-amount";
import { Select } from "@/components/ui/select";
import { Card } from "@/components/ui/card";
import { countText } from "@/lib/core/amount-text";
import { typedAmount } from "@/lib/core/read-amount";
import { tokenOption } from "@/components/ui/marked-options";
import { isZero } from "../amounts";
import { poolKey, type PoolBalance, type PrivacyWallet } from "../types";
import { amountText, mostOf, readableAmount } from "./form-model";
import type { PrivateForm } from "./use-private-form";

export interface PartProps {
  readonly form: PrivateForm;
}

interface PayCardProps extends PartProps {
  readonly wallets: readonly PrivacyWallet[];
  readonly setup: SwapSetup;
}

const TITLES = {
  shield: "You shield",
  transfer: "You pay",
  swap: "You swap",
  unshield: "You unshield",
} as const satisfies Record<PrivateForm["action"], string>;

/** Which private wallet, which pool, how much. */
export const PayCard = ({ form, wallets, setup }: PayCardProps): ReactNode => (
  <Card title={TITLES[form.action]}>
    <div className="grid grid-cols-1 gap-3 sm:grid-cols-2">
      <Field label={form.action === "shield" ? "Into wallet" : "From wallet"} error={form.errors.walletId}>
        <Select
          value={form.values.walletId}
          onValueChange={(id) => form.set("walletId", id)}
          options={wallets.map(({ privacyWalletId, name }) => ({ value: privacyWalletId, label: name }))}
          placeholder="Choose …"
        />
      </Field>
      <PoolField form={form} error={form.errors.pool} />
      <div className="sm:col-span-2">
        <AmountField form={form} setup={setup} error={form.errors.amount} />
      </div>
      {form.action === "shield" || form.pools.some(({ spendable }) => !isZero(spendable)) ? null : (
        <Alert className="sm:col-span-2" title="This wallet has nothing to spend yet">
          <Link href={`/private/shield?wallet=${form.values.walletId}`} className="link">
            Shield money
          </Link>{" "}
          first; it can be spent once the deposit is approved.
        </Alert>
      )}
    </div>
  </Card>
);

/** A pool as an option: its token, its chain, and the amount that may be moved. */
const poolOption = (pool: PoolBalance, chain: string, amount: string | null) => ({
  ...tokenOption(pool.token.symbol, poolKey(pool)),
  label: `${pool.token.symbol} on ${chain}`,
  description: `Set of ${countText(pool.anonymitySet)}`,
  keywords: [pool.token.symbol, chain],
  ...(amount === null
    ? {}
    : { aside: <HeldAmount value={amount} unit={pool.token.symbol} plain className="text-sm text-fg-2" /> }),
});

const PoolField = ({ form, error }: { readonly form: PrivateForm; readonly error: string | undefined }): ReactNode => {
  const chainName = useChainName();
  return (
    <Field label="Token" error={error}>
      <Combobox
        value={form.values.pool}
        onValueChange={(pool) => form.set("pool", pool)}
        options={form.pools.map((pool) =>
          poolOption(pool, chainName(pool.chainId), form.action === "shield" ? null : pool.spendable),
        )}
        placeholder="Choose a token"
        searchPlaceholder="Symbol or chain"
        emptyText="There is no such pool."
      />
    </Field>
  );
};

interface AmountFieldProps {
  readonly form: PrivateForm;
  readonly setup: SwapSetup;
  readonly error: string | undefined;
}

const AmountField = ({ form, setup, error }: AmountFieldProps): ReactNode => {
  const { pool, values, action } = form;
  const price = setup.tokens.find(
    (token) => token.chainId === pool?.chainId && token.address === pool.token.address,
  )?.priceUsd;
  const usd = price == null ? null : usdValue(amountText(values.amount), price);
  return (
    <Field
      label={action === "transfer" ? "Amount received" : "Amount"}
      error={error}
      hint={
        pool === undefined ? undefined : (
          <span className="flex flex-col gap-0.5">
            <span className="flex flex-wrap items-baseline justify-between gap-x-3">
              <Available form={form} pool={pool} />
              {usd === null ? null : <Usd value={usd} />}
            </span>
            <ReadAs value={values.amount} read={readableAmount(values.amount, pool)} symbol={pool.token.symbol} />
          </span>
        )
      }
    >
      <Input
        numeric
        placeholder={typedAmount("0.00")}
        className="h-11 text-xl"
        value={values.amount}
        onChange={(event) => form.set("amount", event.target.value)}
        onBlur={() => (values.amount === "" ? undefined : form.check("amount"))}
      />
    </Field>
  );
};

const Available = ({ form, pool }: { readonly form: PrivateForm; readonly pool: PoolBalance }): ReactNode => {
  const { action, values, treasury } = form;
  const [hidden] = useHiddenAmounts();
  const most = mostOf(action, pool, { treasury, target: values.target });
  if (most === null) return <span title="The service checks it.">The treasury's balance is not known now</span>;
  const { symbol } = pool.token;
  return (
    <span>
      {action === "shield" ? "Available in the treasury" : "Spendable"}{" "}
      <HeldAmount value={action === "shield" ? most : pool.spendable} unit={symbol} plain />{" "}
      <button
        type="button"
        className="link min-h-6 px-1 disabled:opacity-55"
        disabled={isZero(most)}
        aria-label={hidden ? `Use all ${symbol}` : `Use all ${most} ${symbol}`}
        onClick={() => form.set("amount", typedAmount(most))}
      >
        MAX
      </button>
    </span>
  );
};
