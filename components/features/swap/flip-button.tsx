"use client";

import { ArrowDownUp } from "lucide-react";
import type { ReactNode } from "react";
import { Button } from "@/components/ui/button";
import type { SwapForm } from "./use-swap-form";

interface FlipButtonProps {
  readonly swap: SwapForm;
  /** The amount that arrives by the quote shown; empty where there is none. */
  readonly amount: string;
}

/** Between the two cards, as it turns their direction round. */
export const FlipButton = ({ swap, amount }: FlipButtonProps): ReactNode =>
  swap.rows.length > 1 ? null : (
    <div className="-my-2 flex justify-center">
      <Button size="sm" aria-label="Flip the direction" onClick={() => swap.flip(amount)}>
        <ArrowDownUp aria-hidden />
      </Button>
    </div>
  );
