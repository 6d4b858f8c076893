"use client";

import { zodResolver } from "@hookform/resolvers/zod";
import { useQueryClient } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { useForm } from "react-hook-form";
import { toast } from "@/components/ui/toast";
import { z } from "zod";
import { ApprovalStep } from "@/components/features/approvals/approval-step";
import { useApprovable } from "@/components/features/approvals/use-approvable";
import { queryKeyOf } from "@/components/features/session/query-key";
import { useApi } from "@/components/features/session/use-api";
import { Button } from "@/components/ui/button";
import { Dialog } from "@/components/ui/dialog";
import { Form, FormError, TextField } from "@/components/ui/form";
import {
  getOperation,
  getUnifiedBalances,
  listOperations,
  readProjectInbox,
  releaseDeposit,
} from "@/lib/api-client/calls.gen";
import type { DepositRecord } from "./words";

const REASON_MAX = 500;
const reasonForm = z.object({ reason: z.string().trim().min(1, "Enter the reason.").max(REASON_MAX) });
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
  const form = useForm({ resolver: zodResolver(reasonForm), defaultValues: { reason: "" } });
  const change = useApprovable<string>(`deposit.release ${deposit.depositId}`, async (reason, approval) => {
    const body = { reason, ...(approval === undefined ? {} : { approval }) };
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
            <Button type="submit" form={FORM} variant="primary" loading={change.busy}>
              Release
            </Button>
          </>
        )
      }
    >
      {change.asked !== null ? (
        <ApprovalStep asked={change.asked} change={change} />
      ) : (
        <Form
          id={FORM}
          form={form}
          error={change.error}
          onSubmit={({ reason }) => change.start(reason)}
          className="flex flex-col gap-3"
        >
          <TextField
            control={form.control}
            name="reason"
            label="Reason"
            hint="Say how you checked it, and with whom."
            input={{ maxLength: REASON_MAX, autoFocus: true }}
          />
          <FormError money="It stays in quarantine." />
        </Form>
      )}
    </Dialog>
  );
};
