"use client";

import type { ReactNode } from "react";
import { toast } from "@/components/ui/toast";
import { isZero } from "@/components/features/overview/sums";
import { useApiMutation } from "@/components/features/session/use-api";
import { Amount } from "@/components/ui/amount";
import { ConfirmDialog } from "@/components/ui/dialog";
import { ErrorState } from "@/components/ui/error-state";
import { closeGlobalAccount } from "@/lib/api-client/calls.gen";
import { accountName } from "./account";
import { useShowAccount, type AccountDialogProps } from "./use-account-changes";

/** Asks before an account is closed for ever. The service refuses an account that holds money. */
export const CloseAccountDialog = ({ account, onClose }: AccountDialogProps): ReactNode => {
  const close = useApiMutation(closeGlobalAccount);
  const show = useShowAccount();
  return (
    <ConfirmDialog
      open
      onOpenChange={onClose}
      title={`Close ${accountName(account)}?`}
      description={
        <>
          <p>
            Nothing can go in or out of a closed account, and it cannot be opened again. Its entries and statements stay
            readable.
          </p>
          {isZero(account.balance.posted) ? null : (
            <p className="pt-2 text-warning">
              It holds <Amount value={account.balance.posted} unit={account.currency} />. Pay that out, or take its
              fundings back, and then close it.
            </p>
          )}
          {close.error === null ? null : (
            <div className="pt-2">
              <ErrorState compact error={close.error} money="The account is as it was." />
            </div>
          )}
        </>
      }
      confirmLabel="Close account"
      onConfirm={async () => {
        show(await close.mutateAsync({ params: { id: account.id }, body: {} }));
        toast.success("The account is closed.");
      }}
    />
  );
};
