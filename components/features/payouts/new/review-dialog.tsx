"use client";

import { useQueryClient } from "@tanstack/react-query";
import { useRouter } from "next/navigation";
import { useState, type ReactNode } from "react";
import { queryKeyOf } from "@/components/features/session/query-key";
import { useSentOnce } from "@/components/features/session/use-sent-once";
import { Alert } from "@/components/ui/alert";
import { Button } from "@/components/ui/button";
import { Dialog } from "@/components/ui/dialog";
import { ErrorState } from "@/components/ui/error-state";
import { Checkbox } from "@/components/ui/field";
import {
  createAccountsPayout,
  createPayoutSchedule,
  createWalletsPayout,
  listPayoutSchedules,
  listPayouts,
} from "@/lib/api-client/calls.gen";
import { countText } from "@/lib/core/amount-text";
import { pathOfPayout, pathOfSchedule } from "../payout";
import { dropDraft } from "./draft-store";
import { RecipientList } from "./recipient-list";
import { ReviewFacts } from "./review-facts";
import { toSchedule } from "./schedule-values";
import type { Checked, NewPayout } from "./use-new-payout";

const WARNINGS_SHOWN = 5;

interface ReviewDialogProps {
  readonly form: NewPayout;
  readonly checked: Checked;
  readonly onClose: () => void;
}

/** Sends what was reviewed; answers with the page to go to. */
const useCreate = () => {
  const queryClient = useQueryClient();
  const wallets = useSentOnce(createWalletsPayout);
  const accounts = useSentOnce(createAccountsPayout);
  const schedules = useSentOnce(createPayoutSchedule);
  const send = async (checked: Checked): Promise<string | null> => {
    if (checked.kind === "wallets" && checked.schedule !== null) {
      const timing = toSchedule(checked.schedule);
      if (timing === null) return null;
      const { chainId, transfers, reference, fundFrom } = checked.body;
      const schedule = await schedules.send({ body: { chainId, transfers, reference, fundFrom, ...timing } });
      void queryClient.invalidateQueries({ queryKey: queryKeyOf(listPayoutSchedules) });
      return pathOfSchedule(schedule);
    }
    const payout =
      checked.kind === "wallets"
        ? await wallets.send({ body: checked.body })
        : await accounts.send({ body: checked.body });
    void queryClient.invalidateQueries({ queryKey: queryKeyOf(listPayouts) });
    return payout.payoutId === null ? null : pathOfPayout({ ...payout, payoutId: payout.payoutId });
  };
  const all = [wallets, accounts, schedules].map(({ mutation }) => mutation);
  return {
    send,
    pending: all.some((one) => one.isPending),
    error: all.find((one) => one.error !== null)?.error ?? null,
  };
};

/** The receipt of what the service has just found right. Creating it moves nothing yet: a code has to approve it. */
export const ReviewDialog = ({ form, checked, onClose }: ReviewDialogProps): ReactNode => {
  const router = useRouter();
  const { send, pending, error } = useCreate();
  const [compared, setCompared] = useState(false);
  // Duplicates are marked at their rows already, and were chosen to be paid.
  const warnings = (checked.kind === "wallets" ? (checked.answer?.warnings ?? []) : []).filter(
    ({ code }) => code !== "duplicate_row",
  );
  const mistakable = warnings.some(({ code }) => code === "lookalike_recipient");
  const scheduled = checked.kind === "wallets" && checked.schedule !== null;
  const create = async (): Promise<void> => {
    const path = await send(checked).catch(() => null);
    if (path === null) return;
    dropDraft();
    router.push(path);
  };
  return (
    <Dialog
      open
      onOpenChange={(open) => (open ? undefined : onClose())}
      title={scheduled ? "Review the schedule" : "Review the payout"}
      description="Every row was checked. Nothing is paid before you approve it with a one-time code."
      size="lg"
      footer={
        <>
          <Button onClick={onClose}>Back</Button>
          <Button variant="primary" loading={pending} disabled={mistakable && !compared} onClick={() => void create()}>
            {scheduled ? "Create schedule" : "Create payout"}
          </Button>
        </>
      }
    >
      <div className="flex flex-col gap-4">
        <ReviewFacts form={form} checked={checked} />
        {warnings.length === 0 ? null : (
          <Alert tone="warning" title="Look at these rows again">
            <ul className="list-disc pl-4">
              {warnings.slice(0, WARNINGS_SHOWN).map((warning) => (
                <li key={`${String(warning.index)} ${warning.code}`} className="[overflow-wrap:anywhere]">
                  Row {countText(warning.index + 1)}: {warning.message}
                </li>
              ))}
              {warnings.length > WARNINGS_SHOWN ? <li>and {warnings.length - WARNINGS_SHOWN} more</li> : null}
            </ul>
            {mistakable ? (
              <Checkbox
                label="I have compared the whole addresses with whom they belong to."
                checked={compared}
                onChange={(event) => setCompared(event.target.checked)}
              />
            ) : null}
          </Alert>
        )}
        <RecipientList checked={checked} form={form} />
        {error === null ? null : <ErrorState compact error={error} money="Nothing was paid." />}
      </div>
    </Dialog>
  );
};
