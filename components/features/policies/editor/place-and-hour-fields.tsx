"use client";

import { Plus, Trash2, X } from "lucide-react";
import type { ReactNode } from "react";
import {
  type Control,
  Controller,
  useController,
  useFieldArray,
  useFormState,
  useWatch,
} from "react-hook-form";
import { Button, IconButton } from "@/components/ui/button";
import { cn } from "@/components/ui/cn";
import { Combobox, type ComboboxOption } from "@/components/ui/combobox";
import { Field } from "@/components/ui/field";
import { ControlField, TextField } from "@/components/ui/form";
import { chainOption, tokenOption } from "@/components/ui/marks";
import { RadioCards } from "@/components/ui/radio-cards";
import { Select } from "@/components/ui/select";
import { keyOfToken, NEW_WINDOW, policyValues, type PolicyValues } from "../policy-form";
import { WEEKDAYS } from "../rule-words";
import type { PolicySetup } from "../use-policies";
import { Section, SwitchedSection } from "./section";

interface FieldsProps {
  readonly control: Control<PolicyValues>;
}

interface ChainFieldsProps extends FieldsProps {
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

const SCREENING: readonly { value: PolicyValues["screening"]; label: string; hint: string }[] =
  [
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

const ScreeningField = ({ control }: FieldsProps): ReactNode => {
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

export const RecipientFields = ({ control }: FieldsProps): ReactNode => (
  <Section title="Recipients">
    <Controller
      control={control}
      name="recipients"
      render={({ field }) => (
        <RadioCards
          label="Recipients"
          value={field.value}
          onValueChange={field.onChange}
          options={RECIPIENTS}
          inRow
        />
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

export const ChainFields = ({
  control,
  setup: { chains, tokens, names },
}: ChainFieldsProps): ReactNode => (
  <Section title="Chains and tokens">
    <div className="grid grid-cols-1 gap-x-6 gap-y-3 sm:grid-cols-2">
      <ChoiceList
        control={control}
        name="chains"
        label="Only these chains"
        placeholder="Add a chain"
        options={chains.map((chain) => ({ ...chainOption(chain), keywords: [chain.name] }))}
      />
      <ChoiceList
        control={control}
        name="tokens"
        label="Only these tokens"
        placeholder="Add a token"
        options={tokens.map(({ chainId, address, symbol, name }) => ({
          ...tokenOption(symbol, keyOfToken(chainId, address)),
          label: `${symbol} on ${names.chain(chainId)}`,
          description: name,
          keywords: [symbol, name, names.chain(chainId)],
        }))}
      />
    </div>
  </Section>
);

const WINDOWS_MAX = 14;

const zonesWith = (zone: string): string[] => [
  ...new Set(["UTC", zone, ...Intl.supportedValuesOf("timeZone")]),
];

export const HourFields = ({ control }: FieldsProps): ReactNode => (
  <SwitchedSection
    title="Hours"
    control={control}
    name="hasHours"
    label="Only at certain times"
    off="Off: no limit."
  >
    <Windows control={control} />
  </SwitchedSection>
);

const Windows = ({ control }: FieldsProps): ReactNode => {
  const { fields, append, remove } = useFieldArray({ control, name: "windows" });
  const { errors } = useFormState({ control, name: "hasHours" });
  return (
    <>
      <ControlField
        control={control}
        name="timeZone"
        label="Time zone"
        className="max-w-80"
        hint="Days and times are those of this zone."
      >
        {({ value, onValueChange }) => (
          <Combobox
            options={zonesWith(value).map((zone) => ({ value: zone, label: zone }))}
            value={value}
            onValueChange={onValueChange}
            searchPlaceholder="For instance Berlin"
          />
        )}
      </ControlField>
      {fields.map((field, index) => (
        <div
          key={field.id}
          className="flex flex-wrap items-start gap-x-3 gap-y-2 border-t pt-3"
        >
          <Days control={control} index={index} />
          <div className="flex items-start gap-x-3">
            <TextField
              control={control}
              name={`windows.${index}.from`}
              label="From"
              className="w-24"
              input={{ placeholder: "09:00" }}
            />
            <TextField
              control={control}
              name={`windows.${index}.to`}
              label="To"
              className="w-24"
              input={{ placeholder: "17:00" }}
            />
            {fields.length === 1 ? null : (
              <IconButton
                label={`Remove time ${String(index + 1)}`}
                size="md"
                className="mt-6"
                onClick={() => remove(index)}
              >
                <Trash2 aria-hidden />
              </IconButton>
            )}
          </div>
        </div>
      ))}
      {errors.hasHours === undefined ? null : (
        <p role="alert" className="text-sm text-danger">
          {errors.hasHours.message}
        </p>
      )}
      {fields.length >= WINDOWS_MAX ? null : (
        <div>
          <Button size="sm" variant="ghost" onClick={() => append(NEW_WINDOW)}>
            <Plus aria-hidden /> Add a time
          </Button>
        </div>
      )}
    </>
  );
};

const Days = ({ control, index }: FieldsProps & { readonly index: number }): ReactNode => {
  const { field, fieldState } = useController({ control, name: `windows.${index}.days` });
  const toggle = (day: number): void =>
    field.onChange(
      field.value.includes(day)
        ? field.value.filter((one) => one !== day)
        : [...field.value, day],
    );
  return (
    <fieldset className="min-w-0">
      <legend className="pb-1 text-sm font-medium text-fg-2">Days</legend>
      <div className="flex flex-wrap gap-1">
        {WEEKDAYS.map((name, at) => {
          const isOn = field.value.includes(at + 1);
          return (
            <button
              key={name}
              type="button"
              aria-pressed={isOn}
              onClick={() => toggle(at + 1)}
              className={cn(
                "h-9 rounded-control border px-2 text-sm touch-target",
                isOn
                  ? "border-accent bg-accent-tint font-medium text-accent"
                  : "border-control text-fg-2 hover:bg-sunken",
              )}
            >
              {name}
            </button>
          );
        })}
      </div>
      {fieldState.error === undefined ? null : (
        <p role="alert" className="pt-1 text-sm text-danger">
          {fieldState.error.message}
        </p>
      )}
    </fieldset>
  );
};

interface ChoiceListProps extends FieldsProps {
  readonly name: "chains" | "tokens";
  readonly label: string;
  readonly placeholder: string;
  readonly options: readonly ComboboxOption[];
}

/** Chooses several options: a field adds one, and chips show and remove the chosen ones. */
const ChoiceList = ({
  control,
  name,
  label,
  placeholder,
  options,
}: ChoiceListProps): ReactNode => {
  const { value: values, onChange } = useController({ control, name }).field;
  const labelOf = (value: string): string =>
    options.find((option) => option.value === value)?.label ?? value;
  return (
    <div className="flex min-w-0 flex-col gap-2">
      <Field label={label} hint={values.length === 0 ? "None chosen: no limit." : undefined}>
        <Combobox
          options={options.filter(({ value }) => !values.includes(value))}
          value=""
          onValueChange={(value) => onChange([...values, value])}
          placeholder={placeholder}
        />
      </Field>
      {values.length === 0 ? null : (
        <ul aria-label={`${label}: chosen`} className="flex flex-wrap gap-1.5">
          {values.map((value) => (
            <li
              key={value}
              className="inline-flex max-w-full items-center gap-1 rounded-control border bg-sunken pl-2 text-sm"
            >
              <span className="truncate">{labelOf(value)}</span>
              <button
                type="button"
                aria-label={`Remove ${labelOf(value)}`}
                onClick={() => onChange(values.filter((one) => one !== value))}
                className="inline-flex size-6 items-center justify-center rounded-control text-fg-2 hover:text-fg touch-target"
              >
                <X className="size-3.5" aria-hidden />
              </button>
            </li>
          ))}
        </ul>
      )}
    </div>
  );
};
