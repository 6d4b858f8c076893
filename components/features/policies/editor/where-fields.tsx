"use client";

import type { ReactNode } from "react";
import { Controller, type Control } from "react-hook-form";
import { TextField } from "@/components/ui/form";
import { RadioCards } from "@/components/ui/radio-cards";
import { chainOption, tokenOption } from "@/components/ui/marked-options";
import { keyOfToken, type PolicyValues } from "../policy-form";
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

/** To whom money may go, and how long a new recipient waits. */
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
