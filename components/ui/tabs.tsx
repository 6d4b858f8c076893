"use client";

import { Tabs as Primitive } from "radix-ui";
import type { ReactNode } from "react";

interface TabsProps {
  /** Accessible name of the list of tabs. */
  readonly label: string;
  readonly tabs: readonly {
    readonly value: string;
    readonly label: ReactNode;
    readonly content: ReactNode;
  }[];
  readonly value?: string;
  readonly onValueChange?: (value: string) => void;
}

export const Tabs = ({ label, tabs, value, onValueChange }: TabsProps): ReactNode => (
  <Primitive.Root
    defaultValue={tabs[0]?.value ?? ""}
    value={value}
    onValueChange={onValueChange}
  >
    <Primitive.List aria-label={label} className="flex gap-4 overflow-x-auto border-b">
      {tabs.map((tab) => (
        <Primitive.Trigger
          key={tab.value}
          value={tab.value}
          className="-mb-px h-9 border-b-2 border-transparent whitespace-nowrap text-fg-2 hover:text-fg data-[state=active]:border-accent data-[state=active]:font-medium data-[state=active]:text-fg touch-target"
        >
          {tab.label}
        </Primitive.Trigger>
      ))}
    </Primitive.List>
    {tabs.map((tab) => (
      <Primitive.Content key={tab.value} value={tab.value} className="pt-3">
        {tab.content}
      </Primitive.Content>
    ))}
  </Primitive.Root>
);
