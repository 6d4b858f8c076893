"use client";

import dynamic from "next/dynamic";
import { useState, type ComponentProps, type ReactNode } from "react";
import { Button } from "@/components/ui/button";
import { Field, Input } from "@/components/ui/field";
import { RecipientNotes } from "./recipient-notes";
import type { Recipient } from "./use-recipient";

// It brings the forms and approvals of contacts, which a payment needs seldom.
const AddressBookDialog = dynamic(
  () => import("@/components/features/contacts/address-book-dialog").then((module) => module.AddressBookDialog),
  { ssr: false },
);

interface RecipientFieldProps {
  readonly recipient: Recipient;
  readonly error: string | undefined;
  /** Of the form's own field. */
  readonly input: ComponentProps<typeof Input>;
  readonly onChoose: (address: string) => void;
  /** Money usually stays in the project here, so that is no news. */
  readonly ownIsUsual?: boolean;
}

/** The field for the recipient: typed or from the address book, with the project's notes about the address. */
export const RecipientField = ({ recipient, error, input, onChoose, ownIsUsual }: RecipientFieldProps): ReactNode => {
  const [bookOpen, setBookOpen] = useState(false);
  const [wasOpened, setWasOpened] = useState(false);
  const { view } = recipient;
  const openBook = (): void => {
    setWasOpened(true);
    setBookOpen(true);
  };
  return (
    <div className="flex min-w-0 flex-col gap-2">
      <Field
        label="Recipient"
        error={error}
        aside={
          <Button variant="link" size="sm" className="h-auto" onClick={openBook}>
            Address book
          </Button>
        }
      >
        <Input mono className="text-sm" placeholder="0x…" {...input} />
      </Field>
      <RecipientNotes
        view={view}
        complete={recipient.complete}
        compared={recipient.compared}
        onCompared={recipient.setCompared}
        onSave={openBook}
        ownIsUsual={ownIsUsual === true}
      />
      {wasOpened ? (
        <AddressBookDialog
          open={bookOpen}
          onOpenChange={setBookOpen}
          onChoose={(contact) => onChoose(contact.address)}
          // An address that may be mistaken for another one is not offered to be saved.
          {...((view.as === "new" || view.as === "earlier") && view.lookAlike === null
            ? { newAddress: view.address }
            : {})}
        />
      ) : null}
    </div>
  );
};
