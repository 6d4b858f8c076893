"use client";

import { useEffect, useState, type ReactNode } from "react";
import { cn } from "@/components/ui/cn";
import { Card } from "@/components/ui/card";
import { LoadingRows } from "@/components/ui/skeleton";
import { useLocale } from "@/components/ui/use-locale";
import { countText, measureText } from "@/lib/core/amount-text";
import { BatchScrubber } from "./batch-scrubber";
import { CellGrid } from "./cell-grid";
import { countsOf, ROW_STATES, settledOf, type Payout } from "./payout";
import { leftOf, paceOf, progressSentence, timeLeftText, withSample, type Sample } from "./progress";
import type { PayoutRow } from "./rows-file";
import { ROW_VIEWS } from "./row-views";

interface PayoutPictureProps {
  readonly payout: Payout;
  /** Undefined until they are known. */
  readonly rows: readonly PayoutRow[] | undefined;
  readonly onChoose: (index: number) => void;
}

/** Every row as a cell that fills by its state, with counts, pace and time left. */
export const PayoutPicture = ({ payout, rows, onChoose }: PayoutPictureProps): ReactNode => {
  const [batch, setBatch] = useState<number | null>(null);
  const sentence = progressSentence(payout);
  return (
    <Card title="Progress">
      <p className="num pb-3 text-lg font-medium whitespace-normal" role="status">
        {sentence}
      </p>
      {rows === undefined ? (
        <LoadingRows what="the rows" rows={4} />
      ) : (
        <CellGrid rows={rows} batch={batch} label={sentence} onChoose={onChoose} />
      )}
      <div className="flex flex-wrap items-baseline justify-between gap-x-6 gap-y-1 pt-1">
        <Legend payout={payout} />
        <PaceText payout={payout} />
      </div>
      {payout.kind === "wallets" && payout.batches.total > 1 && rows !== undefined ? (
        <BatchScrubber rows={rows} total={payout.batches.total} batch={batch} onBatch={setBatch} />
      ) : null}
    </Card>
  );
};

const Legend = ({ payout }: { readonly payout: Payout }): ReactNode => {
  const counts = countsOf(payout);
  return (
    <ul aria-label="Rows by state" className="flex flex-wrap gap-x-4 gap-y-1">
      {ROW_STATES.filter((state) => counts[state] > 0).map((state) => (
        <li
          key={state}
          className={cn(
            "flex items-center gap-1.5",
            state === "failed" && "text-danger",
            state === "doubt" && "text-warning",
          )}
        >
          <span aria-hidden className={cn("size-2.5 rounded-tag", ROW_VIEWS[state].cell)} />
          {ROW_VIEWS[state].word} <span className="num font-medium">{countText(counts[state])}</span>
        </li>
      ))}
    </ul>
  );
};

/** The states of the progress that were seen while the page is open. */
const useSamples = (payout: Payout): readonly Sample[] => {
  const settled = settledOf(countsOf(payout));
  const [samples, setSamples] = useState<readonly Sample[]>([]);
  useEffect(() => {
    setSamples((before) => withSample(before, { atMs: performance.now(), settled }));
  }, [settled, payout]);
  return samples;
};

const PaceText = ({ payout }: { readonly payout: Payout }): ReactNode => {
  const samples = useSamples(payout);
  const locale = useLocale();
  if (payout.status !== "processing") return null;
  const pace = paceOf(samples, leftOf(payout));
  const batches =
    payout.kind === "wallets"
      ? [
          `transaction ${String(Math.min(payout.batches.settled + 1, payout.batches.total))} of ${String(payout.batches.total)}`,
        ]
      : [];
  const text = [
    ...batches,
    ...(pace === null
      ? ["measuring the pace"]
      : [`${measureText(pace.rowsPerSecond, locale)} rows/s`, timeLeftText(pace.secondsLeft)]),
  ].join(", ");
  return <span className="num text-fg-2">{text}</span>;
};
