"use client";

import { RadioGroup } from "radix-ui";
import type { ReactNode } from "react";
import { cn } from "./cn";

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
  /** Places the options in a row when there is room. */
  readonly inRow?: boolean;
}

export const RadioCards = ({
  options,
  value,
  onValueChange,
  labelledBy,
  label,
  inRow = false,
}: RadioCardsProps): ReactNode => (
  <RadioGroup.Root
    value={value}
    onValueChange={onValueChange}
    aria-labelledby={labelledBy}
    aria-label={label}
    className={cn("flex flex-col gap-2", inRow && "sm:grid sm:auto-cols-fr sm:grid-flow-col")}
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
