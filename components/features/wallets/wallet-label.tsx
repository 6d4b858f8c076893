"use client";

import { useQueryClient } from "@tanstack/react-query";
import { Pencil } from "lucide-react";
import { useState, type ReactNode } from "react";
import { queryKeyOf, useApiMutation } from "@/components/features/session/use-api";
import { Button, IconButton } from "@/components/ui/button";
import { describeError } from "@/components/ui/describe-error";
import { Field, Input } from "@/components/ui/field";
import { labelWallet, listWallets } from "@/lib/contracts/wallets";
import type { WalletRecord } from "./use-wallets";
import { KIND_WORDS } from "./wallet-name";

const LABEL_MAX = 80;

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
  const [text, setText] = useState(wallet.label ?? "");
  const save = useApiMutation(labelWallet);
  const queryClient = useQueryClient();
  const submit = async (): Promise<void> => {
    const label = text.trim() === "" ? null : text.trim();
    try {
      await save.mutateAsync({ params: { id: wallet.id }, body: { label } });
    } catch {
      return; // The mutation keeps the error; it is shown at the field.
    }
    await queryClient.invalidateQueries({ queryKey: queryKeyOf(listWallets) });
    onClose();
  };
  return (
    <form
      className="flex flex-wrap items-start justify-end gap-2"
      noValidate
      onSubmit={(event) => {
        event.preventDefault();
        void submit();
      }}
    >
      <Field
        label="Name of the wallet"
        labelHidden
        error={save.isError ? describeError(save.error).message : null}
        className="w-56"
      >
        <Input
          value={text}
          maxLength={LABEL_MAX}
          autoFocus
          placeholder="For instance: Savings"
          onChange={(event) => setText(event.target.value)}
          onKeyDown={(event) => {
            if (event.key !== "Escape") return;
            event.stopPropagation();
            onClose();
          }}
        />
      </Field>
      <Button type="submit" loading={save.isPending}>
        Save
      </Button>
      <Button variant="ghost" onClick={onClose}>
        Cancel
      </Button>
    </form>
  );
};
