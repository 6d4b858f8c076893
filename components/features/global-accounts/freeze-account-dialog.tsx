"use client";

import { zodResolver } from "@hookform/resolvers/zod";
import type { ReactNode } from "react";
import { useForm } from "react-hook-form";
import { toast } from "@/components/ui/toast";
import { z } from "zod";
import { ApiSnippet } from "@/components/features/api-snippet/api-snippet";
import { useApiMutation } from "@/components/features/session/use-api";
import { Button } from "@/components/ui/button";
import { Dialog } from "@/components/ui/dialog";
import { Form, FormError, TextField } from "@/components/ui/form";
import { freezeGlobalAccount } from "@/lib/api-client/calls.gen";
import { accountName } from "./account";
import { useShowAccount, type AccountDialogProps } from "./use-account-changes";

const REASON_MAX = 200;
const reasonForm = z.object({ reason: z.string().trim().min(1, "Enter the reason.").max(REASON_MAX) });

export const FreezeAccountDialog = ({ account, onClose }: AccountDialogProps): ReactNode => (
  <Dialog
    open
    onOpenChange={onClose}
    title={`Freeze ${accountName(account)}`}
    description="Nothing goes in or out of a frozen account. Its balance stays. An owner or admin can unfreeze it."
  >
    <FreezeForm account={account} onClose={onClose} />
  </Dialog>
);

const FreezeForm = ({ account, onClose }: AccountDialogProps): ReactNode => {
  const form = useForm({ resolver: zodResolver(reasonForm), defaultValues: { reason: "" } });
  const freeze = useApiMutation(freezeGlobalAccount);
  const show = useShowAccount();
  const submit = async ({ reason }: z.infer<typeof reasonForm>): Promise<void> => {
    const frozen = await freeze.mutateAsync({ params: { id: account.id }, body: { reason } }).catch(() => null);
    if (frozen === null) return;
    show(frozen);
    toast.success("The account is frozen.");
    onClose();
  };
  return (
    <Form form={form} error={freeze.error} onSubmit={submit} className="flex flex-col gap-4">
      <TextField
        control={form.control}
        name="reason"
        label="Reason"
        hint="Your team sees it, and the audit log keeps it."
        input={{ maxLength: REASON_MAX, autoFocus: true }}
      />
      <FormError money="The account is as it was." />
      <ApiSnippet
        method="POST"
        path={freezeGlobalAccount.path.replace("{id}", account.id)}
        body={{ reason: form.watch("reason").trim() }}
      />
      <div className="flex justify-end gap-2">
        <Button onClick={onClose}>Cancel</Button>
        <Button type="submit" variant="danger" loading={freeze.isPending}>
          Freeze account
        </Button>
      </div>
    </Form>
  );
};
