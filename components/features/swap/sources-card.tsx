"use client";

import { Plus } from "lucide-react";
import type { ReactNode } from "react";
import { Worth } from "@/components/ui/amount";
import { Button } from "@/components/ui/button";
import { Card } from "@/components/ui/card";
import { SOURCES_MAX } from "@/lib/contracts/swap";
import { readAmount } from "@/lib/core/read-amount";
import { sumAmounts, usdValue } from "./decimal";
import { findToken } from "./form-model";
import { type ServerErrors, SourceRow } from "./source-row";
import type { SwapForm } from "./use-swap-form";
import type { SwapSetup } from "./use-swap-setup";

interface SourcesCardProps {
  readonly setup: SwapSetup;
  readonly swap: SwapForm;
  readonly serverErrors: ServerErrors;
}

/** The value of all sources in US dollars; null when an amount or a price is missing. */
const totalUsd = ({ tokens }: SwapSetup, { values }: SwapForm): string | null => {
  const worths = values.sources.map((source) =>
    usdValue(
      readAmount(source.amount) ?? "",
      findToken(tokens, source.chainId, source.token)?.priceUsd ?? null,
    ),
  );
  return worths.includes(null) ? null : sumAmounts(worths.filter((worth) => worth !== null));
};

export const SourcesCard = ({ setup, swap, serverErrors }: SourcesCardProps): ReactNode => {
  const total = totalUsd(setup, swap);
  const count = swap.rows.length;
  return (
    <Card
      title="You send"
      flush
      actions={
        total === null || count === 1 ? null : (
          <span className="text-sm text-fg-2">
            <Worth value={total} /> from {count} sources
          </span>
        )
      }
    >
      <div className="divide-y">
        {swap.rows.map((row, index) => (
          <SourceRow
            key={row.id}
            index={index}
            setup={setup}
            swap={swap}
            serverErrors={serverErrors}
          />
        ))}
      </div>
      <div className="flex flex-wrap items-center justify-between gap-3 border-t px-4 py-2">
        <Button size="sm" disabled={!swap.mayAdd} onClick={swap.addSource}>
          <Plus aria-hidden /> Add source
        </Button>
        <span className="text-sm text-fg-3">
          {count} of {SOURCES_MAX}
        </span>
      </div>
    </Card>
  );
};
