"use client";

import type { ReactNode } from "react";
import { Controller, useController, useWatch, type Control } from "react-hook-form";
import { Checkbox } from "@/components/ui/field";
import { TextField } from "@/components/ui/form";
import { RadioCards } from "@/components/ui/radio-cards";
import type { PolicyValues } from "../policy-form";
import { Section } from "./section";

interface ApprovalFieldsProps {
  readonly control: Control<PolicyValues>;
}

const CODES = [
  { value: "none", label: "Not asked for here", description: "Only what people and API keys need anyway." },
  { value: "always", label: "Always", description: "Each movement needs a code." },
  { value: "above", label: "Above an amount", description: "Each movement that is worth more needs a code." },
  { value: "exempt", label: "Above an amount a day", description: "Movements beyond it on one UTC day need a code." },
] as const;

const AMOUNT_LABEL = {
  above: "A code above (USD)",
  exempt: "Without a code, in a day (USD)",
} as const;

/** When a one-time code is needed. */
export const CodeFields = ({ control }: ApprovalFieldsProps): ReactNode => {
  const mode = useWatch({ control, name: "code" });
  return (
    <Section title="One-time codes" hint="Beside what an API key itself asks for. Signed-in people always need one.">
      <Controller
        control={control}
        name="code"
        render={({ field }) => (
          <RadioCards label="One-time codes" value={field.value} onValueChange={field.onChange} options={CODES} />
        )}
      />
      {mode === "above" || mode === "exempt" ? (
        <TextField
          control={control}
          name="codeUsd"
          label={AMOUNT_LABEL[mode]}
          className="max-w-80"
          input={{ numeric: true, placeholder: "0.00" }}
        />
      ) : null}
    </Section>
  );
};

const ROLES = [
  { name: "owner", label: "Owners" },
  { name: "admin", label: "Admins" },
  { name: "operator", label: "Operators" },
] as const;

/** Above which amount other people must approve, how many, and who. */
export const VoteFields = ({ control }: ApprovalFieldsProps): ReactNode => {
  const { field } = useController({ control, name: "hasApprovals" });
  return (
    <Section title="Approval by other people">
      <Checkbox
        label="Other people approve above an amount"
        checked={field.value}
        onChange={({ target }) => field.onChange(target.checked)}
      />
      {field.value ? (
        <Votes control={control} />
      ) : (
        <p className="text-sm text-fg-3">Off: nobody else has to approve.</p>
      )}
    </Section>
  );
};

const Votes = ({ control }: ApprovalFieldsProps): ReactNode => (
  <>
    <div className="grid grid-cols-1 gap-x-6 gap-y-3 sm:grid-cols-2">
      <TextField
        control={control}
        name="approvalsAboveUsd"
        label="Above (USD)"
        hint="0: every movement."
        input={{ numeric: true, placeholder: "0.00" }}
      />
      <TextField
        control={control}
        name="approvalsCount"
        label="People who must approve"
        hint="1 to 10."
        input={{ numeric: true }}
      />
    </div>
    <fieldset className="flex flex-wrap gap-x-6 gap-y-1">
      <legend className="pb-1 text-sm font-medium text-fg-2">Who may approve</legend>
      {ROLES.map(({ name, label }) => (
        <BoundCheckbox key={name} control={control} name={name} label={label} />
      ))}
    </fieldset>
    <BoundCheckbox control={control} name="excludeMaker" label="Not the person who asked" />
  </>
);

interface BoundCheckboxProps extends ApprovalFieldsProps {
  readonly name: "owner" | "admin" | "operator" | "excludeMaker";
  readonly label: string;
}

const BoundCheckbox = ({ control, name, label }: BoundCheckboxProps): ReactNode => (
  <Controller
    control={control}
    name={name}
    render={({ field }) => (
      <Checkbox label={label} checked={field.value} onChange={({ target }) => field.onChange(target.checked)} />
    )}
  />
);
