"use client";

import { BookUser, Trash2 } from "lucide-react";
import { useState, type ReactNode } from "react";
import { toast } from "sonner";
import { AddressGroups } from "@/components/ui/address-groups";
import { Button, IconButton } from "@/components/ui/button";
import { CopyButton } from "@/components/ui/copy-button";
import { describeError } from "@/components/ui/describe-error";
import { ConfirmDialog, Dialog } from "@/components/ui/dialog";
import { EmptyState } from "@/components/ui/empty-state";
import { ErrorState } from "@/components/ui/error-state";
import { Field, Input } from "@/components/ui/field";
import { LoadingRows } from "@/components/ui/skeleton";
import { ContactForm } from "./contact-form";
import { useContacts, useDeleteContact, type Contact } from "./use-contacts";

/** The number of contacts from which the dialog shows a search field. */
const SEARCH_FROM = 6;

interface AddressBookProps {
  readonly open: boolean;
  readonly onOpenChange: (open: boolean) => void;
  /** Takes the chosen contact; the dialog closes. */
  readonly onChoose: (contact: Contact) => void;
  /** An address to save, as it stands in the form. */
  readonly newAddress?: string;
}

const fits = (contact: Contact, search: string): boolean =>
  `${contact.name} ${contact.address}`.toLowerCase().includes(search.trim().toLowerCase());

/** Choose a contact, add one, take one away. */
export const AddressBookDialog = ({ open, onOpenChange, onChoose, newAddress }: AddressBookProps): ReactNode => (
  <Dialog
    open={open}
    onOpenChange={onOpenChange}
    title="Address book"
    description="Known to everybody in the project."
    size="lg"
  >
    <div className="flex flex-col gap-4">
      <ContactListPart
        onChoose={(contact) => {
          onChoose(contact);
          onOpenChange(false);
        }}
      />
      <section aria-labelledby="new-contact" className="border-t pt-4">
        <h3 id="new-contact" className="pb-2 font-semibold">
          Add a contact
        </h3>
        <ContactForm {...(newAddress === undefined ? {} : { address: newAddress })} />
      </section>
    </div>
  </Dialog>
);

const ContactListPart = ({ onChoose }: Pick<AddressBookProps, "onChoose">): ReactNode => {
  const { data, error, isPending, refetch } = useContacts();
  const [search, setSearch] = useState("");
  if (isPending) return <LoadingRows what="contacts" />;
  if (data === undefined) return <ErrorState error={error} onRetry={() => void refetch()} />;
  if (data.data.length === 0) {
    return (
      <EmptyState icon={BookUser} title="No contacts yet">
        An address that has a name here is recognised wherever it is typed, and what only looks like it is told.
      </EmptyState>
    );
  }
  const found = data.data.filter((contact) => fits(contact, search));
  return (
    <div className="flex flex-col gap-3">
      {data.data.length < SEARCH_FROM ? null : (
        <Field label="Search contacts" labelHidden>
          <Input
            type="search"
            placeholder="Name or address"
            value={search}
            onChange={(event) => setSearch(event.target.value)}
          />
        </Field>
      )}
      {found.length === 0 ? (
        <EmptyState title="Nobody fits the search" />
      ) : (
        <ul className="divide-y rounded-card border">
          {found.map((contact) => (
            <ContactLine key={contact.id} contact={contact} onChoose={onChoose} />
          ))}
        </ul>
      )}
    </div>
  );
};

interface ContactLineProps {
  readonly contact: Contact;
  readonly onChoose: (contact: Contact) => void;
}

const ContactLine = ({ contact, onChoose }: ContactLineProps): ReactNode => {
  const [asking, setAsking] = useState(false);
  const deletion = useDeleteContact();
  return (
    <li className="flex flex-wrap items-center gap-x-4 gap-y-1 px-3 py-2">
      <div className="min-w-0 flex-1 basis-72">
        <p className="truncate font-medium">{contact.name}</p>
        <p className="flex items-center gap-1">
          <AddressGroups value={contact.address} />
          <CopyButton value={contact.address} label={`Copy the address of ${contact.name}`} />
        </p>
      </div>
      <span className="ml-auto flex items-center gap-1">
        <Button size="sm" aria-label={`Choose ${contact.name}`} onClick={() => onChoose(contact)}>
          Choose
        </Button>
        <IconButton label={`Delete ${contact.name}`} onClick={() => setAsking(true)}>
          <Trash2 aria-hidden />
        </IconButton>
      </span>
      <ConfirmDialog
        open={asking}
        onOpenChange={setAsking}
        title={`Delete ${contact.name}?`}
        description="The address is then not recognised any more. What was sent to it stays on record."
        confirmLabel="Delete contact"
        onConfirm={async () => {
          try {
            await deletion.mutateAsync(contact);
          } catch (error) {
            toast.error(describeError(error).message);
            throw error;
          }
        }}
      />
    </li>
  );
};
