"use client";

import { TriangleAlert } from "lucide-react";
import type { ReactNode } from "react";
import { Button } from "@/components/ui/button";
import { Field, Input } from "@/components/ui/field";
import { percentText } from "./decimal";
import { SLIPPAGE_WARNING_BPS, slippageBps } from "./form-model";
import type { SwapForm } from "./use-swap-form";

const PRESETS = ["0.1", "0.5", "1"];

interface SlippageFieldProps {
  readonly swap: SwapForm;
  readonly error: string | undefined;
}

/** How much less than quoted is accepted; enforced on chain. */
export const SlippageField = ({ swap, error }: SlippageFieldProps): ReactNode => {
  const bps = slippageBps(swap.values.slippage);
  const high = bps !== null && bps > SLIPPAGE_WARNING_BPS;
  return (
    <Field
      label="Slippage (%)"
      className="pt-3"
      error={error}
      hint={
        high && error === undefined ? (
          <span className="flex items-start gap-1 text-warning">
            <TriangleAlert className="mt-0.5 size-3.5 shrink-0" aria-hidden />
            High: you accept up to {percentText(bps)} less than quoted.
          </span>
        ) : undefined
      }
    >
      <div className="flex flex-wrap items-center gap-1">
        <Input numeric className="w-24" {...swap.form.register("slippage")} />
        {PRESETS.map((preset) => (
          <Button
            key={preset}
            size="sm"
            variant={swap.values.slippage.trim() === preset ? "secondary" : "ghost"}
            aria-label={`Slippage ${preset} %`}
            aria-pressed={swap.values.slippage.trim() === preset}
            onClick={() => swap.choose("slippage", preset)}
          >
            {preset} %
          </Button>
        ))}
      </div>
    </Field>
  );
};
