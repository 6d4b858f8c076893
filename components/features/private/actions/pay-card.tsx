"use client";

import Link from "next/link";
import type { ReactNode } from "react";
import { ReadAs } from "@/components/features/money-flow/read-as";
import { usdValue, isZero } from "@/components/features/swap/decimal";
import type { SwapSetup } from "@/components/features/swap/use-swap-setup";
import { useChainName } from "@/components/providers/public-config";
import { Alert } from "@/components/ui/alert";
import { HeldAmount, Worth } from "@/components/ui/amount";
import { Card } from "@/components/ui/card";
import { Combobox } from "@/components/ui/combobox";
import { Field, Input } from "@/components/ui/field";
import { useHiddenAmounts } from "@/components/ui/hidden-amounts";
import { tokenOption } from "@/components/ui/marks";
import { Select } from "@/components/ui/select";
import { countText } from "@/lib/core/amount-text";
import { readOrTyped, typedAmount } from "@/lib/core/read-amount";
import { type PoolBalance, poolKey, type PrivacyWallet } from "../parts";
import { mostOf, readableAmount } from "./form-model";
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

export const PayCard = ({ form, wallets, setup }: PayCardProps): ReactNode => (
  <Card title={TITLES[form.action]}>
    <div className="grid grid-cols-1 gap-3 sm:grid-cols-2">
      <Field
        label={form.action === "shield" ? "Into wallet" : "From wallet"}
        error={form.errors.walletId}
      >
        <Select
          value={form.values.walletId}
          onValueChange={(id) => form.set("walletId", id)}
          options={wallets.map(({ id, name }) => ({ value: id, label: name }))}
          placeholder="Choose …"
        />
      </Field>
      <PoolField form={form} />
      <div className="sm:col-span-2">
        <AmountField form={form} setup={setup} />
      </div>
      {form.action === "shield" ||
      form.pools.some(({ spendable }) => !isZero(spendable)) ? null : (
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

/**
 * A pool as an option: its token and chain.
 *
 * @param spendable the balance that is shown; null when the pool receives money
 */
export const poolOption = (pool: PoolBalance, chain: string, spendable: string | null) => {
  const { symbol } = pool.token;
  return {
    ...tokenOption(symbol, poolKey(pool)),
    label: `${symbol} on ${chain}`,
    description: `Set of ${countText(pool.anonymitySet)}`,
    keywords: [symbol, chain],
    aside:
      spendable === null ? undefined : (
        <HeldAmount value={spendable} unit={symbol} plain className="text-sm text-fg-2" />
      ),
  };
};

const PoolField = ({ form }: PartProps): ReactNode => {
  const chainName = useChainName();
  const pays = form.action !== "shield";
  return (
    <Field label="Token" error={form.errors.pool}>
      <Combobox
        value={form.values.pool}
        onValueChange={(pool) => form.set("pool", pool)}
        options={form.pools.map((pool) =>
          poolOption(pool, chainName(pool.chainId), pays ? pool.spendable : null),
        )}
        placeholder="Choose a token"
        searchPlaceholder="Symbol or chain"
        emptyText="There is no such pool."
      />
    </Field>
  );
};

const AmountField = ({ form, setup }: Omit<PayCardProps, "wallets">): ReactNode => {
  const { pool, values, action } = form;
  const price = setup.tokens.find(
    (token) => token.chainId === pool?.chainId && token.address === pool.token.address,
  )?.priceUsd;
  const usd = price == null ? null : usdValue(readOrTyped(values.amount), price);
  return (
    <Field
      label={action === "transfer" ? "Amount received" : "Amount"}
      error={form.errors.amount}
      hint={
        pool === undefined ? undefined : (
          <span className="flex flex-col gap-0.5">
            <span className="flex flex-wrap items-baseline justify-between gap-x-3">
              <Available form={form} pool={pool} />
              {usd === null ? null : <Worth value={usd} />}
            </span>
            <ReadAs
              value={values.amount}
              read={readableAmount(values.amount, pool)}
              symbol={pool.token.symbol}
            />
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

const Available = ({ form, pool }: PartProps & { readonly pool: PoolBalance }): ReactNode => {
  const { action, values, treasury } = form;
  const [hidden] = useHiddenAmounts();
  const most = mostOf(action, pool, { treasury, target: values.target });
  if (most === null)
    return <span title="The service checks it.">The treasury's balance is not known now</span>;
  const { symbol } = pool.token;
  return (
    <span>
      {action === "shield" ? "Available" : "Spendable"}{" "}
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
