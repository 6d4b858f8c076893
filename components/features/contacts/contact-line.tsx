"use client";

import { Trash2 } from "lucide-react";
import { useState, type ReactNode } from "react";
import { toast } from "@/components/ui/toast";
import { ApprovalStep } from "@/components/features/approvals/approval-step";
import { useApprovable, type Approvable } from "@/components/features/approvals/use-approvable";
import { useMay } from "@/components/features/projects/use-project";
import { AddressMark } from "@/components/ui/address-mark";
import { AddressGroups } from "@/components/ui/address-groups";
import { Button, IconButton } from "@/components/ui/button";
import { CopyButton } from "@/components/ui/copy-button";
import { ErrorState } from "@/components/ui/error-state";
import { ContactState } from "./contact-state";
import { DeleteContactDialog } from "./delete-contact-dialog";
import { useApproveContact, type Contact } from "./use-contacts";

interface ContactLineProps {
  readonly contact: Contact;
  readonly onChoose: (contact: Contact) => void;
}

const NOT_APPROVED = "The contact is as it was.";

/** One contact: its state, and the actions on it. Approving shows its approval below the line. */
export const ContactLine = ({ contact, onChoose }: ContactLineProps): ReactNode => {
  const [asking, setAsking] = useState(false);
  const mayApprove = useMay("policies:manage");
  const approve = useApproveContact();
  const change = useApprovable<Contact>(`contact.line ${contact.id}`, async (approved, approval) => {
    await approve(approved, approval);
    toast.success(`${approved.name} is approved.`);
  });
  return (
    <li className="flex flex-wrap items-center gap-x-4 gap-y-1 px-3 py-2">
      <div className="min-w-0 flex-1 basis-72">
        <p className="flex items-center gap-2">
          <AddressMark value={contact.address} className="size-5" />
          <span className="truncate font-medium">{contact.name}</span>
          <ContactState contact={contact} />
        </p>
        <p className="flex items-center gap-1">
          <AddressGroups value={contact.address} />
          <CopyButton value={contact.address} label={`Copy the address of ${contact.name}`} />
        </p>
      </div>
      <span className="ml-auto flex items-center gap-1">
        {contact.state === "approved" || !mayApprove || change.asked !== null ? null : (
          <Button
            size="sm"
            variant="ghost"
            aria-label={`Approve ${contact.name}`}
            loading={change.busy}
            onClick={() => void change.start(contact)}
          >
            Approve
          </Button>
        )}
        <Button size="sm" aria-label={`Choose ${contact.name}`} onClick={() => onChoose(contact)}>
          Choose
        </Button>
        <IconButton label={`Delete ${contact.name}`} onClick={() => setAsking(true)}>
          <Trash2 aria-hidden />
        </IconButton>
      </span>
      <ApprovalPart change={change} />
      <DeleteContactDialog contact={asking ? contact : null} onClose={() => setAsking(false)} />
    </li>
  );
};

const ApprovalPart = ({ change }: { readonly change: Approvable<Contact> }): ReactNode =>
  change.asked !== null ? (
    <div className="basis-full border-t pt-3 pb-1">
      <ApprovalStep asked={change.asked} change={change} />
    </div>
  ) : change.error == null ? null : (
    <div className="basis-full">
      <ErrorState compact error={change.error} money={NOT_APPROVED} />
    </div>
  );
