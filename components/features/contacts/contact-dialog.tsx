"use client";

import { zodResolver } from "@hookform/resolvers/zod";
import { BadgeCheck, CircleDashed, TriangleAlert } from "lucide-react";
import type { ReactNode } from "react";
import { type Control, Controller, useForm } from "react-hook-form";
import { z } from "zod";
import { ApiSnippet } from "@/components/features/api-snippet/api-snippet";
import { checkedBy } from "@/components/features/money-flow/field-checks";
import {
  recipientView,
  type RecipientView,
  useKnownAddresses,
} from "@/components/features/transfer/recipient";
import { LookAlikeAlert } from "@/components/features/transfer/recipient-notes";
import { usePublicConfig } from "@/components/providers/public-config";
import { AddressGroups } from "@/components/ui/address";
import { Badge } from "@/components/ui/badge";
import { describeError } from "@/components/ui/describe-error";
import { ActionDialog } from "@/components/ui/dialog";
import { Checkbox } from "@/components/ui/field";
import { FormDialog, TextField } from "@/components/ui/form";
import { toast } from "@/components/ui/toast";
import { updateContact } from "@/lib/api-client/calls.gen";
import { createContact } from "@/lib/contracts/contacts";
import { TAGS_FIELD, tagsText } from "./tags-field";
import {
  type Contact,
  parseTags,
  useDeleteContact,
  useSaveContact,
  useUpdateContact,
} from "./use-contacts";

/**
 * Content of the dialog. When `contact` is null, the dialog creates a contact that is called
 * `name`.
 */
export interface ContactDraft {
  readonly contact: Contact | null;
  readonly name: string;
}

const NAME_MAX = 80;

const contactForm = z.object({
  name: checkedBy(createContact.body.shape.name, "name", "Enter a name."),
  address: checkedBy(createContact.body.shape.address, "address", "Enter the address."),
  tags: tagsText,
  chainIds: z.array(z.number()),
});
type ContactValues = z.infer<typeof contactForm>;

interface ContactDialogProps {
  readonly draft: ContactDraft;
  readonly onClose: () => void;
}

const useSaving = ({ contact, name }: ContactDraft) => {
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
  const change = {
    name: values.name.trim(),
    tags: parseTags(values.tags),
    chainIds: values.chainIds,
  };
  const body = contact === null ? { ...change, address: values.address.trim() } : change;
  const submit = async (): Promise<void> => {
    const saved =
      contact === null
        ? await create.mutateAsync({ ...change, address: values.address.trim() })
        : await update.mutateAsync({ id: contact.id, ...change });
    toast.success(`${saved.name} is saved.`);
  };
  return { form, values, body, submit, mutation: contact === null ? create : update };
};

export const ContactDialog = ({ draft, onClose }: ContactDialogProps): ReactNode => {
  const { contact } = draft;
  const { form, values, body, submit, mutation } = useSaving(draft);
  const { known } = useKnownAddresses(null);
  const view = recipientView(values.address, known);
  return (
    <FormDialog
      onClose={onClose}
      title={contact === null ? "Add a contact" : `Edit ${contact.name}`}
      size="lg"
      form={form}
      mutation={mutation}
      onSubmit={submit}
      money="The address book is as it was."
      act="Save contact"
      snippet={
        <ApiSnippet
          call={contact === null ? createContact : updateContact}
          params={contact === null ? undefined : { id: contact.id }}
          body={body}
        />
      }
    >
      <TextField
        control={form.control}
        name="name"
        label="Name"
        input={{ maxLength: NAME_MAX, autoFocus: true }}
      />
      {contact === null ? (
        <TextField
          control={form.control}
          name="address"
          label="Address"
          input={{ mono: true, placeholder: "0x…" }}
        />
      ) : (
        <p className="flex flex-col gap-1">
          <span className="text-sm text-fg-2">Address</span>
          <AddressGroups value={contact.address} />
        </p>
      )}
      {view.as === "none" || view.lookAlike === null ? null : (
        <LookAlikeAlert address={view.address} lookAlike={view.lookAlike} />
      )}
      <SavedAlready contact={contact} view={view} />
      {contact?.state === "approved" ? (
        <p className="text-sm text-fg-2">
          Another name or other chains make it proposed again, until an owner or admin approves
          it.
        </p>
      ) : null}
      <TextField control={form.control} name="tags" {...TAGS_FIELD} />
      <ChainChoice control={form.control} />
    </FormDialog>
  );
};

const SavedAlready = ({
  contact,
  view,
}: {
  readonly contact: Contact | null;
  readonly view: RecipientView;
}): ReactNode => {
  if (contact !== null || (view.as !== "contact" && view.as !== "proposed")) return null;
  return (
    <p className="text-sm text-warning">
      {view.as === "contact"
        ? `This address is ${view.name} already. Another name makes it proposed again.`
        : "This address is in the address book already. Saving renames it."}
    </p>
  );
};

const ChainChoice = ({ control }: { readonly control: Control<ContactValues> }): ReactNode => {
  const { chains } = usePublicConfig();
  return (
    <fieldset className="flex flex-col gap-1">
      <legend className="pb-1 text-sm text-fg-2">
        Chains it is paid on (none chosen: all)
      </legend>
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
                  onChange(
                    event.target.checked ? [...value, id] : value.filter((one) => one !== id),
                  )
                }
              />
            ))}
          </div>
        )}
      />
    </fieldset>
  );
};

export const ContactState = ({
  contact: { state },
}: {
  readonly contact: Contact;
}): ReactNode =>
  state === "approved" ? (
    <Badge
      tone="success"
      icon={BadgeCheck}
      title="Its name is shown where people decide, and it is paid on its chains where a policy asks for approved contacts"
    >
      Approved
    </Badge>
  ) : (
    <Badge
      icon={CircleDashed}
      title="Nobody has approved its name, address and chains: its name is not shown where people decide"
    >
      Proposed
    </Badge>
  );

type Warning = Contact["warnings"][number];

const BADGES = {
  similar_name: "Named like another",
  lookalike_recipient: "Looks like another address",
  recipient_listed: "Listed",
  recipient_frozen: "Frozen",
  token_contract: "Token contract",
  code_elsewhere: "Contract elsewhere",
  first_payment: "Not paid before",
} as const satisfies Record<Warning["code"], string>;

export const WarningBadges = ({
  contact: { warnings },
}: {
  readonly contact: Contact;
}): ReactNode =>
  warnings.map(({ code, message }) => (
    <Badge
      key={message}
      tone="danger"
      icon={TriangleAlert}
      title={`${message} Compare the whole address.`}
    >
      {BADGES[code]}
    </Badge>
  ));

interface DeleteContactDialogProps {
  /** The contact to delete; null closes the dialog. */
  readonly contact: Contact | null;
  readonly onClose: () => void;
}

export const DeleteContactDialog = ({
  contact,
  onClose,
}: DeleteContactDialogProps): ReactNode => {
  const deletion = useDeleteContact();
  return (
    <ActionDialog
      open={contact !== null}
      onClose={onClose}
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
