"use client";

import { zodResolver } from "@hookform/resolvers/zod";
import { useQueryClient } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { useForm } from "react-hook-form";
import { toast } from "@/components/ui/toast";
import { z } from "zod";
import { queryKeyOf } from "@/components/features/session/query-key";
import { useSentOnce } from "@/components/features/session/use-sent-once";
import { Button } from "@/components/ui/button";
import { Dialog } from "@/components/ui/dialog";
import { Form, FormError, TextField } from "@/components/ui/form";
import { createPrivacyWallet, getPrivateBalances, listPrivacyWallets } from "@/lib/api-client/calls.gen";

const NAME_MAX = 60;

const walletForm = z.object({ name: z.string().trim().min(1, "Enter a name.").max(NAME_MAX) });

interface NewWalletDialogProps {
  readonly open: boolean;
  readonly onOpenChange: (open: boolean) => void;
  readonly onCreated: (privacyWalletId: string) => void;
}

export const NewWalletDialog = ({ open, onOpenChange, onCreated }: NewWalletDialogProps): ReactNode => (
  <Dialog
    open={open}
    onOpenChange={onOpenChange}
    size="sm"
    title="New private wallet"
    description="Its mnemonic is made and kept by the service, encrypted. You can export it."
  >
    <NewWalletForm
      onCancel={() => onOpenChange(false)}
      onCreated={(id) => {
        onOpenChange(false);
        onCreated(id);
      }}
    />
  </Dialog>
);

interface NewWalletFormProps {
  readonly onCancel: () => void;
  readonly onCreated: (privacyWalletId: string) => void;
}

const NewWalletForm = ({ onCancel, onCreated }: NewWalletFormProps): ReactNode => {
  const queryClient = useQueryClient();
  const { mutation, send } = useSentOnce(createPrivacyWallet);
  const form = useForm({ resolver: zodResolver(walletForm), defaultValues: { name: "" } });
  const create = async (body: z.infer<typeof walletForm>): Promise<void> => {
    const wallet = await send({ body }).catch(() => null);
    if (wallet === null) return;
    await queryClient.invalidateQueries({ queryKey: queryKeyOf(listPrivacyWallets) });
    void queryClient.invalidateQueries({ queryKey: queryKeyOf(getPrivateBalances) });
    toast.success(`${wallet.name} was created.`);
    onCreated(wallet.privacyWalletId);
  };
  return (
    <Form form={form} error={mutation.error} onSubmit={create} className="flex flex-col gap-4">
      <TextField
        control={form.control}
        name="name"
        label="Name"
        hint="What it is for, such as Payroll. Your team sees it; the chain does not."
        input={{ maxLength: NAME_MAX, autoFocus: true }}
      />
      <FormError money="No wallet was created." />
      <div className="flex justify-end gap-2">
        <Button onClick={onCancel}>Cancel</Button>
        <Button type="submit" variant="primary" loading={mutation.isPending}>
          Create wallet
        </Button>
      </div>
    </Form>
  );
};
