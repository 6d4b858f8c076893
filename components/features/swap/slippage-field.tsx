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
    <div className="flex flex-wrap items-start gap-x-3 gap-y-1 pt-3">
      <Field
        label="Slippage (%)"
        className="w-36"
        error={error}
        hint={
          high && error === undefined ? (
            <span className="flex items-start gap-1 text-warning">
              <TriangleAlert className="mt-0.5 size-3.5 shrink-0" aria-hidden />
              High: up to {percentText(bps)} less than quoted is accepted.
            </span>
          ) : undefined
        }
      >
        <Input numeric {...swap.form.register("slippage")} />
      </Field>
      <div className="flex gap-1 pt-[22px]" role="group" aria-label="Usual slippage">
        {PRESETS.map((preset) => (
          <Button
            key={preset}
            size="sm"
            className="mt-1"
            variant={swap.values.slippage.trim() === preset ? "secondary" : "ghost"}
            aria-pressed={swap.values.slippage.trim() === preset}
            onClick={() => swap.choose("slippage", preset)}
          >
            {preset} %
          </Button>
        ))}
      </div>
    </div>
  );
};
