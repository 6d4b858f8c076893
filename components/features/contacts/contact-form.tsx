"use client";

import { zodResolver } from "@hookform/resolvers/zod";
import type { ReactNode } from "react";
import { useForm } from "react-hook-form";
import { toast } from "@/components/ui/toast";
import { z } from "zod";
import { checkedBy } from "@/components/features/money-flow/field-checks";
import { Button } from "@/components/ui/button";
import { Form, FormError, TextField } from "@/components/ui/form";
import { createContact } from "@/lib/contracts/contacts";
import { useSaveContact, type Contact } from "./use-contacts";

const NAME_MAX = 80;
const EMPTY = { name: "", address: "" };

const contactForm = z.object({
  name: checkedBy(createContact.body.shape.name, "name", "Type a name."),
  address: checkedBy(createContact.body.shape.address, "address", "Type the address."),
});

interface ContactFormProps {
  /** Stands in the address field at first. */
  readonly address?: string;
  readonly onSaved?: (contact: Contact) => void;
}

/** Adds a contact, or renames the one that has this address. */
export const ContactForm = ({ address = "", onSaved }: ContactFormProps): ReactNode => {
  const form = useForm({ resolver: zodResolver(contactForm), defaultValues: { name: "", address } });
  const save = useSaveContact();
  const submit = async (values: z.infer<typeof contactForm>): Promise<void> => {
    const body = { name: values.name.trim(), address: values.address.trim() };
    const contact = await save.mutateAsync(body).catch(() => null);
    if (contact === null) return;
    toast.success(`${contact.name} is in the address book.`);
    form.reset(EMPTY);
    onSaved?.(contact);
  };
  return (
    <Form form={form} error={save.error} onSubmit={submit} aria-label="Add a contact" className="flex flex-col gap-3">
      <div className="grid grid-cols-1 gap-3 sm:grid-cols-[minmax(0,1fr)_minmax(0,2fr)]">
        <TextField control={form.control} name="name" label="Name" input={{ maxLength: NAME_MAX }} />
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
