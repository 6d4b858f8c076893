"use client";

import type { ReactNode } from "react";
import { useController } from "react-hook-form";
import { AmountEntry } from "@/components/features/money-flow/amount-entry";
import type { SwapSetup } from "@/components/features/swap/use-swap-setup";
import { walletOption } from "@/components/features/wallets/wallet-name";
import { Amount } from "@/components/ui/amount";
import { Combobox } from "@/components/ui/combobox";
import { Field } from "@/components/ui/field";
import { Select } from "@/components/ui/select";
import { Card } from "@/components/ui/card";
import { chainOption, tokenOption } from "@/components/ui/marked-options";
import { assetsOf, tokenOf, type FieldErrors } from "./form-model";
import type { TransferForm } from "./use-transfer-form";

export interface PartProps {
  readonly setup: SwapSetup;
  readonly transfer: TransferForm;
  readonly serverErrors: FieldErrors["fields"];
}

const Held = ({ amount, symbol }: { readonly amount: string; readonly symbol: string }): ReactNode => (
  <Amount value={amount} symbol={symbol} plain className="text-sm text-fg-2" />
);

/** From which wallet, which token, on which chain, how much. */
export const FromCard = ({ setup, transfer, serverErrors }: PartProps): ReactNode => {
  const { values } = transfer;
  const { errors } = transfer.form.formState;
  const asset = assetsOf(setup.tokens).find((one) => one.assetId === values.assetId);
  return (
    <Card title="You send">
      <div className="grid grid-cols-2 gap-3 sm:grid-cols-[minmax(0,2fr)_minmax(0,1fr)_minmax(0,1fr)]">
        <Field className="max-sm:col-span-2" label="Wallet" error={errors.walletId?.message ?? serverErrors.walletId}>
          <Select
            value={values.walletId}
            onValueChange={(walletId) => transfer.choose("walletId", walletId)}
            options={setup.wallets.map((wallet) => ({
              ...walletOption(wallet),
              value: wallet.id,
            }))}
            placeholder="Choose …"
          />
        </Field>
        <Field label="From chain" error={errors.fromChainId?.message ?? serverErrors.fromChainId}>
          <Combobox
            options={setup.chains
              .filter((chain) => asset === undefined || asset.chainIds.includes(String(chain.id)))
              .map((chain) => {
                const held = transfer.held(values.assetId, String(chain.id));
                return {
                  ...chainOption(chain),
                  keywords: [chain.name],
                  ...(held === null ? {} : { aside: <Held amount={held} symbol={asset?.symbol ?? ""} /> }),
                };
              })}
            value={values.fromChainId}
            onValueChange={(chainId) => transfer.choose("fromChainId", chainId)}
            searchPlaceholder="Chain"
            emptyText="The token is not on such a chain."
          />
        </Field>
        <Field label="Token" error={errors.assetId?.message ?? serverErrors.assetId}>
          <Combobox
            options={transfer.assets.map((one) => {
              const held = transfer.held(one.assetId);
              return {
                ...tokenOption(one.symbol, one.assetId),
                description: one.name,
                keywords: [one.symbol, one.name],
                ...(held === null ? {} : { aside: <Held amount={held} symbol={one.symbol} /> }),
              };
            })}
            value={values.assetId}
            onValueChange={transfer.chooseAsset}
            placeholder="Choose a token"
            searchPlaceholder="Symbol or name"
            emptyText="No such token."
          />
        </Field>
        <div className="col-span-full">
          <AmountField setup={setup} transfer={transfer} error={errors.amount?.message ?? serverErrors.amount} />
        </div>
      </div>
    </Card>
  );
};

interface AmountFieldProps extends Pick<PartProps, "setup" | "transfer"> {
  readonly error: string | undefined;
}

const AmountField = ({ setup, transfer, error }: AmountFieldProps): ReactNode => {
  const { values, wallet } = transfer;
  const { field } = useController({ control: transfer.form.control, name: "amount" });
  const token = tokenOf(setup.tokens, values.assetId, values.fromChainId);
  const paysGas = token?.address === "native" && wallet?.signer === "owner" && wallet.kind === "linked";
  return (
    <AmountEntry
      label="Amount"
      maxLabel="Use all"
      value={field.value}
      onChange={field.onChange}
      onChoose={(text) => transfer.choose("amount", text)}
      onBlur={field.onBlur}
      name={field.name}
      inputRef={field.ref}
      token={token}
      spendable={transfer.spendable}
      error={error}
      note={paysGas ? <span>This wallet pays its own gas; leave some for it.</span> : undefined}
    />
  );
};
