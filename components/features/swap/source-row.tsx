"use client";

import { X } from "lucide-react";
import type { ReactNode } from "react";
import { Amount, Usd } from "@/components/ui/amount";
import { IconButton } from "@/components/ui/button";
import { cn } from "@/components/ui/cn";
import { Field, Input } from "@/components/ui/field";
import { Select } from "@/components/ui/select";
import { walletOption } from "@/components/features/wallets/wallet-name";
import { chainOption } from "@/components/ui/marked-options";
import { compareAmounts, toScaled, usdValue } from "./decimal";
import { findToken, type SourceValues } from "./form-model";
import { TokenField } from "./token-field";
import type { SwapForm } from "./use-swap-form";
import { balanceOf, type SwapSetup } from "./use-swap-setup";

interface SourceRowProps {
  readonly index: number;
  readonly setup: SwapSetup;
  readonly swap: SwapForm;
  readonly serverErrors: ReadonlyMap<string, string>;
}

const LABEL_START = "first-letter:uppercase inline-block";

/** `Source 1 amount` for whoever hears it, `Amount` for whoever sees it. */
const Label = ({ index, what }: { readonly index: number; readonly what: string }): ReactNode => (
  <>
    <span className="sr-only">Source {index + 1} </span>
    <span className={LABEL_START}>{what}</span>
  </>
);

export const SourceRow = ({ index, setup, swap, serverErrors }: SourceRowProps): ReactNode => {
  const source = swap.values.sources[index];
  const problems = swap.form.formState.errors.sources?.[index];
  if (source === undefined) return null;
  const at = `from.${String(index)}`;
  return (
    <fieldset
      className={cn(
        "grid gap-3 p-4 sm:grid-cols-2 lg:grid-cols-[minmax(0,1.8fr)_minmax(0,0.9fr)_minmax(0,0.9fr)_minmax(0,1.3fr)_2.25rem]",
        // The labels of the first row head the columns.
        index > 0 && "lg:[&_label]:sr-only lg:py-3",
      )}
    >
      <legend className="sr-only">Source {index + 1}</legend>
      <Field
        label={<Label index={index} what="wallet" />}
        error={problems?.address?.message ?? serverErrors.get(`${at}.address`)}
      >
        <Select
          value={source.address}
          onValueChange={(value) => swap.choose(`sources.${index}.address`, value)}
          options={setup.wallets.map(walletOption)}
          placeholder="Choose …"
        />
      </Field>
      <Field
        label={<Label index={index} what="chain" />}
        error={problems?.chainId?.message ?? serverErrors.get(`${at}.chainId`)}
      >
        <Select
          value={source.chainId}
          onValueChange={(value) => swap.chooseChain(index, value)}
          options={setup.chains.map(chainOption)}
          placeholder="Choose …"
        />
      </Field>
      <TokenField
        label={<Label index={index} what="token" />}
        setup={setup}
        chainId={source.chainId}
        value={source.token}
        wallet={source.address}
        onValueChange={(value) => swap.choose(`sources.${index}.token`, value)}
        error={problems?.token?.message ?? serverErrors.get(`${at}.token`) ?? serverErrors.get(at)}
      />
      <AmountField
        index={index}
        setup={setup}
        swap={swap}
        source={source}
        error={problems?.amount?.message ?? serverErrors.get(`${at}.amount`)}
      />
      <RemoveButton index={index} swap={swap} />
    </fieldset>
  );
};

const RemoveButton = ({ index, swap }: Pick<SourceRowProps, "index" | "swap">): ReactNode =>
  swap.rows.length === 1 ? (
    <span aria-hidden />
  ) : (
    <span className={cn("justify-self-end", index === 0 && "lg:pt-[22px]")}>
      <IconButton label={`Remove source ${index + 1}`} size="md" onClick={() => swap.removeSource(index)}>
        <X aria-hidden />
      </IconButton>
    </span>
  );

interface AmountFieldProps extends Pick<SourceRowProps, "index" | "setup" | "swap"> {
  readonly source: SourceValues;
  readonly error: string | undefined;
}

const AmountField = ({ index, setup, swap, source, error }: AmountFieldProps): ReactNode => {
  const token = findToken(setup.tokens, source.chainId, source.token);
  const balance = token === undefined ? null : balanceOf(setup.balances, source);
  const short = balance !== null && toScaled(source.amount, 0) !== null && compareAmounts(source.amount, balance) === 1;
  const usd = token === undefined ? null : usdValue(source.amount, token.priceUsd);
  const hint =
    token === undefined ? undefined : (
      <span className="flex flex-wrap items-baseline justify-between gap-x-3">
        {balance === null ? (
          <span>Balance not known</span>
        ) : (
          <span className={cn(short && "text-warning")}>
            {short ? "More than is available: " : "Available "}
            <Amount value={balance} unit={token.symbol} plain />{" "}
            <button
              type="button"
              className="link min-h-6 px-1"
              disabled={toScaled(balance, 0) === null || compareAmounts(balance, "0") === 0}
              aria-label={`Source ${index + 1}: use all ${balance} ${token.symbol}`}
              onClick={() => swap.choose(`sources.${index}.amount`, balance)}
            >
              MAX
            </button>
          </span>
        )}
        {usd === null ? null : <Usd value={usd} />}
      </span>
    );
  return (
    <Field label={<Label index={index} what="amount" />} hint={hint} error={error}>
      <Input numeric placeholder="0.0" {...swap.form.register(`sources.${index}.amount`)} />
    </Field>
  );
};
