"use client";

import { useId, type ReactNode } from "react";
import { Controller, type Control } from "react-hook-form";
import { ControlField, TextField } from "@/components/ui/form";
import { RadioCards } from "@/components/ui/radio-cards";
import { Select } from "@/components/ui/select";
import { movesMoney, type KeyValues } from "./key-form";
import { Lines } from "./lines";
import { PolicyFields } from "./policy-fields";
import { SCOPE_PRESETS } from "./presets";

interface KeyFieldsProps {
  readonly control: Control<KeyValues>;
  readonly values: KeyValues;
  readonly projectCap: string | undefined;
  /** The present scopes and expiry of an existing key, which can be kept. */
  readonly kept?: { readonly scopes?: string; readonly expiry: string };
}

const NAME_MAX = 80;

const EXPIRIES = [
  { value: "never", label: "Never" },
  { value: "7", label: "In 7 days" },
  { value: "30", label: "In 30 days" },
  { value: "90", label: "In 90 days" },
  { value: "365", label: "In a year" },
] as const;

const presetsOf = (kept: string | undefined) => [
  ...(kept === undefined ? [] : [{ value: "kept", label: "As it is", description: kept }]),
  ...SCOPE_PRESETS.map(({ id, label, description }) => ({ value: id, label, description })),
];

/** The fields for name, scopes, limits and expiry, of a new key and of one that is changed. */
export const KeyFields = ({ control, values, projectCap, kept }: KeyFieldsProps): ReactNode => {
  const labelId = useId();
  return (
    <>
      <TextField
        control={control}
        name="name"
        label="Name"
        hint="Which program uses it, for instance “Shop backend”."
        input={{ maxLength: NAME_MAX, autoFocus: true }}
      />
      <div className="flex flex-col gap-1">
        <span id={labelId} className="text-sm font-medium text-fg-2">
          Scopes
        </span>
        <Controller
          control={control}
          name="preset"
          render={({ field }) => (
            <RadioCards
              labelledBy={labelId}
              value={field.value}
              onValueChange={field.onChange}
              options={presetsOf(kept?.scopes)}
            />
          )}
        />
      </div>
      {movesMoney(values) ? <PolicyFields control={control} values={values} projectCap={projectCap} /> : null}
      <ControlField
        control={control}
        name="networks"
        label="Allowed networks"
        hint="Addresses or networks such as 203.0.113.0/24, one a line. Empty: any. From elsewhere the key is refused."
      >
        {({ value, onValueChange }) => (
          <Lines
            rows={2}
            placeholder="203.0.113.0/24"
            value={value}
            onChange={(event) => onValueChange(event.target.value)}
          />
        )}
      </ControlField>
      <ControlField control={control} name="expiry" label="Expires" className="max-w-60">
        {(bound) => (
          <Select
            {...bound}
            options={kept === undefined ? EXPIRIES : [{ value: "kept", label: kept.expiry }, ...EXPIRIES]}
          />
        )}
      </ControlField>
    </>
  );
};
