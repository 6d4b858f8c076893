"use client";

import { useState, type ReactNode, type SyntheticEvent } from "react";
import { toast } from "sonner";
import { Button } from "@/components/ui/button";
import { ErrorState } from "@/components/ui/error-state";
import { Field, Input } from "@/components/ui/field";
import { createContact } from "@/lib/contracts/contacts";
import { useSaveContact, type Contact } from "./use-contacts";

const NAME_MAX = 80;

interface ContactFormProps {
  /** Stands in the address field at first. */
  readonly address?: string;
  readonly onSaved?: (contact: Contact) => void;
}

/** What is wrong with a field, as a sentence; undefined while it is right. */
const problemOf = (field: "name" | "address", text: string): string | undefined => {
  const problem = createContact.body.shape[field].safeParse(text.trim()).error?.issues[0]?.message;
  if (problem === undefined) return undefined;
  return field === "name" ? "Type a name." : `The address ${problem}.`;
};

/** Adds a contact, or renames the one that has this address. */
export const ContactForm = ({ address = "", onSaved }: ContactFormProps): ReactNode => {
  const [values, setValues] = useState({ name: "", address });
  const [tried, setTried] = useState(false);
  const save = useSaveContact();
  const problems = { name: problemOf("name", values.name), address: problemOf("address", values.address) };
  const submit = (event: SyntheticEvent): void => {
    event.preventDefault();
    // It may stand inside another form of the page.
    event.stopPropagation();
    setTried(true);
    if (problems.name !== undefined || problems.address !== undefined) return;
    save.mutate(
      { name: values.name.trim(), address: values.address.trim() },
      {
        onSuccess: (contact) => {
          toast.success(`${contact.name} is in the address book.`);
          setValues({ name: "", address: "" });
          setTried(false);
          onSaved?.(contact);
        },
      },
    );
  };
  return (
    <form onSubmit={submit} noValidate aria-label="Add a contact" className="flex flex-col gap-3">
      <div className="grid gap-3 sm:grid-cols-[minmax(0,1fr)_minmax(0,2fr)]">
        <Field label="Name" error={tried ? problems.name : undefined}>
          <Input
            maxLength={NAME_MAX}
            value={values.name}
            onChange={(event) => setValues({ ...values, name: event.target.value })}
          />
        </Field>
        <Field label="Address" error={tried ? problems.address : undefined}>
          <Input
            mono
            className="text-sm"
            placeholder="0x…"
            value={values.address}
            onChange={(event) => setValues({ ...values, address: event.target.value })}
          />
        </Field>
      </div>
      {save.error === null ? null : <ErrorState compact error={save.error} />}
      <div>
        <Button type="submit" loading={save.isPending}>
          Save contact
        </Button>
      </div>
    </form>
  );
};
