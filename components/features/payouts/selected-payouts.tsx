"use client";

import { RotateCcw } from "lucide-react";
import { type ReactNode, useRef } from "react";
import { TagSelected } from "@/components/features/annotations/tag-selected";
import { ExportSelected } from "@/components/features/operations/selected-movements";
import { useMay } from "@/components/features/projects/use-project";
import { useApi, useCache } from "@/components/features/session/use-api";
import { Button } from "@/components/ui/button";
import {
  BulkFailures,
  type Selection,
  SelectionBar,
  useBulkAct,
} from "@/components/ui/selection";
import { toast } from "@/components/ui/toast";
import { useTitleOptions } from "@/components/ui/use-locale";
import { listPayouts, retryPayout } from "@/lib/api-client/calls.gen";
import { type Payout, titleOf } from "./payout";

interface SelectedPayoutsProps {
  readonly payouts: readonly Payout[];
  readonly selection: Selection;
}

/** The actions for the selected payouts. */
export const SelectedPayouts = ({ payouts, selection }: SelectedPayoutsProps): ReactNode => {
  const act = useBulkAct(selection);
  const options = useTitleOptions();
  const retry = useRetry();
  const mayWrite = useMay("records:write");
  const { selected } = selection;
  const chosen = payouts.filter(({ payoutId }) => selected.includes(payoutId));
  const mayRetry = chosen.length > 0 && chosen.every(({ may }) => may.retry);
  const named = (id: string): string => {
    const payout = payouts.find(({ payoutId }) => payoutId === id);
    return payout === undefined ? id : titleOf(payout, options);
  };
  return (
    <SelectionBar selection={selection} notice={<BulkFailures act={act} labelOf={named} />}>
      {mayWrite ? <TagSelected selected={selected} act={act} /> : null}
      <ExportSelected
        movements={payouts.map(({ payoutId, createdAt }) => ({ id: payoutId, createdAt }))}
        selected={selected}
      />
      {mayRetry ? (
        <Button loading={act.busy} onClick={() => void act.run(retry.send).then(retry.finish)}>
          {act.busy ? null : <RotateCcw aria-hidden />} Retry failed rows
        </Button>
      ) : null}
    </SelectionBar>
  );
};

const useRetry = () => {
  const api = useApi();
  const { refresh } = useCache();
  // Each payout has its own idempotency key, so that a payout whose answer was lost is not retried
  // twice.
  const keys = useRef(new Map<string, string>());
  return {
    send: async (id: string): Promise<void> => {
      const key = keys.current.get(id) ?? crypto.randomUUID();
      keys.current.set(id, key);
      await api.call(retryPayout, { params: { id }, idempotencyKey: key });
    },
    finish: (done: number): void => {
      void refresh(listPayouts);
      if (done > 0)
        toast.success(
          done === 1
            ? "The failed rows of 1 payout are a new payout."
            : `The failed rows of ${String(done)} payouts are new payouts.`,
        );
    },
  };
};
