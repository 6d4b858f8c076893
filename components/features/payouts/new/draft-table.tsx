"use client";

import { CopyX, X } from "lucide-react";
import { memo, type ReactNode, useCallback, useRef } from "react";
import { RowNote } from "@/components/features/file-import/row-errors";
import { AccountPicker } from "@/components/features/global-accounts/account-picker";
import { AddressMark } from "@/components/ui/address";
import { IconButton } from "@/components/ui/button";
import { cn } from "@/components/ui/cn";
import { Field, Input } from "@/components/ui/field";
import { VirtualTable } from "@/components/ui/virtual-table";
import { countText } from "@/lib/core/amount-text";
import type { KnownAddress } from "@/lib/core/look-alike";
import { readTypedAmount } from "../import/amount-format";
import {
  type DraftField,
  type DraftRow,
  type DraftValues,
  edited,
  type RowProblems,
} from "./draft-row";
import { FIELD_WORDS } from "./amount-rules";
import { RecipientLine } from "../recipient-item";
import type { NewPayout } from "./use-new-payout";

const ROW_HEIGHT = 49;
/** Column widths. A whole address fits beside the other columns while the notes are hidden. */
const TEMPLATES = {
  wallets:
    "md:grid-cols-[2rem_minmax(0,3.6fr)_minmax(0,1fr)_minmax(0,0.8fr)_minmax(0,1.2fr)_1.75rem]",
  noted:
    "md:grid-cols-[2rem_minmax(0,2.8fr)_minmax(0,1fr)_minmax(0,0.8fr)_minmax(0,1.1fr)_minmax(0,1.1fr)_1.75rem]",
  global_accounts: "md:grid-cols-[2rem_minmax(0,2fr)_minmax(0,1fr)_minmax(0,1.5fr)_1.75rem]",
} as const;

interface DraftTableProps {
  readonly form: NewPayout;
  readonly rows: readonly { readonly row: DraftRow; readonly number: number }[];
  readonly fields: readonly DraftField[];
  readonly known: readonly KnownAddress[];
}

export const DraftTable = ({ form, rows, fields, known }: DraftTableProps): ReactNode => {
  const { target } = form;
  const { wallets } = target;
  const source = target.kind === "global_accounts" ? (target.source ?? null) : null;
  const tokens = wallets?.tokens ?? [];
  const { remove } = form;
  const removeOne = useCallback((key: number) => remove(new Set([key])), [remove]);
  const defaultToken =
    tokens.find(({ address }) => address === wallets?.defaultToken)?.symbol ?? "";
  return (
    <>
      <datalist id={TOKEN_LIST_ID}>
        {tokens.map((token) => (
          <option key={token.address} value={token.symbol} />
        ))}
      </datalist>
      <VirtualTable
        caption="Recipients"
        template={TEMPLATES[fields.includes("note") ? "noted" : target.kind]}
        columns={[
          { id: "number", header: "#" },
          ...fields.map((field) => ({
            id: field,
            header: FIELD_WORDS[field],
            align: field === "amount" ? ("right" as const) : undefined,
          })),
          { id: "remove", header: <span className="sr-only">Remove</span> },
        ]}
        count={rows.length}
        keyOf={(index) => rows[index]?.row.key ?? index}
        rowHeight={ROW_HEIGHT}
      >
        {(index) => {
          const item = rows[index];
          return item === undefined ? null : (
            <DraftRowCells
              row={item.row}
              number={item.number}
              fields={fields}
              problems={form.problems.get(item.row.key)}
              duplicate={
                form.options.payDuplicates ? undefined : form.duplicates.get(item.row.key)
              }
              known={known}
              source={source}
              defaultToken={defaultToken}
              onChange={form.change}
              onRemove={removeOne}
            />
          );
        }}
      </VirtualTable>
    </>
  );
};

const TOKEN_LIST_ID = "payout-tokens";

interface DraftRowCellsProps {
  readonly row: DraftRow;
  /** The row's number among all rows, from 1. */
  readonly number: number;
  readonly fields: readonly DraftField[];
  readonly problems: RowProblems | undefined;
  readonly duplicate: string | undefined;
  readonly known: readonly KnownAddress[];
  /** The paying account and its currency; null for payouts to wallets. */
  readonly source: { readonly id: string; readonly assetId: string } | null;
  readonly defaultToken: string;
  readonly onChange: (key: number, part: Partial<DraftValues>) => void;
  readonly onRemove: (key: number) => void;
}

const errorId = (row: DraftRow, field: DraftField | "row"): string =>
  `row-${String(row.key)}-${field}`;

/**
 * The changes to a row when the person leaves a cell after typing: the row counts as checked, and
 * an amount that can be read gets its parsed form.
 */
const leaveCell = (row: DraftRow, field: DraftField): Partial<DraftValues> => {
  const reading = field === "amount" ? readTypedAmount(row.amount) : null;
  if (reading === null || "refusal" in reading) return { checked: true };
  return { amount: reading.amount, units: reading.units, checked: true };
};

interface CellInputProps extends DraftRowCellsProps {
  readonly field: DraftField;
}

const CellInput = ({ field, ...props }: CellInputProps): ReactNode => {
  const { row, number, problems, source, onChange, defaultToken } = props;
  const problem = problems?.[field];
  const typed = useRef(false);
  const placeholders: Partial<Record<DraftField, string>> = {
    recipient: "0x…",
    amount: "0.00",
    token: defaultToken,
  };
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
        // The arrow of the suggestion list would hide half of the symbol.
        field === "token" && "[&::-webkit-calendar-picker-indicator]:hidden!",
      )}
      placeholder={placeholders[field]}
      list={field === "token" ? TOKEN_LIST_ID : undefined}
      onChange={(event) => {
        typed.current = true;
        onChange(row.key, {
          ...edited(row, field, event.target.value),
          // Payouts between accounts show no tokens; a new amount is in the account's currency.
          ...(field === "amount" && source !== null ? { token: "", refusals: {} } : {}),
        });
      }}
      onBlur={() => {
        // An untouched cell is not read again, because `1.250` could become 1250.
        if (typed.current) onChange(row.key, leaveCell(row, field));
        else if (!row.checked) onChange(row.key, { checked: true });
        typed.current = false;
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
          onChange={(recipient) =>
            onChange(row.key, { ...edited(row, "recipient", recipient), checked: true })
          }
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

const DraftRowCells = memo(function DraftRowCells(props: DraftRowCellsProps): ReactNode {
  const { row, number, fields, problems, duplicate, onRemove } = props;
  const wrong = (["row", ...fields] as const).filter(
    (field) => problems?.[field] !== undefined,
  );
  return (
    <>
      <span
        role="rowheader"
        className="num flex items-center justify-between text-sm text-fg-3 md:h-12"
      >
        <span>
          <span className="whitespace-pre md:sr-only">Row </span>
          {countText(number)}
        </span>
      </span>
      {fields.map((field) => (
        <span key={field} role="cell" className="min-w-0 md:py-1.5">
          <span aria-hidden className="text-sm text-fg-2 md:hidden">
            {FIELD_WORDS[field]}
          </span>
          {field === "recipient" ? (
            <RecipientCell {...props} />
          ) : (
            <CellInput {...props} field={field} />
          )}
        </span>
      ))}
      <span role="cell" className="justify-self-end max-md:order-first max-md:-mb-7">
        <IconButton label={`Remove row ${String(number)}`} onClick={() => onRemove(row.key)}>
          <X aria-hidden />
        </IconButton>
      </span>
      {wrong.length === 0 && duplicate === undefined ? null : (
        <span
          role="cell"
          className="flex flex-col gap-0.5 pb-1.5 text-sm md:col-span-full md:pl-12"
        >
          {wrong.map((field) => (
            <RowNote key={field} id={errorId(row, field)} tone="danger">
              {FIELD_WORDS[field]}: {problems?.[field]}
            </RowNote>
          ))}
          {duplicate === undefined ? null : (
            <RowNote tone="warning" icon={CopyX}>
              {duplicate}
            </RowNote>
          )}
        </span>
      )}
    </>
  );
});
