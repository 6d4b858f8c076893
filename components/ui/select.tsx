"use client";

import { Check, ChevronDown } from "lucide-react";
import { Select as Primitive } from "radix-ui";
import type { ReactNode } from "react";
import { useStyleNonce } from "./style-nonce";
import { cn } from "./cn";
import { CONTROL_LOOKS, useFieldProps } from "./field";

export interface SelectOption {
  readonly value: string;
  readonly label: string;
  readonly mark?: ReactNode;
  readonly disabled?: boolean;
}

interface SelectProps {
  readonly options: readonly SelectOption[];
  readonly value: string;
  readonly onValueChange: (value: string) => void;
  readonly placeholder?: string;
  /** Accessible name, for use outside of a `Field`. */
  readonly label?: string;
  readonly disabled?: boolean;
  readonly className?: string;
}

export const Select = ({
  options,
  value,
  onValueChange,
  placeholder,
  label,
  disabled,
  className,
}: SelectProps): ReactNode => {
  const field = useFieldProps({});
  const nonce = useStyleNonce();
  const shown = options.find((option) => option.value === value)?.label ?? placeholder;
  return (
    <Primitive.Root value={value} onValueChange={onValueChange} disabled={disabled}>
      <Primitive.Trigger
        {...field}
        aria-label={label}
        className={cn(
          CONTROL_LOOKS,
          "flex items-center justify-between gap-2 text-left data-placeholder:text-fg-3",
          className,
        )}
      >
        <span className="truncate" title={shown}>
          <Primitive.Value placeholder={placeholder} />
        </span>
        <ChevronDown className="size-4 shrink-0 text-fg-3" aria-hidden />
      </Primitive.Trigger>
      <Primitive.Portal>
        <Primitive.Content
          position="popper"
          sideOffset={4}
          className="z-50 max-h-80 min-w-(--radix-select-trigger-width) animate-fade-in overflow-hidden rounded-card border bg-surface shadow-float"
        >
          <Primitive.Viewport className="p-1" {...nonce}>
            {options.map((option) => (
              <Primitive.Item
                key={option.value}
                value={option.value}
                disabled={option.disabled === true}
                className="flex min-h-8 items-center justify-between gap-4 rounded-control px-2 outline-none select-none data-disabled:text-fg-3 data-highlighted:bg-sunken touch-target"
              >
                <Primitive.ItemText>
                  {option.mark === undefined ? (
                    option.label
                  ) : (
                    <span className="whitespace-nowrap [&>[aria-hidden]]:mr-1.5">
                      {option.mark}
                      {option.label}
                    </span>
                  )}
                </Primitive.ItemText>
                <Primitive.ItemIndicator>
                  <Check className="size-4 text-accent" aria-hidden />
                </Primitive.ItemIndicator>
              </Primitive.Item>
            ))}
          </Primitive.Viewport>
        </Primitive.Content>
      </Primitive.Portal>
    </Primitive.Root>
  );
};

interface FilterSelectProps<Value extends string> extends Omit<
  SelectProps,
  "options" | "value" | "onValueChange"
> {
  readonly options: readonly (SelectOption & { readonly value: Value })[];
  /** Label of the option that does not filter. */
  readonly all: string;
  /** The chosen option; null when nothing is filtered. */
  readonly value: Value | null;
  readonly onValueChange: (value: Value | null) => void;
}

const ALL = "*all*";

export const FilterSelect = <Value extends string>({
  options,
  all,
  value,
  onValueChange,
  ...props
}: FilterSelectProps<Value>): ReactNode => (
  <Select
    {...props}
    options={[{ value: ALL, label: all }, ...options]}
    value={value ?? ALL}
    onValueChange={(chosen) =>
      onValueChange(options.find((option) => option.value === chosen)?.value ?? null)
    }
  />
);
