"use client";

import { type ReactNode, useId } from "react";
import { type Control, useController } from "react-hook-form";
import { Checkbox } from "@/components/ui/field";
import type { PolicyValues } from "../policy-form";

interface SectionProps {
  readonly title: string;
  readonly hint?: string;
  readonly children: ReactNode;
}

export const Section = ({ title, hint, children }: SectionProps): ReactNode => {
  const id = useId();
  return (
    <section aria-labelledby={id} className="flex flex-col gap-3 px-4 py-4">
      <div>
        <h3 id={id} className="font-semibold">
          {title}
        </h3>
        {hint === undefined ? null : <p className="text-sm text-fg-3">{hint}</p>}
      </div>
      {children}
    </section>
  );
};

interface SwitchedSectionProps extends SectionProps {
  readonly control: Control<PolicyValues>;
  readonly name: "hasHours" | "hasApprovals";
  readonly label: string;
  /** Text that is shown while the rule is off. */
  readonly off: string;
}

export const SwitchedSection = ({
  control,
  name,
  label,
  off,
  children,
  ...section
}: SwitchedSectionProps): ReactNode => {
  const { field } = useController({ control, name });
  return (
    <Section {...section}>
      <Checkbox
        label={label}
        checked={field.value}
        onChange={({ target }) => field.onChange(target.checked)}
      />
      {field.value ? children : <p className="text-sm text-fg-3">{off}</p>}
    </Section>
  );
};
