"use client";

import type { ReactNode } from "react";
import { Controller, useWatch, type Control } from "react-hook-form";
import { ControlField, TextField } from "@/components/ui/form";
import { RadioCards } from "@/components/ui/radio-cards";
import { chainOption, tokenOption } from "@/components/ui/marked-options";
import { Select } from "@/components/ui/select";
import { keyOfToken, policyValues, type PolicyValues } from "../policy-form";
import type { PolicySetup } from "../use-policy-setup";
import { ChoiceList } from "./choice-list";
import { Section } from "./section";

interface WhereFieldsProps {
  readonly control: Control<PolicyValues>;
  readonly setup: Pick<PolicySetup, "chains" | "tokens" | "names">;
}

const RECIPIENTS = [
  { value: "any", label: "Any recipient", description: "No limit." },
  {
    value: "approved_contacts",
    label: "Approved contacts",
    description: "Contacts that an owner or admin has approved, and the project's own wallets.",
  },
] as const;

const SCREENING: readonly { value: PolicyValues["screening"]; label: string; hint: string }[] = [
  {
    value: "default",
    label: "Not set here",
    hint: "The project's policy decides. Where that says nothing, listed addresses are not paid.",
  },
  {
    value: "block_hits",
    label: "Stop listed addresses",
    hint: "An address that a source lists is not paid. A source that does not answer stops nothing.",
  },
  {
    value: "require_clear",
    label: "Require a clear result",
    hint: "Only addresses that a source covers and does not list are paid. Deposits of other senders are kept back.",
  },
  { value: "off", label: "Off", hint: "Listed addresses are paid too." },
];

/** How strictly addresses are screened. */
const ScreeningField = ({ control }: Pick<WhereFieldsProps, "control">): ReactNode => {
  const chosen = useWatch({ control, name: "screening" });
  return (
    <ControlField
      control={control}
      name="screening"
      label="Screening of addresses"
      hint={SCREENING.find(({ value }) => value === chosen)?.hint}
      className="max-w-80"
    >
      {({ value, onValueChange }) => (
        <Select
          value={value}
          onValueChange={(picked) => onValueChange(policyValues.shape.screening.parse(picked))}
          options={SCREENING}
        />
      )}
    </ControlField>
  );
};

/** To whom money may go, how long a new recipient waits, and how addresses are screened. */
export const RecipientFields = ({ control }: Pick<WhereFieldsProps, "control">): ReactNode => (
  <Section title="Recipients">
    <Controller
      control={control}
      name="recipients"
      render={({ field }) => (
        <RadioCards label="Recipients" value={field.value} onValueChange={field.onChange} options={RECIPIENTS} inRow />
      )}
    />
    <TextField
      control={control}
      name="newRecipientHours"
      label="New recipients wait (hours)"
      hint="Counted from when the contact was approved, or the address was first paid."
      className="max-w-80"
      input={{ numeric: true, placeholder: "No wait" }}
    />
    <ScreeningField control={control} />
  </Section>
);

/** On which chains, and which tokens. */
export const ChainFields = ({ control, setup: { chains, tokens, names } }: WhereFieldsProps): ReactNode => (
  <Section title="Chains and tokens">
    <div className="grid grid-cols-1 gap-x-6 gap-y-3 sm:grid-cols-2">
      <Controller
        control={control}
        name="chains"
        render={({ field }) => (
          <ChoiceList
            label="Only these chains"
            none="None chosen: no limit."
            placeholder="Add a chain"
            options={chains.map((chain) => ({ ...chainOption(chain), keywords: [chain.name] }))}
            values={field.value}
            onChange={field.onChange}
          />
        )}
      />
      <Controller
        control={control}
        name="tokens"
        render={({ field }) => (
          <ChoiceList
            label="Only these tokens"
            none="None chosen: no limit."
            placeholder="Add a token"
            options={tokens.map(({ chainId, address, symbol, name }) => ({
              ...tokenOption(symbol, keyOfToken(chainId, address)),
              label: `${symbol} on ${names.chain(chainId)}`,
              description: name,
              keywords: [symbol, name, names.chain(chainId)],
            }))}
            values={field.value}
            onChange={field.onChange}
          />
        )}
      />
    </div>
  </Section>
);
