"use client";

import { CopyX, X } from "lucide-react";
import type { ReactNode } from "react";
import { AccountPicker } from "@/components/features/global-accounts/account-picker";
import { IconButton } from "@/components/ui/button";
import { cn } from "@/components/ui/cn";
import { Field, Input } from "@/components/ui/field";
import type { PayoutRow } from "./row-model";
import type { PayoutForm } from "./use-payout-form";

interface PayoutRowFieldsProps {
  readonly row: PayoutRow;
  /** From 1, over all pages. */
  readonly number: number;
  /** Of those that are drawn: its labels head the columns. */
  readonly first: boolean;
  readonly form: PayoutForm;
}

/** `Row 1 amount` for whoever hears it, `Amount` for whoever sees it. */
const Label = ({ number, what }: { readonly number: number; readonly what: string }): ReactNode => (
  <>
    <span className="sr-only">Row {number} </span>
    <span className="inline-block first-letter:uppercase">{what}</span>
  </>
);

export const PayoutRowFields = ({ row, number, first, form }: PayoutRowFieldsProps): ReactNode => {
  const problems = form.problems.get(row.key) ?? {};
  const change = (part: Partial<PayoutRow>): void => form.change(row.key, part);
  return (
    <fieldset
      className={cn(
        "grid grid-cols-2 items-start gap-x-3 gap-y-2 px-4 py-3 md:grid-cols-[2.5rem_minmax(0,1.4fr)_minmax(0,1fr)_minmax(0,1.2fr)_2.25rem] md:py-2",
        !first && "md:[&_label]:sr-only",
      )}
    >
      <legend className="sr-only">Row {number}</legend>
      <span aria-hidden className={cn("num flex items-center gap-1 text-sm text-fg-3 md:h-9", first && "md:mt-[22px]")}>
        {number}
        {form.repeats.has(row.key) ? <CopyX className="size-3.5 text-warning" /> : null}
      </span>
      <span className={cn("justify-self-end md:order-last", first && "md:pt-[22px]")}>
        <IconButton
          label={`Remove row ${String(number)}`}
          size="md"
          disabled={form.rows.length === 1}
          onClick={() => form.remove(row.key)}
        >
          <X aria-hidden />
        </IconButton>
      </span>
      <Field
        label={<Label number={number} what="recipient" />}
        error={problems.recipient}
        className="max-md:col-span-2"
      >
        <AccountPicker
          value={row.recipient}
          onChange={(recipient) => change({ recipient })}
          currency={form.source?.assetId}
          except={form.sourceId}
        />
      </Field>
      <Field label={<Label number={number} what="amount" />} error={problems.amount}>
        <Input
          numeric
          placeholder="0.0"
          value={row.amount}
          // What a file said of the currency is settled by typing the amount anew.
          onChange={(event) => change({ amount: event.target.value, currency: null })}
        />
      </Field>
      <Field label={<Label number={number} what="reference" />} error={problems.reference}>
        <Input value={row.reference} onChange={(event) => change({ reference: event.target.value })} />
      </Field>
    </fieldset>
  );
};
