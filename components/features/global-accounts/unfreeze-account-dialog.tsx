"use client";

import type { ReactNode } from "react";
import { toast } from "@/components/ui/toast";
import { ApiSnippet } from "@/components/features/api-snippet/api-snippet";
import { ApprovalStep } from "@/components/features/approvals/approval-step";
import { useApprovable } from "@/components/features/approvals/use-approvable";
import { useApi } from "@/components/features/session/use-api";
import { Button } from "@/components/ui/button";
import { Dialog } from "@/components/ui/dialog";
import { ErrorState } from "@/components/ui/error-state";
import { unfreezeGlobalAccount } from "@/lib/api-client/calls.gen";
import { accountName } from "./account";
import { useShowAccount, type AccountDialogProps } from "./use-account-changes";

/** Approved by a code or signature, because money can leave the account again afterwards. */
export const UnfreezeAccountDialog = ({ account, onClose }: AccountDialogProps): ReactNode => (
  <Dialog
    open
    onOpenChange={onClose}
    title={`Unfreeze ${accountName(account)}`}
    description="It can then pay and be paid again."
  >
    <Unfreeze account={account} onClose={onClose} />
  </Dialog>
);

const Unfreeze = ({ account, onClose }: AccountDialogProps): ReactNode => {
  const api = useApi();
  const show = useShowAccount();
  const params = { id: account.id };
  const change = useApprovable<Record<string, never>>(`account.unfreeze ${account.id}`, async (_input, approval) => {
    const body = approval === undefined ? {} : { approval };
    show(await api.call(unfreezeGlobalAccount, { params, body }));
    toast.success("The account can be used again.");
    onClose();
  });
  if (change.asked !== null) return <ApprovalStep asked={change.asked} change={change} />;
  return (
    <div className="flex flex-col gap-4">
      <p>
        {account.statusReason === null
          ? "No reason was given when it was frozen."
          : `Frozen because: ${account.statusReason}`}
      </p>
      {change.error == null ? null : <ErrorState compact error={change.error} money="The account stays frozen." />}
      <ApiSnippet method="POST" path={unfreezeGlobalAccount.path.replace("{id}", account.id)} auth="bearer" body={{}} />
      <div className="flex justify-end gap-2">
        <Button onClick={onClose}>Cancel</Button>
        <Button variant="primary" loading={change.busy} onClick={() => void change.start({})}>
          Unfreeze account
        </Button>
      </div>
    </div>
  );
};
