"use client";

import { X } from "lucide-react";
import type { ReactNode } from "react";
import { IconButton } from "@/components/ui/button";
import { Field } from "@/components/ui/field";
import { Select } from "@/components/ui/select";
import { useController } from "react-hook-form";
import { AmountEntry } from "@/components/features/money-flow/amount-entry";
import { walletOption } from "@/components/features/wallets/wallet-name";
import { chainOption } from "@/components/ui/marked-options";
import { findToken, type SourceValues } from "./form-model";
import { TokenField } from "./token-field";
import type { SwapForm } from "./use-swap-form";
import { spendableAt, type SwapSetup } from "./use-swap-setup";

interface SourceRowProps {
  readonly index: number;
  readonly setup: SwapSetup;
  readonly swap: SwapForm;
  readonly serverErrors: ReadonlyMap<string, string>;
}

const LABEL_START = "first-letter:uppercase inline-block";

/** `Source 1 amount` for screen readers, `Amount` on the screen. */
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
    <fieldset className="grid grid-cols-2 gap-3 p-4 sm:grid-cols-[minmax(0,2fr)_minmax(0,1fr)_minmax(0,1fr)]">
      <legend className="sr-only">Source {index + 1}</legend>
      <Field
        className="max-sm:col-span-2"
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
      <div className="col-span-full flex items-start gap-2">
        <div className="min-w-0 flex-1">
          <AmountField
            index={index}
            setup={setup}
            swap={swap}
            source={source}
            error={problems?.amount?.message ?? serverErrors.get(`${at}.amount`)}
          />
        </div>
        <RemoveButton index={index} swap={swap} />
      </div>
    </fieldset>
  );
};

const RemoveButton = ({ index, swap }: Pick<SourceRowProps, "index" | "swap">): ReactNode =>
  swap.rows.length === 1 ? null : (
    <span className="pt-[22px]">
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
  const { field } = useController({ control: swap.form.control, name: `sources.${index}.amount` });
  const token = findToken(setup.tokens, source.chainId, source.token);
  return (
    <AmountEntry
      label={<Label index={index} what="amount" />}
      maxLabel={`Source ${String(index + 1)}: use all`}
      value={field.value}
      onChange={field.onChange}
      onChoose={(text) => swap.choose(`sources.${index}.amount`, text)}
      onBlur={field.onBlur}
      name={field.name}
      inputRef={field.ref}
      token={token}
      spendable={spendableAt(setup, source)}
      error={error}
    />
  );
};
