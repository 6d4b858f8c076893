"use client";

import { useState, type ReactNode } from "react";
import { AddressBookDialog } from "@/components/features/contacts/address-book-dialog";
import { Button } from "@/components/ui/button";
import { Field, Input } from "@/components/ui/field";
import { Select } from "@/components/ui/select";
import { Card } from "@/components/ui/card";
import { assetsOf } from "./form-model";
import type { PartProps } from "./from-card";
import type { RecipientView } from "./recipient";
import { RecipientNotes } from "./recipient-notes";

interface ToCardProps extends PartProps {
  readonly recipient: RecipientView;
  readonly complete: boolean;
  readonly compared: boolean;
  readonly onCompared: (compared: boolean) => void;
}

/** On which chain, and to whom. */
export const ToCard = ({ setup, transfer, serverErrors, recipient, ...notes }: ToCardProps): ReactNode => {
  const [bookOpen, setBookOpen] = useState(false);
  const { values } = transfer;
  const { errors } = transfer.form.formState;
  const asset = assetsOf(setup.tokens).find((one) => one.assetId === values.assetId);
  return (
    <Card title="They receive">
      <div className="flex flex-col gap-3">
        <Field label="To chain" error={errors.toChainId?.message ?? serverErrors.toChainId}>
          <Select
            value={values.toChainId}
            onValueChange={(chainId) => transfer.choose("toChainId", chainId)}
            options={setup.chains.map((chain) => {
              const there = asset === undefined || asset.chainIds.includes(String(chain.id));
              return {
                value: String(chain.id),
                label: there ? chain.name : `${chain.name} (no ${asset.symbol} there)`,
                disabled: !there,
              };
            })}
            placeholder="Choose …"
          />
        </Field>
        <div className="flex min-w-0 flex-col gap-2">
          <Field
            label="Recipient"
            error={errors.toAddress?.message ?? serverErrors.toAddress}
            aside={
              <Button variant="link" size="sm" className="h-auto" onClick={() => setBookOpen(true)}>
                Address book
              </Button>
            }
          >
            <Input mono className="text-sm" placeholder="0x…" {...transfer.form.register("toAddress")} />
          </Field>
          <RecipientNotes view={recipient} {...notes} onSave={() => setBookOpen(true)} />
        </div>
      </div>
      <AddressBookDialog
        open={bookOpen}
        onOpenChange={setBookOpen}
        onChoose={(contact) => transfer.choose("toAddress", contact.address)}
        // One that may be mistaken is not offered to be saved.
        {...((recipient.as === "new" || recipient.as === "earlier") && recipient.lookAlike === null
          ? { newAddress: recipient.address }
          : {})}
      />
    </Card>
  );
};
