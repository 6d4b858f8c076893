"use client";

import { useId, type ComponentProps, type ReactNode } from "react";
import { Usd } from "@/components/ui/amount";
import { cn } from "@/components/ui/cn";
import { CONTROL_LOOKS, Field, Input, useFieldProps } from "@/components/ui/field";
import { RadioCards } from "@/components/ui/radio-cards";
import type { KeyErrors, KeyValues } from "./key-form";

interface PolicyFieldsProps {
  readonly values: KeyValues;
  readonly errors: KeyErrors;
  /** US dollars a day that all keys of the project together move without a code; undefined until it is known. */
  readonly projectCap: string | undefined;
  readonly onChange: (part: Partial<KeyValues>) => void;
}

const POLICIES = [
  {
    value: "required",
    label: "A one-time code each time",
    description: "The code goes to you; somebody has to type it for each movement.",
  },
  {
    value: "exempt",
    label: "No code, up to a limit a day",
    description:
      "For programs that run by themselves. It needs your approval once. Above the limit a code is needed, or the operation waits for you.",
  },
] as const;

/** What the key may move without a person, and whereto. */
export const PolicyFields = ({ values, errors, projectCap, onChange }: PolicyFieldsProps): ReactNode => {
  const labelId = useId();
  return (
    <>
      <div className="flex flex-col gap-1">
        <span id={labelId} className="text-sm font-medium text-fg-2">
          What it moves needs
        </span>
        <RadioCards
          labelledBy={labelId}
          value={values.otp}
          onValueChange={(otp) => onChange({ otp: otp === "exempt" ? "exempt" : "required" })}
          options={POLICIES}
        />
      </div>
      {values.otp === "exempt" ? (
        <Field
          label="Limit a day (US dollars)"
          hint={
            <>
              Counted per UTC day. Tokens without a known price always need a code.
              {projectCap === undefined ? null : (
                <>
                  {" "}
                  At most <Usd value={projectCap} />: the project&apos;s daily cap, which counts all keys together and
                  can be changed in the settings.
                </>
              )}
            </>
          }
          error={errors.dailyCapUsd}
          className="max-w-72"
        >
          <Input
            numeric
            placeholder="250"
            value={values.dailyCapUsd}
            onChange={(event) => onChange({ dailyCapUsd: event.target.value })}
          />
        </Field>
      ) : null}
      <Field
        label="Allowed recipients"
        hint="Addresses, one a line. Empty: any address. A key that leaks can then send nowhere else."
        error={errors.recipients}
      >
        <AddressLines
          rows={3}
          placeholder="0x…"
          value={values.recipients}
          onChange={(event) => onChange({ recipients: event.target.value })}
        />
      </Field>
    </>
  );
};

const AddressLines = (props: ComponentProps<"textarea">): ReactNode => {
  const field = useFieldProps({});
  return (
    <textarea
      autoComplete="off"
      spellCheck={false}
      {...props}
      {...field}
      className={cn(CONTROL_LOOKS, "h-auto resize-y py-1.5 font-mono text-sm")}
    />
  );
};
