"use client";

import { zodResolver } from "@hookform/resolvers/zod";
import type { ReactNode } from "react";
import { Controller, useForm, type Control } from "react-hook-form";
import { toast } from "@/components/ui/toast";
import { z } from "zod";
import { ApiSnippet } from "@/components/features/api-snippet/api-snippet";
import { checkedBy } from "@/components/features/money-flow/field-checks";
import { LookAlikeAlert } from "@/components/features/transfer/recipient-notes";
import { recipientView } from "@/components/features/transfer/recipient";
import { useKnownAddresses } from "@/components/features/transfer/use-known-addresses";
import { usePublicConfig } from "@/components/providers/public-config";
import { AddressGroups } from "@/components/ui/address-groups";
import { Button } from "@/components/ui/button";
import { Dialog } from "@/components/ui/dialog";
import { Checkbox } from "@/components/ui/field";
import { Form, FormError, TextField } from "@/components/ui/form";
import { updateContact } from "@/lib/api-client/calls.gen";
import { createContact } from "@/lib/contracts/contacts";
import { tags } from "@/lib/contracts/tags";
import { parseTags } from "./contact-filter";
import { useSaveContact, useUpdateContact, type Contact } from "./use-contacts";

/** The contact that the dialog edits; null: the dialog creates one with this name. */
export interface ContactDraft {
  readonly contact: Contact | null;
  readonly name: string;
}

const NAME_MAX = 80;
const TAGS_TEXT_MAX = 400;

const contactForm = z.object({
  name: checkedBy(createContact.body.shape.name, "name", "Enter a name."),
  address: checkedBy(createContact.body.shape.address, "address", "Enter the address."),
  tags: z.string().refine((text) => tags.safeParse(parseTags(text)).success, "At most 10 tags of 32 characters each."),
  chainIds: z.array(z.number()),
});
type ContactValues = z.infer<typeof contactForm>;

interface ContactDialogProps {
  /** Null: closed. */
  readonly draft: ContactDraft | null;
  readonly onClose: () => void;
}

export const ContactDialog = ({ draft, onClose }: ContactDialogProps): ReactNode =>
  draft === null ? null : (
    <Dialog
      open
      onOpenChange={onClose}
      title={draft.contact === null ? "Add a contact" : `Edit ${draft.contact.name}`}
      size="lg"
    >
      <ContactForm draft={draft} onClose={onClose} />
    </Dialog>
  );

const useSaving = ({ contact, name }: ContactDraft, onClose: () => void) => {
  const form = useForm<ContactValues>({
    resolver: zodResolver(contactForm),
    defaultValues: {
      name,
      address: contact?.address ?? "",
      tags: contact?.tags.join(", ") ?? "",
      chainIds: [...(contact?.chainIds ?? [])],
    },
  });
  const create = useSaveContact();
  const update = useUpdateContact();
  const values = form.watch();
  const change = { name: values.name.trim(), tags: parseTags(values.tags), chainIds: values.chainIds };
  const body = contact === null ? { ...change, address: values.address.trim() } : change;
  const submit = async (): Promise<void> => {
    const saved = await (
      contact === null
        ? create.mutateAsync({ ...change, address: values.address.trim() })
        : update.mutateAsync({ id: contact.id, ...change })
    ).catch(() => null);
    if (saved === null) return;
    toast.success(`${saved.name} is saved.`);
    onClose();
  };
  return { form, values, body, submit, mutation: contact === null ? create : update };
};

const ContactForm = ({ draft, onClose }: { readonly draft: ContactDraft; readonly onClose: () => void }): ReactNode => {
  const { contact } = draft;
  const { form, values, body, submit, mutation } = useSaving(draft, onClose);
  const { known } = useKnownAddresses();
  const view = recipientView(values.address, known);
  return (
    <Form form={form} error={mutation.error} onSubmit={submit} className="flex flex-col gap-4">
      <TextField control={form.control} name="name" label="Name" input={{ maxLength: NAME_MAX, autoFocus: true }} />
      {contact === null ? (
        <TextField control={form.control} name="address" label="Address" input={{ mono: true, placeholder: "0x…" }} />
      ) : (
        <p className="flex flex-col gap-1">
          <span className="text-sm text-fg-2">Address</span>
          <AddressGroups value={contact.address} />
        </p>
      )}
      {view.as === "none" || view.lookAlike === null ? null : (
        <LookAlikeAlert address={view.address} lookAlike={view.lookAlike} />
      )}
      {contact === null && view.as === "contact" ? (
        <p className="text-sm text-warning">This address is {view.name} already. Saving renames it.</p>
      ) : null}
      <TextField
        control={form.control}
        name="tags"
        label="Tags"
        hint="Separated by commas, for instance: Payroll, Berlin."
        input={{ maxLength: TAGS_TEXT_MAX }}
      />
      <ChainChoice control={form.control} />
      <FormError money="The address book is as it was." />
      <ApiSnippet
        method={contact === null ? createContact.method : updateContact.method}
        path={contact === null ? createContact.path : updateContact.path.replace("{id}", contact.id)}
        body={body}
      />
      <div className="flex justify-end gap-2">
        <Button onClick={onClose}>Cancel</Button>
        <Button type="submit" variant="primary" loading={mutation.isPending}>
          Save contact
        </Button>
      </div>
    </Form>
  );
};

const ChainChoice = ({ control }: { readonly control: Control<ContactValues> }): ReactNode => {
  const { chains } = usePublicConfig();
  return (
    <fieldset className="flex flex-col gap-1">
      <legend className="pb-1 text-sm text-fg-2">Chains it is paid on (none chosen: all)</legend>
      <Controller
        control={control}
        name="chainIds"
        render={({ field: { value, onChange } }) => (
          <div className="flex flex-wrap gap-x-6 gap-y-1">
            {chains.map(({ id, name }) => (
              <Checkbox
                key={id}
                label={name}
                checked={value.includes(id)}
                onChange={(event) =>
                  onChange(event.target.checked ? [...value, id] : value.filter((one) => one !== id))
                }
              />
            ))}
          </div>
        )}
      />
    </fieldset>
  );
};
