"use client";

import type { ReactNode } from "react";
import { toast } from "@/components/ui/toast";
import { ApiSnippet } from "@/components/features/api-snippet/api-snippet";
import { ApprovalStep } from "@/components/features/approvals/approval-step";
import { useApprovable } from "@/components/features/approvals/use-approvable";
import { AddressGroups } from "@/components/ui/address-groups";
import { Button } from "@/components/ui/button";
import { Dialog } from "@/components/ui/dialog";
import { ErrorState } from "@/components/ui/error-state";
import { approveContact } from "@/lib/api-client/calls.gen";
import { useApproveContact, type Contact } from "./use-contacts";

interface ApproveContactDialogProps {
  /** Null: closed. */
  readonly contact: Contact | null;
  readonly onClose: () => void;
}

/** Approves a contact by code or signature, so that it may be paid where only approved contacts may. */
export const ApproveContactDialog = ({ contact, onClose }: ApproveContactDialogProps): ReactNode =>
  contact === null ? null : (
    <Dialog
      open
      onOpenChange={onClose}
      title={`Approve ${contact.name}`}
      description="It may then be paid where a policy asks for approved contacts."
    >
      <ApproveContact contact={contact} onClose={onClose} />
    </Dialog>
  );

const ApproveContact = ({
  contact,
  onClose,
}: {
  readonly contact: Contact;
  readonly onClose: () => void;
}): ReactNode => {
  const approve = useApproveContact();
  const change = useApprovable<Contact>(`contact.approve ${contact.id}`, async (approved, approval) => {
    await approve(approved, approval);
    toast.success(`${approved.name} is approved.`);
    onClose();
  });
  if (change.asked !== null) return <ApprovalStep asked={change.asked} change={change} />;
  return (
    <div className="flex flex-col gap-4">
      <p className="text-fg-2">
        Compare the whole address with whom it belongs to, best over another way than the one it came by.
      </p>
      <AddressGroups value={contact.address} />
      {change.error == null ? null : <ErrorState compact error={change.error} money="The contact is as it was." />}
      <ApiSnippet method="POST" path={approveContact.path.replace("{id}", contact.id)} auth="bearer" body={{}} />
      <div className="flex justify-end gap-2">
        <Button onClick={onClose}>Cancel</Button>
        <Button variant="primary" loading={change.busy} onClick={() => void change.start(contact)}>
          Approve
        </Button>
      </div>
    </div>
  );
};
