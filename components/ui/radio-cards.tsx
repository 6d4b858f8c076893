"use client";

import { RadioGroup } from "radix-ui";
import type { ReactNode } from "react";

interface RadioCardsProps {
  readonly options: readonly {
    readonly value: string;
    readonly label: ReactNode;
    readonly description?: ReactNode;
    readonly aside?: ReactNode;
  }[];
  readonly value: string;
  readonly onValueChange: (value: string) => void;
  /** Id of the element that names the group. */
  readonly labelledBy?: string;
  readonly label?: string;
}

/** One of a few, each with a word of explanation: presets, routes. */
export const RadioCards = ({ options, value, onValueChange, labelledBy, label }: RadioCardsProps): ReactNode => (
  <RadioGroup.Root
    value={value}
    onValueChange={onValueChange}
    aria-labelledby={labelledBy}
    aria-label={label}
    className="flex flex-col gap-2"
  >
    {options.map((option) => (
      <RadioGroup.Item
        key={option.value}
        value={option.value}
        className="group flex items-start gap-3 rounded-card border border-control px-3 py-2 text-left hover:bg-sunken data-[state=checked]:border-accent data-[state=checked]:bg-accent-tint touch-target"
      >
        <span
          aria-hidden
          className="mt-0.5 flex size-4 shrink-0 items-center justify-center rounded-full border border-control bg-surface group-data-[state=checked]:border-accent"
        >
          <RadioGroup.Indicator className="size-2 rounded-full bg-accent" />
        </span>
        <span className="min-w-0 flex-1">
          <span className="block font-medium">{option.label}</span>
          {option.description === undefined ? null : (
            <span className="block text-sm text-fg-2">{option.description}</span>
          )}
        </span>
        {option.aside}
      </RadioGroup.Item>
    ))}
  </RadioGroup.Root>
);
