"use client";

import { Command } from "cmdk";
import { Check } from "lucide-react";
import { useState, type ReactNode } from "react";
import { cn } from "./cn";
import { Picker } from "./combobox";

interface Option<Value extends string> {
  readonly value: Value;
  readonly label: string;
  readonly mark?: ReactNode;
}

interface MultiSelectProps<Value extends string> {
  /** The chosen values; empty means all. */
  readonly value: readonly Value[];
  readonly onValueChange: (value: readonly Value[]) => void;
  readonly options: readonly Option<Value>[];
  /** Text shown when no value is chosen. */
  readonly all: string;
}

/**
 * A select in which a person chooses several of a few options. Its list stays open. Used inside a
 * `Field`.
 */
export const MultiSelect = <Value extends string>({
  value,
  onValueChange,
  options,
  all,
}: MultiSelectProps<Value>): ReactNode => {
  const [open, setOpen] = useState(false);
  const chosen = options.filter((option) => value.includes(option.value));
  const toggle = (one: Value): void =>
    onValueChange(
      value.includes(one) ? value.filter((other) => other !== one) : [...value, one],
    );
  return (
    <Picker
      open={open}
      onOpenChange={setOpen}
      width="w-64"
      shown={
        <span className="truncate">
          {chosen.length === 0 ? all : chosen.map(({ label }) => label).join(", ")}
        </span>
      }
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
                <Check
                  className={cn("size-4 shrink-0 text-accent", !isChosen && "invisible")}
                  aria-hidden
                />
                {option.mark}
                <span className="truncate">{option.label}</span>
              </Command.Item>
            );
          })}
        </Command.List>
      </Command>
    </Picker>
  );
};
