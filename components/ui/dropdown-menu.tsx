"use client";

import { Check } from "lucide-react";
import { DropdownMenu as Primitive } from "radix-ui";
import type { ReactNode } from "react";
import { cn } from "./cn";

interface DropdownMenuProps {
  /** The only child, which must accept a ref; usually a `Button`. */
  readonly trigger: ReactNode;
  readonly align?: "start" | "end";
  readonly children: ReactNode;
}

/**
 * A menu that does not hide the rest of the page from screen readers. It is rendered beside its
 * trigger, within the same landmark.
 */
export const DropdownMenu = ({
  trigger,
  align = "end",
  children,
}: DropdownMenuProps): ReactNode => (
  <Primitive.Root modal={false}>
    <Primitive.Trigger asChild>{trigger}</Primitive.Trigger>
    <Primitive.Content
      align={align}
      sideOffset={4}
      collisionPadding={8}
      className="z-50 min-w-44 animate-fade-in rounded-card border bg-surface p-1 shadow-float"
    >
      {children}
    </Primitive.Content>
  </Primitive.Root>
);

const ITEM_LOOKS =
  "flex min-h-8 w-full cursor-default items-center gap-2 rounded-control px-2 text-left outline-none select-none data-disabled:text-fg-3 data-highlighted:bg-sunken touch-target [&_svg]:size-4 [&_svg]:shrink-0 [&_svg]:text-fg-3";

interface MenuItemProps {
  readonly onSelect?: () => void;
  readonly danger?: boolean;
  /** Applies style and behaviour to the only child, for instance a link. */
  readonly asChild?: boolean;
  readonly children: ReactNode;
}

export const MenuItem = ({
  onSelect,
  danger = false,
  asChild = false,
  children,
}: MenuItemProps): ReactNode => (
  <Primitive.Item
    asChild={asChild}
    onSelect={onSelect}
    className={cn(ITEM_LOOKS, danger && "text-danger [&_svg]:text-danger")}
  >
    {children}
  </Primitive.Item>
);

interface MenuChoiceProps {
  readonly label: string;
  readonly value: string;
  readonly onValueChange: (value: string) => void;
  readonly options: readonly {
    readonly value: string;
    readonly label: string;
    readonly icon?: ReactNode;
  }[];
}

/** A group of menu items of which one is chosen, for instance the theme. */
export const MenuChoice = ({
  label,
  value,
  onValueChange,
  options,
}: MenuChoiceProps): ReactNode => (
  <Primitive.RadioGroup value={value} onValueChange={onValueChange} aria-label={label}>
    {options.map((option) => (
      <Primitive.RadioItem key={option.value} value={option.value} className={ITEM_LOOKS}>
        {option.icon}
        <span className="flex-1">{option.label}</span>
        <Primitive.ItemIndicator>
          <Check aria-hidden />
        </Primitive.ItemIndicator>
      </Primitive.RadioItem>
    ))}
  </Primitive.RadioGroup>
);

export const MenuLabel = ({ children }: { readonly children: ReactNode }): ReactNode => (
  <Primitive.Label className="px-2 py-1.5 text-sm text-fg-3">{children}</Primitive.Label>
);

export const MenuSeparator = (): ReactNode => (
  <Primitive.Separator className="-mx-1 my-1 border-t" />
);
