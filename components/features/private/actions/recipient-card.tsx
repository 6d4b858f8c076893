"use client";

import { useState, type ReactNode } from "react";
import { AddressBookDialog } from "@/components/features/contacts/address-book-dialog";
import type { RecipientView } from "@/components/features/transfer/recipient";
import { RecipientNotes } from "@/components/features/transfer/recipient-notes";
import { Button } from "@/components/ui/button";
import { Field, Input } from "@/components/ui/field";
import { RadioCards } from "@/components/ui/radio-cards";
import { Select } from "@/components/ui/select";
import { Card } from "@/components/ui/card";
import type { PrivacyWallet } from "../types";
import type { PartProps } from "./pay-card";

interface RecipientCardProps extends PartProps {
  readonly wallets: readonly PrivacyWallet[];
  readonly recipient: RecipientView;
  readonly complete: boolean;
  readonly compared: boolean;
  readonly onCompared: (compared: boolean) => void;
}

const TARGETS = [
  { value: "address", label: "An address", description: "Leaves the pool. Amount and recipient are public." },
  { value: "wallet", label: "A private wallet", description: "Stays in the pool. The recipient is hidden." },
];

/** An address with contacts and the flag of look-alikes, or another private wallet of the project. */
export const RecipientCard = (props: RecipientCardProps): ReactNode => {
  const { form, wallets } = props;
  const { values } = form;
  const others = wallets.filter(({ privacyWalletId }) => privacyWalletId !== values.walletId);
  return (
    <Card title="To">
      <div className="flex flex-col gap-3">
        {form.action === "transfer" ? (
          <RadioCards
            label="Pay to"
            inRow
            value={values.target}
            onValueChange={(target) => form.set("target", target)}
            options={TARGETS}
          />
        ) : null}
        {form.action === "transfer" && values.target === "wallet" ? (
          <Field
            label="Private wallet"
            error={form.errors.toWalletId}
            hint={others.length === 0 ? "There is no other one yet. Create it on the private page." : undefined}
          >
            <Select
              value={values.toWalletId}
              onValueChange={(id) => form.set("toWalletId", id)}
              disabled={others.length === 0}
              options={others.map(({ privacyWalletId, name }) => ({ value: privacyWalletId, label: name }))}
              placeholder="Choose …"
            />
          </Field>
        ) : (
          <AddressField {...props} />
        )}
      </div>
    </Card>
  );
};

const AddressField = ({ form, recipient, ...notes }: RecipientCardProps): ReactNode => {
  const [bookOpen, setBookOpen] = useState(false);
  const isOptional = form.action === "unshield";
  const isTyped = form.values.toAddress.trim() !== "";
  return (
    <>
      <Field
        label={isOptional ? "Recipient, optional" : "Recipient"}
        error={form.errors.toAddress}
        hint={isOptional && !isTyped ? "Empty: the treasury." : undefined}
        aside={
          <Button variant="link" size="sm" className="h-auto" onClick={() => setBookOpen(true)}>
            Address book
          </Button>
        }
      >
        <Input
          mono
          className="text-sm"
          placeholder="0x…"
          value={form.values.toAddress}
          onChange={(event) => form.set("toAddress", event.target.value)}
          onBlur={() => (isTyped ? form.check("toAddress") : undefined)}
        />
      </Field>
      <RecipientNotes view={recipient} {...notes} ownIsUsual={false} onSave={() => setBookOpen(true)} />
      <AddressBookDialog
        open={bookOpen}
        onOpenChange={setBookOpen}
        onChoose={(contact) => form.set("toAddress", contact.address)}
        // One that may be mistaken is not offered to be saved.
        {...((recipient.as === "new" || recipient.as === "earlier") && recipient.lookAlike === null
          ? { newAddress: recipient.address }
          : {})}
      />
    </>
  );
};
