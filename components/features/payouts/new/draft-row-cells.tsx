"use client";

import { CircleAlert, CopyX, X } from "lucide-react";
import { memo, type ReactNode } from "react";
import { AccountPicker } from "@/components/features/global-accounts/account-picker";
import type { KnownAddress } from "@/lib/core/look-alike";
import { IconButton } from "@/components/ui/button";
import { cn } from "@/components/ui/cn";
import { Field, Input } from "@/components/ui/field";
import { AddressMark } from "@/components/ui/address-mark";
import { countText } from "@/lib/core/amount-text";
import { cellAmount } from "../import/amount-format";
import type { DraftField, DraftRow, DraftValues, RowProblems } from "./draft-row";
import { FIELD_WORDS } from "./field-words";
import { RecipientLine } from "./recipient-line";

export const TOKEN_LIST_ID = "payout-tokens";

interface DraftRowCellsProps {
  readonly row: DraftRow;
  /** From 1, over all rows. */
  readonly number: number;
  readonly fields: readonly DraftField[];
  readonly problems: RowProblems | undefined;
  /** Why it may pay the same twice. */
  readonly duplicate: string | undefined;
  readonly known: readonly KnownAddress[];
  /** The account that pays and its currency, for payouts between accounts. */
  readonly source: { readonly id: string; readonly assetId: string } | null;
  readonly defaultToken: string;
  readonly onChange: (key: number, part: Partial<DraftValues>) => void;
  readonly onRemove: (key: number) => void;
}

const errorId = (row: DraftRow, field: DraftField): string => `row-${String(row.key)}-${field}`;

/** Marks that a changed field also clears: an amount that is typed again is no longer misplaced, nor in the file's currency. */
const partOf = (field: DraftField, value: string, inAccounts: boolean): Partial<DraftValues> => ({
  [field]: value,
  ...(field === "amount" ? { ragged: false, ...(inAccounts ? { token: "" } : {}) } : {}),
});

const CellInput = ({ field, ...props }: DraftRowCellsProps & { readonly field: DraftField }): ReactNode => {
  const { row, number, problems, source, onChange, defaultToken } = props;
  const problem = problems?.[field];
  return (
    <Input
      aria-label={`Row ${String(number)} ${FIELD_WORDS[field].toLowerCase()}`}
      aria-invalid={problem === undefined ? undefined : true}
      aria-describedby={problem === undefined ? undefined : errorId(row, field)}
      numeric={field === "amount"}
      mono={field === "recipient"}
      value={row[field]}
      title={row[field]}
      className={cn(
        "h-8 px-2",
        field === "recipient" && "text-xs tracking-tight",
        // The arrow of the list would hide half of the symbol.
        field === "token" && "[&::-webkit-calendar-picker-indicator]:hidden!",
      )}
      {...(field === "recipient" ? { placeholder: "0x…" } : {})}
      {...(field === "amount" ? { placeholder: "0.00" } : {})}
      {...(field === "token" ? { placeholder: defaultToken, list: TOKEN_LIST_ID } : {})}
      onChange={(event) => onChange(row.key, partOf(field, event.target.value, source !== null))}
      onBlur={(event) => {
        const read = field === "amount" ? cellAmount(event.target.value.trim(), "point") : row[field];
        if (read !== row[field] || !row.checked) onChange(row.key, { [field]: read, checked: true });
      }}
    />
  );
};

const RecipientCell = (props: DraftRowCellsProps): ReactNode => {
  const { row, number, problems, known, source, onChange } = props;
  if (source !== null)
    return (
      <Field label={`Row ${String(number)} recipient`} labelHidden error={undefined}>
        <AccountPicker
          value={row.recipient}
          onChange={(recipient) => onChange(row.key, { recipient, checked: true })}
          currency={source.assetId}
          except={source.id}
        />
      </Field>
    );
  return (
    <span className="flex min-w-0 flex-col gap-0.5">
      <span className="flex items-center gap-1.5">
        {problems?.recipient === undefined && row.recipient.trim() !== "" ? (
          <AddressMark value={row.recipient.trim()} />
        ) : (
          <span className="size-5 shrink-0 rounded-tag bg-sunken" aria-hidden />
        )}
        <CellInput {...props} field="recipient" />
      </span>
      <RecipientLine address={row.recipient} known={known} />
    </span>
  );
};

/** The fields of one payment, and under them what is wrong with them. */
export const DraftRowCells = memo(function DraftRowCells(props: DraftRowCellsProps): ReactNode {
  const { row, number, fields, problems, duplicate, onRemove } = props;
  const wrong = fields.filter((field) => problems?.[field] !== undefined);
  return (
    <>
      <span role="rowheader" className="num flex items-center justify-between text-sm text-fg-3 md:h-12">
        <span>
          <span className="md:sr-only">Row </span>
          {countText(number)}
        </span>
      </span>
      {fields.map((field) => (
        <span key={field} role="cell" className="min-w-0 md:py-1.5">
          <span aria-hidden className="text-sm text-fg-2 md:hidden">
            {FIELD_WORDS[field]}
          </span>
          {field === "recipient" ? <RecipientCell {...props} /> : <CellInput {...props} field={field} />}
        </span>
      ))}
      <span role="cell" className="justify-self-end max-md:order-first max-md:-mb-7">
        <IconButton label={`Remove row ${String(number)}`} onClick={() => onRemove(row.key)}>
          <X aria-hidden />
        </IconButton>
      </span>
      {wrong.length === 0 && duplicate === undefined ? null : (
        <span role="cell" className="flex flex-col gap-0.5 pb-1.5 text-sm md:col-span-full md:pl-12">
          {wrong.map((field) => (
            <span key={field} id={errorId(row, field)} className="flex items-start gap-1.5 text-danger">
              <CircleAlert className="mt-0.5 size-3.5 shrink-0" aria-hidden />
              <span>
                {FIELD_WORDS[field]}: {problems?.[field]}
              </span>
            </span>
          ))}
          {duplicate === undefined ? null : (
            <span className="flex items-start gap-1.5 text-warning">
              <CopyX className="mt-0.5 size-3.5 shrink-0" aria-hidden />
              <span>{duplicate}</span>
            </span>
          )}
        </span>
      )}
    </>
  );
});
