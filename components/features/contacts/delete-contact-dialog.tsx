"use client";

import type { ReactNode } from "react";
import { toast } from "@/components/ui/toast";
import { describeError } from "@/components/ui/describe-error";
import { ConfirmDialog } from "@/components/ui/dialog";
import { useDeleteContact, type Contact } from "./use-contacts";

interface DeleteContactDialogProps {
  /** Null: closed. */
  readonly contact: Contact | null;
  readonly onClose: () => void;
}

export const DeleteContactDialog = ({ contact, onClose }: DeleteContactDialogProps): ReactNode => {
  const deletion = useDeleteContact();
  return (
    <ConfirmDialog
      open={contact !== null}
      onOpenChange={(open) => (open ? undefined : onClose())}
      title={`Delete ${contact?.name ?? "the contact"}?`}
      description="The address is then not recognised any more. What was sent to it stays on record."
      confirmLabel="Delete contact"
      onConfirm={async () => {
        if (contact === null) return;
        try {
          await deletion.mutateAsync(contact);
        } catch (error) {
          toast.error(describeError(error).message);
          throw error;
        }
      }}
    />
  );
};
