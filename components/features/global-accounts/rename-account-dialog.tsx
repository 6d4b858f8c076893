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
import { updateGlobalAccount } from "@/lib/api-client/calls.gen";
import { useShowAccount, type AccountDialogProps } from "./use-account-changes";

const NAME_MAX = 80;
const nameForm = z.object({ name: z.string().trim().max(NAME_MAX) });

export const RenameAccountDialog = ({ account, onClose }: AccountDialogProps): ReactNode => (
  <Dialog open onOpenChange={onClose} title="Rename the account" description="Only the name that people see changes.">
    <RenameForm account={account} onClose={onClose} />
  </Dialog>
);

const RenameForm = ({ account, onClose }: AccountDialogProps): ReactNode => {
  const form = useForm({ resolver: zodResolver(nameForm), defaultValues: { name: account.name ?? "" } });
  const rename = useApiMutation(updateGlobalAccount);
  const show = useShowAccount();
  const typed = form.watch("name").trim();
  const body = { name: typed === "" ? null : typed };
  const submit = async (): Promise<void> => {
    const renamed = await rename.mutateAsync({ params: { id: account.id }, body }).catch(() => null);
    if (renamed === null) return;
    show(renamed);
    toast.success("The account is renamed.");
    onClose();
  };
  return (
    <Form form={form} error={rename.error} onSubmit={submit} className="flex flex-col gap-4">
      <TextField
        control={form.control}
        name="name"
        label="Name"
        hint="Leave it empty for an account without a name."
        input={{ maxLength: NAME_MAX, autoFocus: true }}
      />
      <FormError money="The account is as it was." />
      <ApiSnippet method="PATCH" path={updateGlobalAccount.path.replace("{id}", account.id)} body={body} />
      <div className="flex justify-end gap-2">
        <Button onClick={onClose}>Cancel</Button>
        <Button type="submit" variant="primary" loading={rename.isPending}>
          Rename
        </Button>
      </div>
    </Form>
  );
};
