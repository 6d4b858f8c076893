"use client";

import { type ComponentProps, type ReactNode, useState } from "react";
import { Button } from "@/components/ui/button";
import { Field, Input } from "@/components/ui/field";
import { AddressBookDialog } from "./address-book-dialog";

interface AddressBookFieldProps extends Pick<
  ComponentProps<typeof Field>,
  "label" | "error" | "hint"
> {
  readonly input: ComponentProps<typeof Input>;
  readonly onChoose: (address: string) => void;
  /** An address that the address book offers to save as a contact. */
  readonly newAddress?: string;
  /** Renders the notes below the field. `openBook` opens the address book. */
  readonly notes?: (openBook: () => void) => ReactNode;
}

export const AddressBookField = ({
  input,
  onChoose,
  newAddress,
  notes,
  ...field
}: AddressBookFieldProps): ReactNode => {
  const [isOpen, setOpen] = useState(false);
  const openBook = (): void => setOpen(true);
  return (
    <>
      <Field
        {...field}
        aside={
          <Button variant="link" size="sm" className="h-auto" onClick={openBook}>
            Address book
          </Button>
        }
      >
        <Input mono className="text-sm" placeholder="0x…" {...input} />
      </Field>
      {notes?.(openBook)}
      <AddressBookDialog
        open={isOpen}
        onClose={() => setOpen(false)}
        onChoose={(contact) => onChoose(contact.address)}
        newAddress={newAddress}
      />
    </>
  );
};
