"use client";

import { Command } from "cmdk";
import { Check, ChevronDown } from "lucide-react";
import { Popover } from "radix-ui";
import { useState, type ReactNode } from "react";
import { cn } from "./cn";
import { CONTROL_LOOKS, useFieldProps } from "./field";
import { Shortened } from "./shortened";

export interface ComboboxOption {
  readonly value: string;
  readonly label: string;
  readonly mark?: ReactNode;
  /** Muted second line. */
  readonly description?: string;
  readonly aside?: ReactNode;
  /** Further words that the search matches. */
  readonly keywords?: readonly string[];
  readonly group?: string;
}

interface ComboboxProps {
  readonly options: readonly ComboboxOption[];
  readonly value: string;
  readonly onValueChange: (value: string) => void;
  readonly placeholder?: string;
  readonly searchPlaceholder?: string;
  readonly emptyText?: string;
  /** The accessible name. Not needed inside a `Field`, which provides a name. */
  readonly label?: string;
  readonly disabled?: boolean;
  readonly className?: string;
}

const groupsOf = (options: readonly ComboboxOption[]): [string, ComboboxOption[]][] => {
  const groups = new Map<string, ComboboxOption[]>();
  for (const option of options) {
    const group = option.group ?? "";
    groups.set(group, [...(groups.get(group) ?? []), option]);
  }
  return [...groups];
};

export const Combobox = ({
  options,
  value,
  onValueChange,
  placeholder = "Choose …",
  searchPlaceholder = "Search …",
  emptyText = "Nothing found.",
  label,
  disabled = false,
  className,
}: ComboboxProps): ReactNode => {
  const [open, setOpen] = useState(false);
  const chosen = options.find((option) => option.value === value);
  const choose = (next: string): void => {
    onValueChange(next);
    setOpen(false);
  };
  return (
    <Picker
      open={open}
      onOpenChange={setOpen}
      label={label}
      disabled={disabled}
      className={className}
      width="w-max min-w-(--radix-popover-trigger-width)"
      shown={
        <span
          className={cn(
            "flex min-w-0 items-center gap-1.5",
            chosen === undefined && "text-fg-3",
          )}
        >
          {chosen?.mark}
          <Shortened>{chosen?.label ?? placeholder}</Shortened>
        </span>
      }
    >
      <Command label={label ?? searchPlaceholder}>
        <Command.Input
          placeholder={searchPlaceholder}
          className="h-9 w-full border-b bg-transparent px-3 outline-none placeholder:text-fg-3"
        />
        <Command.List className="max-h-72 overflow-y-auto p-1">
          <Command.Empty className="px-2 py-3 text-sm text-fg-3">{emptyText}</Command.Empty>
          {groupsOf(options).map(([group, members]) => (
            <Command.Group
              key={group}
              heading={group === "" ? undefined : group}
              className={GROUP_LOOKS}
            >
              {members.map((option) => (
                <ComboboxItem
                  key={option.value}
                  option={option}
                  chosen={option.value === value}
                  choose={choose}
                />
              ))}
            </Command.Group>
          ))}
        </Command.List>
      </Command>
    </Picker>
  );
};

interface PickerProps {
  readonly open: boolean;
  readonly onOpenChange: (open: boolean) => void;
  /** The accessible name. Not needed inside a `Field`, which provides a name. */
  readonly label?: string;
  readonly disabled?: boolean;
  readonly className?: string;
  /** Shows the button as text, without a border; for rows of a form. */
  readonly bare?: boolean;
  readonly width: string;
  /** The chosen value, shown in the button. */
  readonly shown: ReactNode;
  readonly children: ReactNode;
}

const BARE_LOOKS =
  "-mx-1.5 inline-flex min-h-7 max-w-full min-w-0 items-center gap-1 rounded-control px-1.5 text-left hover:bg-sunken aria-invalid:text-danger touch-target";

export const Picker = (props: PickerProps): ReactNode => {
  const field = useFieldProps({});
  return (
    <Popover.Root open={props.open} onOpenChange={props.onOpenChange}>
      <Popover.Trigger
        {...field}
        type="button"
        role="combobox"
        aria-label={props.label}
        aria-expanded={props.open}
        disabled={props.disabled}
        onKeyDown={(event) => {
          if (event.key !== "ArrowDown" && event.key !== "ArrowUp") return;
          event.preventDefault();
          props.onOpenChange(true);
        }}
        className={cn(
          props.bare === true
            ? BARE_LOOKS
            : [CONTROL_LOOKS, "flex items-center justify-between gap-2 text-left"],
          props.className,
        )}
      >
        {props.shown}
        <ChevronDown className="size-4 shrink-0 text-fg-3" aria-hidden />
      </Popover.Trigger>
      <Popover.Portal>
        <Popover.Content
          align="start"
          sideOffset={4}
          collisionPadding={8}
          className={cn(
            "z-50 max-w-[calc(100vw-16px)] animate-fade-in rounded-card border bg-surface shadow-float",
            props.width,
          )}
        >
          {props.children}
        </Popover.Content>
      </Popover.Portal>
    </Popover.Root>
  );
};

/** Styles the heading that cmdk renders for a group. */
export const GROUP_LOOKS =
  "[&_[cmdk-group-heading]]:px-2 [&_[cmdk-group-heading]]:py-1 [&_[cmdk-group-heading]]:text-xs [&_[cmdk-group-heading]]:font-medium [&_[cmdk-group-heading]]:text-fg-3";

interface ComboboxItemProps {
  readonly option: ComboboxOption;
  readonly chosen: boolean;
  readonly choose: (value: string) => void;
}

const ComboboxItem = ({ option, chosen, choose }: ComboboxItemProps): ReactNode => (
  <Command.Item
    value={option.value}
    keywords={[option.label, ...(option.keywords ?? [])]}
    onSelect={() => choose(option.value)}
    className="flex min-h-8 cursor-default items-center gap-3 rounded-control px-2 py-1 data-[selected=true]:bg-sunken touch-target"
  >
    {option.mark}
    <span className="min-w-0 flex-1">
      <Shortened className="block">{option.label}</Shortened>
      {option.description === undefined ? null : (
        <Shortened className="block text-xs text-fg-3">{option.description}</Shortened>
      )}
    </span>
    {option.aside}
    <Check className={cn("size-4 shrink-0 text-accent", !chosen && "invisible")} aria-hidden />
  </Command.Item>
);
