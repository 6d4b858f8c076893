"use client";

import dynamic from "next/dynamic";
import { type ComponentProps, type ReactNode, useState } from "react";
import { Button } from "@/components/ui/button";
import { Field, Input } from "@/components/ui/field";
import { recipientView, type RecipientView, saidByNotes, useKnownAddresses } from "./recipient";
import { RecipientNotes } from "./recipient-notes";

// The dialog is loaded on demand, because it contains the forms and approvals of contacts, which
// few payments need.

const AddressBookDialog = dynamic(
  () =>
    import("@/components/features/contacts/address-book-dialog").then(
      (module) => module.AddressBookDialog,
    ),
  { ssr: false },
);

interface RecipientFieldProps {
  readonly recipient: Recipient;
  readonly error: string | undefined;
  readonly input: ComponentProps<typeof Input>;
  readonly onChoose: (address: string) => void;
  /**
   * Omits the note that the recipient belongs to the project, because that is usual on this page.
   */
  readonly ownIsUsual?: boolean;
}

export const RecipientField = ({
  recipient,
  error,
  input,
  onChoose,
  ownIsUsual,
}: RecipientFieldProps): ReactNode => {
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
        ownIsUsual={ownIsUsual}
      />
      {wasOpened ? (
        <AddressBookDialog
          open={bookOpen}
          onClose={() => setBookOpen(false)}
          onChoose={(contact) => onChoose(contact.address)}
          // An address that looks like a known one is not offered for saving.
          {...((view.as === "new" || view.as === "earlier") && view.lookAlike === null
            ? { newAddress: view.address }
            : {})}
        />
      ) : null}
    </div>
  );
};

export interface Recipient {
  readonly view: RecipientView;
  /** Whether all known addresses are loaded. Before that, no address is called new. */
  readonly complete: boolean;
  /** Whether the person states that the whole address was compared. */
  readonly compared: boolean;
  readonly setCompared: (compared: boolean) => void;
  /** Why the review cannot be opened yet; null when it can. */
  readonly obstacle: string | null;
  /** Codes of the service's warnings that the notes at the address already show. */
  readonly said: ReadonlySet<string>;
}

export const chainIdOf = (chosen: string): number | null =>
  chosen === "" ? null : Number(chosen);

/**
 * Looks up a typed recipient among the project's known addresses. An address that looks like a
 * known one must be compared before it is paid.
 */
export const useRecipient = (typed: string, chainId: number | null): Recipient => {
  const { known, complete } = useKnownAddresses(chainId);
  const view = recipientView(typed, known);
  const [comparedAddress, setComparedAddress] = useState<string | null>(null);
  const compared = view.as !== "none" && comparedAddress === view.address;
  const mistakable = view.as !== "none" && view.lookAlike !== null && !compared;
  return {
    view,
    complete,
    compared,
    setCompared: (is) => setComparedAddress(is && view.as !== "none" ? view.address : null),
    said: saidByNotes(view, complete),
    obstacle: mistakable ? "Compare the address first: it looks like one that you know." : null,
  };
};
