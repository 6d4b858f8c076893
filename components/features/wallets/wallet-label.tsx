"use client";

import { zodResolver } from "@hookform/resolvers/zod";
import { useQueryClient } from "@tanstack/react-query";
import { Pencil } from "lucide-react";
import { useState, type ReactNode } from "react";
import { useForm } from "react-hook-form";
import { z } from "zod";
import { queryKeyOf } from "@/components/features/session/query-key";
import { useApiMutation } from "@/components/features/session/use-api";
import { Button, IconButton } from "@/components/ui/button";
import { Form, FormError, TextField } from "@/components/ui/form";
import { labelWallet, listWallets } from "@/lib/api-client/calls.gen";
import type { WalletRecord } from "./use-wallets";
import { KIND_WORDS } from "./wallet-name";

const LABEL_MAX = 80;

/** An empty name takes the name away. */
const labelForm = z.object({ label: z.string().trim().max(LABEL_MAX) });

/** The wallet's name, edited where it stands. */
export const WalletLabel = ({ wallet }: { readonly wallet: WalletRecord }): ReactNode => {
  const [editing, setEditing] = useState(false);
  if (editing) return <LabelForm wallet={wallet} onClose={() => setEditing(false)} />;
  return (
    <span className="inline-flex items-center gap-1">
      {wallet.label ?? <span className="text-fg-3">none</span>}
      <IconButton
        label={`Name ${wallet.label ?? KIND_WORDS[wallet.kind].toLowerCase()}`}
        onClick={() => setEditing(true)}
      >
        <Pencil aria-hidden />
      </IconButton>
    </span>
  );
};

interface LabelFormProps {
  readonly wallet: WalletRecord;
  readonly onClose: () => void;
}

/** Enter saves, Escape leaves it; an empty name takes it away. */
export const LabelForm = ({ wallet, onClose }: LabelFormProps): ReactNode => {
  const form = useForm({ resolver: zodResolver(labelForm), defaultValues: { label: wallet.label ?? "" } });
  const save = useApiMutation(labelWallet);
  const queryClient = useQueryClient();
  const submit = async ({ label }: z.infer<typeof labelForm>): Promise<void> => {
    const body = { label: label === "" ? null : label };
    const saved = await save.mutateAsync({ params: { id: wallet.id }, body }).catch(() => null);
    if (saved === null) return;
    await queryClient.invalidateQueries({ queryKey: queryKeyOf(listWallets) });
    onClose();
  };
  return (
    <Form
      form={form}
      error={save.error}
      onSubmit={submit}
      className="flex flex-wrap items-start justify-end gap-2"
      onKeyDown={(event) => {
        if (event.key !== "Escape") return;
        event.stopPropagation();
        onClose();
      }}
    >
      <TextField
        control={form.control}
        name="label"
        label="Name of the wallet"
        labelHidden
        className="w-56"
        input={{ maxLength: LABEL_MAX, autoFocus: true, placeholder: "For instance: Savings" }}
      />
      <Button type="submit" loading={save.isPending}>
        Save
      </Button>
      <Button variant="ghost" onClick={onClose}>
        Cancel
      </Button>
      <FormError money="The name is as it was." />
    </Form>
  );
};
