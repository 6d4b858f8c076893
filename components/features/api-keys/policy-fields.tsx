"use client";

import { useId, type ReactNode } from "react";
import { Controller, type Control } from "react-hook-form";
import { Usd } from "@/components/ui/amount";
import { ControlField, TextField } from "@/components/ui/form";
import { RadioCards } from "@/components/ui/radio-cards";
import type { KeyValues } from "./key-form";
import { Lines } from "./lines";

interface PolicyFieldsProps {
  readonly control: Control<KeyValues>;
  readonly values: KeyValues;
  /** US dollars a day that all keys of the project together move without a code; undefined until it is known. */
  readonly projectCap: string | undefined;
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
      "For programs that run without a person. It needs your approval once. Above the limit a code is needed, or the operation waits for you.",
  },
] as const;

/** The fields for the amount that the key may move without a person, and for its recipients. */
export const PolicyFields = ({ control, values, projectCap }: PolicyFieldsProps): ReactNode => {
  const labelId = useId();
  return (
    <>
      <div className="flex flex-col gap-1">
        <span id={labelId} className="text-sm font-medium text-fg-2">
          Codes for what it moves
        </span>
        <Controller
          control={control}
          name="otp"
          render={({ field }) => (
            <RadioCards labelledBy={labelId} value={field.value} onValueChange={field.onChange} options={POLICIES} />
          )}
        />
      </div>
      {values.otp === "exempt" ? (
        <TextField
          control={control}
          name="dailyCapUsd"
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
          className="max-w-72"
          input={{ numeric: true, placeholder: "250" }}
        />
      ) : null}
      <ControlField
        control={control}
        name="recipients"
        label="Allowed recipients"
        hint="Addresses, one a line. Empty: any address. A key that leaks can then send nowhere else."
      >
        {({ value, onValueChange }) => (
          <Lines rows={3} placeholder="0x…" value={value} onChange={(event) => onValueChange(event.target.value)} />
        )}
      </ControlField>
    </>
  );
};
