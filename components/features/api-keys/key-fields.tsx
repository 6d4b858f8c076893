"use client";

import { useId, type ReactNode } from "react";
import { Field, Input } from "@/components/ui/field";
import { RadioCards } from "@/components/ui/radio-cards";
import { Select } from "@/components/ui/select";
import { movesMoney, type KeyErrors, type KeyValues } from "./key-form";
import { PolicyFields } from "./policy-fields";
import { SCOPE_PRESETS } from "./presets";

interface KeyFieldsProps {
  readonly values: KeyValues;
  readonly errors: KeyErrors;
  readonly projectCap: string | undefined;
  readonly onChange: (part: Partial<KeyValues>) => void;
  /** Of an existing key, what can stay as it is. */
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

/** What a key is called, may do and move, and until when: for a new one, and for one that is changed. */
export const KeyFields = ({ values, errors, projectCap, onChange, kept }: KeyFieldsProps): ReactNode => {
  const labelId = useId();
  return (
    <>
      <Field label="Name" hint="Which program uses it, for instance “Shop backend”." error={errors.name}>
        <Input
          value={values.name}
          maxLength={NAME_MAX}
          onChange={(event) => onChange({ name: event.target.value })}
          autoFocus
        />
      </Field>
      <div className="flex flex-col gap-1">
        <span id={labelId} className="text-sm font-medium text-fg-2">
          It may
        </span>
        <RadioCards
          labelledBy={labelId}
          value={values.preset}
          onValueChange={(id) => onChange({ preset: SCOPE_PRESETS.find((preset) => preset.id === id)?.id ?? "kept" })}
          options={presetsOf(kept?.scopes)}
        />
      </div>
      {movesMoney(values) ? (
        <PolicyFields values={values} errors={errors} projectCap={projectCap} onChange={onChange} />
      ) : null}
      <Field label="Expires" className="max-w-60">
        <Select
          value={values.expiry}
          onValueChange={(expiry) => onChange({ expiry })}
          options={kept === undefined ? EXPIRIES : [{ value: "kept", label: kept.expiry }, ...EXPIRIES]}
        />
      </Field>
    </>
  );
};
