"use client";

import { useQueryClient } from "@tanstack/react-query";
import { useState, type ReactNode } from "react";
import { toast } from "sonner";
import { queryKeyOf } from "@/components/features/session/use-api";
import { useSentOnce } from "@/components/features/session/use-sent-once";
import { Button } from "@/components/ui/button";
import { Dialog } from "@/components/ui/dialog";
import { ErrorState } from "@/components/ui/error-state";
import { Field, Input } from "@/components/ui/field";
import { createPrivacyWallet, getPrivateBalances, listPrivacyWallets } from "@/lib/contracts/privacy";

const NAME_MAX = 60;

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
  const [name, setName] = useState("");
  const [tried, setTried] = useState(false);
  const isMissing = name.trim() === "";
  const create = async (): Promise<void> => {
    setTried(true);
    if (isMissing) return;
    const wallet = await send({ body: { name: name.trim() } }).catch(() => null);
    if (wallet === null) return;
    await queryClient.invalidateQueries({ queryKey: queryKeyOf(listPrivacyWallets) });
    void queryClient.invalidateQueries({ queryKey: queryKeyOf(getPrivateBalances) });
    toast.success(`${wallet.name} was created.`);
    onCreated(wallet.privacyWalletId);
  };
  return (
    <form
      noValidate
      className="flex flex-col gap-4"
      onSubmit={(event) => {
        event.preventDefault();
        void create();
      }}
    >
      <Field
        label="Name"
        hint="What it is for, such as Payroll. Your team sees it; the chain does not."
        error={tried && isMissing ? "Enter a name." : null}
      >
        <Input value={name} maxLength={NAME_MAX} onChange={(event) => setName(event.target.value)} autoFocus />
      </Field>
      {mutation.error === null ? null : <ErrorState compact error={mutation.error} money="No wallet was created." />}
      <div className="flex justify-end gap-2">
        <Button onClick={onCancel}>Cancel</Button>
        <Button type="submit" variant="primary" loading={mutation.isPending}>
          Create wallet
        </Button>
      </div>
    </form>
  );
};
