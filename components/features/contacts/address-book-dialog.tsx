"use client";

import { BookUser } from "lucide-react";
import { useState, type ReactNode } from "react";
import { Dialog } from "@/components/ui/dialog";
import { EmptyState } from "@/components/ui/empty-state";
import { ErrorState } from "@/components/ui/error-state";
import { Field, Input } from "@/components/ui/field";
import { LoadingRows } from "@/components/ui/skeleton";
import { ContactForm } from "./contact-form";
import { ContactLine } from "./contact-line";
import { useContacts, type Contact } from "./use-contacts";

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
        An address that has a name here is recognised wherever it is typed, and you are warned of addresses that look
        like it.
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
