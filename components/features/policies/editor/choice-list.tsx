"use client";

import { X } from "lucide-react";
import type { ReactNode } from "react";
import { Combobox, type ComboboxOption } from "@/components/ui/combobox";
import { Field } from "@/components/ui/field";

interface ChoiceListProps {
  readonly label: string;
  /** Shown while nothing is chosen. */
  readonly none: string;
  readonly placeholder: string;
  readonly options: readonly ComboboxOption[];
  readonly values: readonly string[];
  readonly onChange: (values: string[]) => void;
}

/** Several of a list: the chosen ones as chips that can be taken away, and a field that adds one. */
export const ChoiceList = ({ label, none, placeholder, options, values, onChange }: ChoiceListProps): ReactNode => {
  const labelOf = (value: string): string => options.find((option) => option.value === value)?.label ?? value;
  return (
    <div className="flex min-w-0 flex-col gap-2">
      <Field label={label} {...(values.length === 0 ? { hint: none } : {})}>
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
