"use client";

import { useQueryClient } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { toast } from "@/components/ui/toast";
import { ReasonDialog } from "@/components/features/approvals/reason-dialog";
import { useApprovable } from "@/components/features/approvals/use-approvable";
import { queryKeyOf } from "@/components/features/session/query-key";
import { useApi } from "@/components/features/session/use-api";
import {
  getOperation,
  getUnifiedBalances,
  listOperations,
  readProjectInbox,
  releaseDeposit,
} from "@/lib/api-client/calls.gen";
import type { DepositRecord } from "./words";

interface ReleaseDialogProps {
  readonly deposit: DepositRecord;
  readonly open: boolean;
  readonly onOpenChange: (open: boolean) => void;
}

/** Asks for the reason, then for the approval. */
export const ReleaseDialog = ({ deposit, open, onOpenChange }: ReleaseDialogProps): ReactNode => {
  const api = useApi();
  const queryClient = useQueryClient();
  const change = useApprovable<string>(`deposit.release ${deposit.depositId}`, async (reason, approval) => {
    const body = { reason, ...(approval === undefined ? {} : { approval }) };
    await api.call(releaseDeposit, { params: { id: deposit.depositId }, body });
    for (const contract of [getOperation, listOperations, getUnifiedBalances, readProjectInbox])
      void queryClient.invalidateQueries({ queryKey: queryKeyOf(contract) });
    toast.success("Released. The money may be moved.");
    onOpenChange(false);
  });
  return (
    <ReasonDialog
      open={open}
      onClose={() => onOpenChange(false)}
      title="Release this deposit?"
      description="Its money may be moved afterwards, and counts as reserves. The reason and your name go into the audit log."
      hint="Say how you checked it, and with whom."
      act="Release"
      keep="Keep in quarantine"
      money="It stays in quarantine."
      change={change}
    />
  );
};
