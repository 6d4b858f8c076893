"use client";

import type { ReactNode } from "react";
import { ApiSnippet } from "@/components/features/api-snippet/api-snippet";
import { ConfirmChangeDialog } from "@/components/features/approvals/approval-step";
import { useApprovable } from "@/components/features/approvals/use-approvable";
import { counted } from "@/components/features/payouts/new/amount-rules";
import { AddressGroups, AddressMark } from "@/components/ui/address";
import { toast } from "@/components/ui/toast";
import { approveContacts } from "@/lib/api-client/calls.gen";
import { WarningBadges } from "./contact-dialog";
import { type Contact, useApproveContacts } from "./use-contacts";

/**
 * Start of the key under which the approval of several contacts is stored, so that its dialog can
 * open again after a reload.
 */
export const ALL_CONTACTS = "contacts.approve ";

interface ApproveContactsProps {
  readonly contacts: readonly Contact[];
  readonly onClose: () => void;
}

/** Approves several contacts with one proof. */
export const ApproveContactsDialog = ({
  contacts,
  onClose,
}: ApproveContactsProps): ReactNode => {
  const approve = useApproveContacts();
  const change = useApprovable<readonly string[]>(`${ALL_CONTACTS}all`, async (ids, proof) => {
    const { approved } = await approve(ids, proof);
    toast.success(counted(approved, "contact is approved.", "contacts are approved."));
    onClose();
  });
  const ids = contacts.map(({ id }) => id);
  return (
    <ConfirmChangeDialog
      change={change}
      onClose={onClose}
      title={`Approve ${counted(contacts.length, "contact")}`}
      description="Their names are then shown where people decide, and they may be paid on their chains where a policy asks for approved contacts."
      size="lg"
      input={ids}
      money="The contacts are as they were."
      act={`Approve ${counted(contacts.length, "contact")}`}
      snippet={<ApiSnippet call={approveContacts} auth="bearer" body={{ ids }} />}
    >
      <p className="text-fg-2">
        Compare the whole addresses with whom they belong to, best over another way than the one
        they came by.
      </p>
      <ul
        aria-label="Contacts to approve"
        tabIndex={0}
        className="max-h-80 divide-y overflow-y-auto rounded-card border"
      >
        {contacts.map((contact) => (
          <li key={contact.id} className="flex flex-col gap-0.5 px-3 py-2">
            <span className="flex flex-wrap items-center gap-2">
              <AddressMark value={contact.address} />
              <span className="font-medium wrap-anywhere">{contact.name}</span>
              <WarningBadges contact={contact} />
            </span>
            <AddressGroups value={contact.address} />
          </li>
        ))}
      </ul>
    </ConfirmChangeDialog>
  );
};
