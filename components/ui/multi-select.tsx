"use client";

import { Command } from "cmdk";
import { Check, ChevronDown } from "lucide-react";
import { Popover } from "radix-ui";
import { useState, type ReactNode } from "react";
import { cn } from "./cn";
import { CONTROL_LOOKS, useFieldProps } from "./field";

interface Option<Value extends string> {
  readonly value: Value;
  readonly label: string;
  /** Of what it names: a wallet, a chain. */
  readonly mark?: ReactNode;
}

interface MultiSelectProps<Value extends string> {
  /** Empty: none is chosen, which means all. */
  readonly value: readonly Value[];
  readonly onValueChange: (value: readonly Value[]) => void;
  readonly options: readonly Option<Value>[];
  /** Shown while none is chosen. */
  readonly all: string;
}

/** Several of a few options; the list stays open while they are chosen. Stands inside a `Field`. */
export const MultiSelect = <Value extends string>({
  value,
  onValueChange,
  options,
  all,
}: MultiSelectProps<Value>): ReactNode => {
  const [open, setOpen] = useState(false);
  const field = useFieldProps({});
  const chosen = options.filter((option) => value.includes(option.value));
  const toggle = (one: Value): void =>
    onValueChange(value.includes(one) ? value.filter((other) => other !== one) : [...value, one]);
  return (
    <Popover.Root open={open} onOpenChange={setOpen}>
      <Popover.Trigger
        {...field}
        type="button"
        role="combobox"
        aria-expanded={open}
        className={cn(CONTROL_LOOKS, "flex items-center justify-between gap-2 text-left")}
      >
        <span className="truncate">{chosen.length === 0 ? all : chosen.map(({ label }) => label).join(", ")}</span>
        <ChevronDown className="size-4 shrink-0 text-fg-3" aria-hidden />
      </Popover.Trigger>
      <Popover.Portal>
        <Popover.Content
          align="start"
          sideOffset={4}
          collisionPadding={8}
          className="z-50 w-64 max-w-[calc(100vw-16px)] animate-fade-in rounded-card border bg-surface shadow-float"
        >
          <Command label={all} shouldFilter={false} className="outline-none" tabIndex={0}>
            <Command.List className="max-h-80 overflow-y-auto p-1">
              {options.map((option) => {
                const isChosen = value.includes(option.value);
                return (
                  <Command.Item
                    key={option.value}
                    value={option.value}
                    aria-checked={isChosen}
                    onSelect={() => toggle(option.value)}
                    className="flex min-h-8 cursor-default items-center gap-2 rounded-control px-2 data-[selected=true]:bg-sunken touch-target"
                  >
                    <Check className={cn("size-4 shrink-0 text-accent", !isChosen && "invisible")} aria-hidden />
                    {option.mark}
                    <span className="truncate">{option.label}</span>
                  </Command.Item>
                );
              })}
            </Command.List>
          </Command>
        </Popover.Content>
      </Popover.Portal>
    </Popover.Root>
  );
};
