"use client";

import type { ReactNode } from "react";
import { compareAmounts, toScaled, usdValue } from "@/components/features/swap/decimal";
import type { SwapSetup } from "@/components/features/swap/use-swap-setup";
import { walletOption } from "@/components/features/wallets/wallet-name";
import { Amount, Usd } from "@/components/ui/amount";
import { cn } from "@/components/ui/cn";
import { Combobox } from "@/components/ui/combobox";
import { Field, Input } from "@/components/ui/field";
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
    <Card title="From">
      <div className="grid grid-cols-1 gap-3 sm:grid-cols-2 lg:grid-cols-[minmax(0,1.3fr)_minmax(0,1fr)_minmax(0,1fr)_minmax(0,1.4fr)]">
        <Field label="Wallet" error={errors.walletId?.message ?? serverErrors.walletId}>
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
        <Field label="Token" error={errors.assetId?.message ?? serverErrors.assetId}>
          <Combobox
            options={assetsOf(setup.tokens).map((one) => {
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
        <AmountField setup={setup} transfer={transfer} error={errors.amount?.message ?? serverErrors.amount} />
      </div>
    </Card>
  );
};

interface AmountFieldProps extends Pick<PartProps, "setup" | "transfer"> {
  readonly error: string | undefined;
}

const AmountField = ({ setup, transfer, error }: AmountFieldProps): ReactNode => {
  const { values, wallet } = transfer;
  const token = tokenOf(setup.tokens, values.assetId, values.fromChainId);
  const held = transfer.held(values.assetId, values.fromChainId);
  const usd = token === undefined ? null : usdValue(values.amount, token.priceUsd);
  const paysGas = token?.address === "native" && wallet?.signer === "owner" && wallet.kind === "linked";
  const hint =
    token === undefined ? undefined : (
      <span className="flex flex-wrap items-baseline justify-between gap-x-3">
        {held === null ? (
          <span>Balance not known</span>
        ) : (
          <Balance transfer={transfer} held={held} symbol={token.symbol} />
        )}
        {usd === null ? null : <Usd value={usd} />}
        {paysGas ? <span className="basis-full">This wallet pays its own gas; leave some for it.</span> : null}
      </span>
    );
  return (
    <Field label="Amount" hint={hint} error={error}>
      <Input numeric placeholder="0.0" {...transfer.form.register("amount")} />
    </Field>
  );
};

interface BalanceProps extends Pick<PartProps, "transfer"> {
  readonly held: string;
  readonly symbol: string;
}

const Balance = ({ transfer, held, symbol }: BalanceProps): ReactNode => {
  const typed = transfer.values.amount.trim();
  const short = toScaled(typed, 0) !== null && compareAmounts(typed, held) === 1;
  return (
    <span className={cn(short && "text-warning")}>
      {short ? "More than is available: " : "Available "}
      <Amount value={held} unit={symbol} plain />{" "}
      <button
        type="button"
        className="link min-h-6 px-1"
        disabled={compareAmounts(held, "0") === 0}
        aria-label={`Use all ${held} ${symbol}`}
        onClick={() => transfer.choose("amount", held)}
      >
        MAX
      </button>
    </span>
  );
};
