"use client";

import { useId, useMemo, type ReactNode } from "react";
import { TxHash } from "@/components/ui/address";
import { countText } from "@/lib/core/amount-text";
import type { PayoutRow } from "./rows-file";

interface BatchScrubberProps {
  readonly rows: readonly PayoutRow[];
  readonly total: number;
  /** From 0; null: all. */
  readonly batch: number | null;
  readonly onBatch: (batch: number | null) => void;
}

/** Walks through the transactions that carry the rows; the picture shows the chosen one alone. */
export const BatchScrubber = ({ rows, total, batch, onBatch }: BatchScrubberProps): ReactNode => {
  const id = useId();
  const members = useMemo(() => rows.filter((row) => row.batch === batch), [rows, batch]);
  const hash = members.find(({ transaction }) => transaction !== "")?.transaction;
  const text =
    batch === null
      ? `All ${String(total)} transactions`
      : `Transaction ${String(batch + 1)} of ${String(total)}: ${countText(members.length)} rows`;
  return (
    <div className="flex flex-wrap items-center gap-x-4 gap-y-1 border-t pt-2 mt-2">
      <label htmlFor={id} className="text-sm text-fg-2">
        Transaction
      </label>
      <input
        id={id}
        type="range"
        min={0}
        max={total}
        value={batch === null ? 0 : batch + 1}
        aria-valuetext={text}
        onChange={(event) => onBatch(event.target.value === "0" ? null : Number(event.target.value) - 1)}
        className="h-6 min-w-32 flex-1 accent-accent"
      />
      <span className="num text-sm text-fg-2">{text}</span>
      {hash === undefined || batch === null ? null : <TxHash value={hash} />}
    </div>
  );
};
