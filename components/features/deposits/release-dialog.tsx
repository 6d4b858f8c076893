"use client";

import { useQueryClient } from "@tanstack/react-query";
import { useState, type ReactNode } from "react";
import { toast } from "sonner";
import { ApprovalStep } from "@/components/features/approvals/approval-step";
import { useApprovable } from "@/components/features/approvals/use-approvable";
import { queryKeyOf } from "@/components/features/session/query-key";
import { useApi } from "@/components/features/session/use-api";
import { Button } from "@/components/ui/button";
import { Dialog } from "@/components/ui/dialog";
import { ErrorState } from "@/components/ui/error-state";
import { Field, Input } from "@/components/ui/field";
import { getUnifiedBalances } from "@/lib/contracts/balances";
import { releaseDeposit } from "@/lib/contracts/deposits";
import { readProjectInbox } from "@/lib/contracts/inbox";
import { getOperation, listOperations } from "@/lib/contracts/operations";
import type { DepositRecord } from "./words";

const REASON_MAX = 500;
const FORM = "release-deposit";

interface ReleaseDialogProps {
  readonly deposit: DepositRecord;
  readonly open: boolean;
  readonly onOpenChange: (open: boolean) => void;
}

/** Asks for the reason, then for the approval. */
export const ReleaseDialog = ({ deposit, open, onOpenChange }: ReleaseDialogProps): ReactNode => {
  const api = useApi();
  const queryClient = useQueryClient();
  const [reason, setReason] = useState("");
  const change = useApprovable<string>(async (text, approval) => {
    const body = { reason: text, ...(approval === undefined ? {} : { approval }) };
    await api.call(releaseDeposit, { params: { id: deposit.depositId }, body });
    for (const contract of [getOperation, listOperations, getUnifiedBalances, readProjectInbox])
      void queryClient.invalidateQueries({ queryKey: queryKeyOf(contract) });
    toast.success("Released. The money may be moved.");
    onOpenChange(false);
  });
  const isAsked = change.asked !== null;
  return (
    <Dialog
      open={open}
      onOpenChange={(next) => {
        if (!next) change.reset();
        onOpenChange(next);
      }}
      title="Release this deposit?"
      description="Its money may be moved afterwards, and counts as reserves. The reason and your name go into the audit log."
      footer={
        isAsked ? undefined : (
          <>
            <Button onClick={() => onOpenChange(false)}>Keep in quarantine</Button>
            <Button type="submit" form={FORM} variant="primary" loading={change.busy} disabled={reason.trim() === ""}>
              Release
            </Button>
          </>
        )
      }
    >
      {change.asked !== null ? (
        <ApprovalStep asked={change.asked} change={change} />
      ) : (
        <form
          id={FORM}
          className="flex flex-col gap-3"
          onSubmit={(event) => {
            event.preventDefault();
            void change.start(reason.trim());
          }}
        >
          <Field label="Reason" hint="What you checked, and with whom.">
            <Input
              value={reason}
              maxLength={REASON_MAX}
              onChange={(event) => setReason(event.target.value)}
              autoFocus
            />
          </Field>
          {change.error == null ? null : <ErrorState compact error={change.error} money="It stays in quarantine." />}
        </form>
      )}
    </Dialog>
  );
};
