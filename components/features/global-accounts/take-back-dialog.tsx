"use client";

import { useQueryClient } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { toast } from "@/components/ui/toast";
import { queryKeyOf } from "@/components/features/session/query-key";
import { useSentOnce } from "@/components/features/session/use-sent-once";
import { Amount } from "@/components/ui/amount";
import { ConfirmDialog } from "@/components/ui/dialog";
import { useHideableText } from "@/components/ui/hideable-text";
import { ErrorState } from "@/components/ui/error-state";
import {
  getGlobalAccount,
  getReserves,
  listEntries,
  listGlobalAccounts,
  reverseFunding,
} from "@/lib/api-client/calls.gen";
import { accountName, type Account, type Entry } from "./account";

/** Only a funding is taken back, and only once. */
export const mayTakeBack = (entry: Entry): boolean => entry.kind === "funding" && entry.reversedBy === null;

interface TakeBackDialogProps {
  readonly account: Account;
  /** The funding; null: the dialog is closed. */
  readonly entry: Entry | null;
  readonly onClose: () => void;
}

/** Asks before a funding is taken back. */
export const TakeBackDialog = ({ account, entry, onClose }: TakeBackDialogProps): ReactNode => {
  const queryClient = useQueryClient();
  const { mutation, send } = useSentOnce(reverseFunding);
  const hideable = useHideableText();
  const takeBack = async (): Promise<void> => {
    if (entry === null) return;
    const params = { id: account.id };
    const { amount } = await send({ params, body: { transactionId: entry.transactionId } });
    for (const queryKey of [
      queryKeyOf(getGlobalAccount, { params }),
      queryKeyOf(listGlobalAccounts),
      queryKeyOf(listEntries),
      queryKeyOf(getReserves),
    ])
      void queryClient.invalidateQueries({ queryKey });
    toast.success(hideable(`${amount} ${account.currency} of the treasury are free again.`));
  };
  const change = (open: boolean): void => {
    if (open) return;
    mutation.reset();
    onClose();
  };
  return (
    <ConfirmDialog
      open={entry !== null}
      onOpenChange={change}
      title="Take this funding back?"
      description={
        <>
          <p>
            <Amount value={entry?.amount ?? "0"} unit={account.currency} /> leave {accountName(account)}, and the
            treasury may use them again. Nothing moves on chain. Both entries stay; the account can be funded again.
          </p>
          {mutation.error === null ? null : (
            <div className="pt-2">
              <ErrorState compact error={mutation.error} money="The account is as it was." />
            </div>
          )}
        </>
      }
      confirmLabel="Take back"
      cancelLabel="Leave it"
      onConfirm={takeBack}
    />
  );
};
