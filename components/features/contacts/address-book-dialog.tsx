"use client";

import { zodResolver } from "@hookform/resolvers/zod";
import { BookUser, Trash2 } from "lucide-react";
import { type ReactNode, useState } from "react";
import { useForm } from "react-hook-form";
import { z } from "zod";
import { ApprovalStep } from "@/components/features/approvals/approval-step";
import { type Approvable, useApprovable } from "@/components/features/approvals/use-approvable";
import { checkedBy } from "@/components/features/money-flow/field-checks";
import { useMay } from "@/components/features/projects/use-project";
import { AddressGroups, AddressMark } from "@/components/ui/address";
import { Button, CopyButton, IconButton } from "@/components/ui/button";
import { Dialog } from "@/components/ui/dialog";
import { ActionError, EmptyState, QueryContent } from "@/components/ui/states";
import { Field, Input } from "@/components/ui/field";
import { Form, FormError, TextField } from "@/components/ui/form";
import { toast } from "@/components/ui/toast";
import { createContact } from "@/lib/contracts/contacts";
import { countText } from "@/lib/core/amount-text";
import { ContactState, DeleteContactDialog, WarningBadges } from "./contact-dialog";
import { type Contact, useApproveContact, useContacts, useSaveContact } from "./use-contacts";

const SEARCH_FROM = 6;
const CONTACTS_SHOWN = 100;

interface AddressBookProps {
  readonly open: boolean;
  readonly onClose: () => void;
  readonly onChoose: (contact: Contact) => void;
  /** The address in the form, which the dialog offers to save as a contact. */
  readonly newAddress?: string;
}

const fits = (contact: Contact, search: string): boolean =>
  `${contact.name} ${contact.address}`.toLowerCase().includes(search.trim().toLowerCase());

export const AddressBookDialog = ({
  open,
  onClose,
  onChoose,
  newAddress,
}: AddressBookProps): ReactNode => (
  <Dialog
    open={open}
    onClose={onClose}
    title="Address book"
    description="Known to everybody in the project."
    size="lg"
  >
    <div className="flex flex-col gap-4">
      <ContactListPart
        onChoose={(contact) => {
          onChoose(contact);
          onClose();
        }}
      />
      <section aria-labelledby="new-contact" className="border-t pt-4">
        <h3 id="new-contact" className="pb-2 font-semibold">
          Add a contact
        </h3>
        <ContactForm address={newAddress} />
      </section>
    </div>
  </Dialog>
);

const ContactListPart = ({ onChoose }: Pick<AddressBookProps, "onChoose">): ReactNode => {
  const contacts = useContacts();
  const [search, setSearch] = useState("");
  const found = contacts.data?.data.filter((contact) => fits(contact, search)) ?? [];
  return (
    <QueryContent
      query={contacts}
      what="contacts"
      empty={
        <EmptyState icon={BookUser} title="No contacts yet">
          An address that has a name here is recognised wherever it is typed, and you are warned
          of addresses that look like it.
        </EmptyState>
      }
    >
      {({ data }) => (
        <div className="flex flex-col gap-3">
          {data.length < SEARCH_FROM ? null : (
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
              {found.slice(0, CONTACTS_SHOWN).map((contact) => (
                <ContactLine key={contact.id} contact={contact} onChoose={onChoose} />
              ))}
              {found.length <= CONTACTS_SHOWN ? null : (
                <li className="px-3 py-2 text-fg-2">
                  {countText(found.length - CONTACTS_SHOWN)} more. Search for a name or address.
                </li>
              )}
            </ul>
          )}
        </div>
      )}
    </QueryContent>
  );
};

const NAME_MAX = 80;
const EMPTY = { name: "", address: "" };

const contactForm = z.object({
  name: checkedBy(createContact.body.shape.name, "name", "Type a name."),
  address: checkedBy(createContact.body.shape.address, "address", "Type the address."),
});

interface ContactFormProps {
  readonly address?: string;
  readonly onSaved?: (contact: Contact) => void;
}

/** Adds a contact. If the address already has a contact, that contact is renamed. */
const ContactForm = ({ address = "", onSaved }: ContactFormProps): ReactNode => {
  const form = useForm({
    resolver: zodResolver(contactForm),
    defaultValues: { name: "", address },
  });
  const save = useSaveContact();
  const submit = async (values: z.infer<typeof contactForm>): Promise<void> => {
    const body = { name: values.name.trim(), address: values.address.trim() };
    const contact = await save.mutateAsync(body);
    toast.success(`${contact.name} is in the address book.`);
    form.reset(EMPTY);
    onSaved?.(contact);
  };
  return (
    <Form
      form={form}
      error={save.error}
      onSubmit={submit}
      aria-label="Add a contact"
      className="flex flex-col gap-3"
    >
      <div className="grid grid-cols-1 gap-3 sm:grid-cols-[minmax(0,1fr)_minmax(0,2fr)]">
        <TextField
          control={form.control}
          name="name"
          label="Name"
          input={{ maxLength: NAME_MAX }}
        />
        <TextField
          control={form.control}
          name="address"
          label="Address"
          input={{ mono: true, className: "text-sm", placeholder: "0x…" }}
        />
      </div>
      <FormError money="The address book is as it was." />
      <div>
        <Button type="submit" loading={save.isPending}>
          Save contact
        </Button>
      </div>
    </Form>
  );
};

interface ContactLineProps {
  readonly contact: Contact;
  readonly onChoose: (contact: Contact) => void;
}

const ContactLine = ({ contact, onChoose }: ContactLineProps): ReactNode => {
  const [asking, setAsking] = useState(false);
  const mayApprove = useMay("policies:manage");
  const approve = useApproveContact();
  const change = useApprovable<Contact>(
    `contact.line ${contact.id}`,
    async (approved, proof) => {
      await approve(approved, proof);
      toast.success(`${approved.name} is approved.`);
    },
  );
  return (
    <li className="flex flex-wrap items-center gap-x-4 gap-y-1 px-3 py-2">
      <div className="min-w-0 flex-1 basis-72">
        <p className="flex flex-wrap items-center gap-2">
          <AddressMark value={contact.address} className="size-5" />
          <span className="truncate font-medium">{contact.name}</span>
          <ContactState contact={contact} />
          <WarningBadges contact={contact} />
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
        <Button
          size="sm"
          aria-label={`Choose ${contact.name}`}
          onClick={() => onChoose(contact)}
        >
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

const ApprovalPart = ({ change }: { readonly change: Approvable<Contact> }): ReactNode => {
  if (change.asked !== null)
    return (
      <div className="basis-full border-t pt-3 pb-1">
        <ApprovalStep asked={change.asked} change={change} />
      </div>
    );
  return (
    <div className="basis-full empty:hidden">
      <ActionError error={change.error} money="The contact is as it was." />
    </div>
  );
};
