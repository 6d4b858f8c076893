"use client";

import type { ReactNode } from "react";
import type { KnownAddress } from "@/lib/core/look-alike";
import { VirtualTable } from "@/components/ui/virtual-table";
import type { DraftField, DraftRow } from "./draft-row";
import { DraftRowCells, TOKEN_LIST_ID } from "./draft-row-cells";
import { FIELD_WORDS } from "./field-words";
import type { NewPayout } from "./use-new-payout";

const ROW_HEIGHT = 49;
/** A whole address fits beside the other columns while there are no notes. */
const TEMPLATES = {
  wallets: "md:grid-cols-[2rem_minmax(0,3.6fr)_minmax(0,1fr)_minmax(0,0.8fr)_minmax(0,1.2fr)_1.75rem]",
  noted: "md:grid-cols-[2rem_minmax(0,2.8fr)_minmax(0,1fr)_minmax(0,0.8fr)_minmax(0,1.1fr)_minmax(0,1.1fr)_1.75rem]",
  global_accounts: "md:grid-cols-[2rem_minmax(0,2fr)_minmax(0,1fr)_minmax(0,1.5fr)_1.75rem]",
} as const;

interface DraftTableProps {
  readonly form: NewPayout;
  readonly rows: readonly { readonly row: DraftRow; readonly number: number }[];
  readonly fields: readonly DraftField[];
  readonly known: readonly KnownAddress[];
}

/** The rows of a payout that is being written, each cell editable in place. */
export const DraftTable = ({ form, rows, fields, known }: DraftTableProps): ReactNode => {
  const { target } = form;
  const { wallets } = target;
  const source = target.kind === "global_accounts" ? (target.source ?? null) : null;
  const tokens = wallets?.tokens ?? [];
  const defaultToken = tokens.find(({ address }) => address === wallets?.defaultToken)?.symbol ?? "";
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
            ...(field === "amount" ? { align: "right" as const } : {}),
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
              duplicate={form.options.payDuplicates ? undefined : form.duplicates.get(item.row.key)}
              known={known}
              source={source}
              defaultToken={defaultToken}
              onChange={form.change}
              onRemove={form.remove}
            />
          );
        }}
      </VirtualTable>
    </>
  );
};
