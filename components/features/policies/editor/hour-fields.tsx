"use client";

import { Plus, Trash2 } from "lucide-react";
import type { ReactNode } from "react";
import { useController, useFieldArray, useFormState, type Control } from "react-hook-form";
import { Button, IconButton } from "@/components/ui/button";
import { cn } from "@/components/ui/cn";
import { Combobox } from "@/components/ui/combobox";
import { Checkbox } from "@/components/ui/field";
import { ControlField, TextField } from "@/components/ui/form";
import type { PolicyValues } from "../policy-form";
import { WEEKDAYS } from "../rule-words";
import { Section } from "./section";

interface HourFieldsProps {
  readonly control: Control<PolicyValues>;
}

const WINDOWS_MAX = 14;
const NEW_WINDOW = { days: [1, 2, 3, 4, 5], from: "09:00", to: "17:00" };

const zonesWith = (zone: string): string[] => [...new Set(["UTC", zone, ...Intl.supportedValuesOf("timeZone")])];

/** At which times of the week money may move. */
export const HourFields = ({ control }: HourFieldsProps): ReactNode => {
  const { field } = useController({ control, name: "hasHours" });
  return (
    <Section title="Hours">
      <Checkbox
        label="Only at certain times"
        checked={field.value}
        onChange={({ target }) => field.onChange(target.checked)}
      />
      {field.value ? <Windows control={control} /> : <p className="text-sm text-fg-3">Off: no limit.</p>}
    </Section>
  );
};

const Windows = ({ control }: HourFieldsProps): ReactNode => {
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
        <div key={field.id} className="flex flex-wrap items-start gap-x-3 gap-y-2 border-t pt-3">
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

const Days = ({ control, index }: HourFieldsProps & { readonly index: number }): ReactNode => {
  const { field, fieldState } = useController({ control, name: `windows.${index}.days` });
  const toggle = (day: number): void =>
    field.onChange(field.value.includes(day) ? field.value.filter((one) => one !== day) : [...field.value, day]);
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
