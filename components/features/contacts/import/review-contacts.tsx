"use client";

import { X } from "lucide-react";
import { type ReactNode, useEffect, useRef } from "react";
import { RowErrors, RowNote } from "@/components/features/file-import/row-errors";
import { useRowsWithErrors } from "@/components/features/file-import/use-rows-with-errors";
import { counted } from "@/components/features/payouts/new/amount-rules";
import { Alert } from "@/components/ui/alert";
import { Button, IconButton } from "@/components/ui/button";
import { cn } from "@/components/ui/cn";
import { Dialog } from "@/components/ui/dialog";
import { Input } from "@/components/ui/field";
import { RadioCards } from "@/components/ui/radio-cards";
import { ActionError } from "@/components/ui/states";
import { VirtualTable } from "@/components/ui/virtual-table";
import { countText } from "@/lib/core/amount-text";
import {
  COLUMN_WORDS,
  CONTACT_COLUMNS,
  type ContactCells,
  type ContactColumn,
} from "./contact-columns";
import type { CellProblems, ContactRow } from "./contact-rows";
import { type ContactImport, type ImportedRow, useContactImport } from "./use-contact-import";

interface ReviewContactsProps {
  readonly cells: readonly ContactCells[];
  readonly onClose: () => void;
  readonly onImported: (rows: readonly ImportedRow[]) => void;
}

const isStored = ({ outcome }: ImportedRow): boolean =>
  outcome === "created" || outcome === "updated";

/** Shows the rows with their errors. The service checks them before they are saved. */
export const ReviewContacts = (props: ReviewContactsProps): ReactNode => {
  const { cells, onClose, onImported } = props;
  const rows = useContactImport(cells);
  const { problems, checked, check, busy } = rows;
  const { shown, onlyErrors, setOnlyErrors } = useRowsWithErrors(rows.rows, problems);
  const started = useRef(false);
  useEffect(() => {
    if (started.current || problems.size > 0) return;
    started.current = true;
    void check();
  }, [problems, check]);
  const storing = [...(checked?.values() ?? [])].filter(isStored).length;
  const send = async (): Promise<void> => {
    const data = await rows.send();
    if (data !== null) onImported(data);
  };
  return (
    <Dialog
      onClose={onClose}
      title="Check the contacts"
      description={counted(rows.rows.length, "row")}
      size="xl"
      footer={
        <>
          <Button onClick={onClose}>Cancel</Button>
          {checked === null ? (
            <Button
              variant="primary"
              loading={busy}
              disabled={problems.size > 0 || rows.rows.length === 0}
              onClick={() => void check()}
            >
              Check {counted(rows.rows.length, "contact")}
            </Button>
          ) : (
            <Button
              variant="primary"
              loading={busy}
              disabled={storing === 0}
              onClick={() => void send()}
            >
              Import {counted(storing, "contact")}
            </Button>
          )}
        </>
      }
    >
      <div className="flex flex-col gap-4">
        <RowErrors
          count={problems.size}
          onlyErrors={onlyErrors}
          onOnlyErrors={setOnlyErrors}
          onRemove={() => {
            rows.remove(new Set(problems.keys()));
            setOnlyErrors(false);
          }}
        />
        {checked === null ? null : <Outcome form={rows} checked={checked} />}
        <div className="rounded-card border">
          <RowTable form={rows} shown={shown} />
        </div>
        <ActionError error={rows.error} money="The address book is as it was." />
      </div>
    </Dialog>
  );
};

interface OutcomeProps {
  readonly form: ContactImport;
  readonly checked: ReadonlyMap<number, ImportedRow>;
}

const Outcome = ({ form, checked }: OutcomeProps): ReactNode => {
  const all = [...checked.values()];
  const created = all.filter(({ outcome }) => outcome === "created").length;
  const known = all.length - created;
  const flagged = all.filter(({ warnings }) => warnings.length > 0).length;
  return (
    <>
      <p role="status">
        {counted(created, "new contact")}
        {known === 0
          ? "."
          : `; ${counted(known, "address is", "addresses are")} in the address book already.`}
      </p>
      {known === 0 ? null : (
        <RadioCards
          label="Contacts that are in the address book"
          inRow
          value={form.existing}
          onValueChange={(value) => form.setExisting(value === "update" ? "update" : "skip")}
          options={[
            { value: "skip", label: "Skip", description: "They stay as they are." },
            {
              value: "update",
              label: "Update",
              description: "Another name or other chains make them proposed again.",
            },
          ]}
        />
      )}
      {flagged === 0 ? null : (
        <Alert
          tone="warning"
          title={counted(flagged, "contact needs a look", "contacts need a look")}
        >
          Compare their whole addresses with whom they belong to, best over another way than the
          one they came by.
        </Alert>
      )}
    </>
  );
};

interface RowTableProps {
  readonly form: ContactImport;
  readonly shown: readonly { readonly row: ContactRow; readonly number: number }[];
}

const TEMPLATE =
  "md:grid-cols-[2rem_minmax(0,1.2fr)_minmax(0,2.6fr)_minmax(0,0.8fr)_minmax(0,1fr)_4.5rem_1.75rem]";
const ROW_HEIGHT = 49;

const RowTable = ({ form, shown }: RowTableProps): ReactNode => (
  <VirtualTable
    caption="Contacts to import"
    template={TEMPLATE}
    columns={[
      { id: "number", header: "#" },
      ...CONTACT_COLUMNS.map((id) => ({ id, header: COLUMN_WORDS[id] })),
      { id: "outcome", header: "Result" },
      { id: "remove", header: <span className="sr-only">Remove</span> },
    ]}
    count={shown.length}
    keyOf={(index) => shown[index]?.row.key ?? index}
    rowHeight={ROW_HEIGHT}
  >
    {(index) => {
      const item = shown[index];
      return item === undefined ? null : (
        <RowCells
          {...item}
          problems={form.problems.get(item.row.key)}
          imported={form.checked?.get(item.row.key)}
          form={form}
        />
      );
    }}
  </VirtualTable>
);

const OUTCOME_WORDS = {
  created: "New",
  updated: "Updated",
  unchanged: "Same",
  skipped: "Skipped",
} as const satisfies Record<ImportedRow["outcome"], string>;

interface RowCellsProps {
  readonly row: ContactRow;
  readonly number: number;
  readonly problems: CellProblems | undefined;
  readonly imported: ImportedRow | undefined;
  readonly form: ContactImport;
}

const RowCells = ({ row, number, problems, imported, form }: RowCellsProps): ReactNode => (
  <>
    <span role="rowheader" className="num flex items-center text-sm text-fg-3 md:h-12">
      <span className="whitespace-pre md:sr-only">Row </span>
      {countText(number)}
    </span>
    {CONTACT_COLUMNS.map((column) => (
      <span key={column} role="cell" className="min-w-0 md:py-1.5">
        <span aria-hidden className="text-sm text-fg-2 md:hidden">
          {COLUMN_WORDS[column]}
        </span>
        <CellInput
          row={row}
          number={number}
          column={column}
          problem={problems?.[column]}
          onChange={(text) => form.change(row.key, { [column]: text })}
        />
      </span>
    ))}
    <span role="cell" className="flex items-center text-sm text-fg-2 md:h-12">
      {imported === undefined ? null : OUTCOME_WORDS[imported.outcome]}
    </span>
    <span role="cell" className="justify-self-end max-md:order-first max-md:-mb-7">
      <IconButton
        label={`Remove row ${String(number)}`}
        onClick={() => form.remove(new Set([row.key]))}
      >
        <X aria-hidden />
      </IconButton>
    </span>
    <RowNotes row={row} problems={problems} imported={imported} />
  </>
);

const errorId = (row: ContactRow, column: ContactColumn): string =>
  `contact-${String(row.key)}-${column}`;

const PLACEHOLDERS: Readonly<Partial<Record<ContactColumn, string>>> = {
  address: "0x…",
  chains: "Every chain",
};

interface CellInputProps extends Pick<RowCellsProps, "row" | "number"> {
  readonly column: ContactColumn;
  readonly problem: string | undefined;
  readonly onChange: (text: string) => void;
}

const CellInput = ({ row, number, column, problem, onChange }: CellInputProps): ReactNode => (
  <Input
    aria-label={`Row ${String(number)} ${COLUMN_WORDS[column].toLowerCase()}`}
    aria-invalid={problem === undefined ? undefined : true}
    aria-describedby={problem === undefined ? undefined : errorId(row, column)}
    mono={column === "address"}
    value={row[column]}
    title={row[column]}
    placeholder={PLACEHOLDERS[column]}
    className={cn("h-8 px-2", column === "address" && "text-xs tracking-tight")}
    onChange={(event) => onChange(event.target.value)}
  />
);

const RowNotes = ({
  row,
  problems = {},
  imported,
}: Pick<RowCellsProps, "row" | "problems" | "imported">): ReactNode => {
  const wrong = CONTACT_COLUMNS.filter((column) => problems[column] !== undefined);
  const warnings = imported?.warnings ?? [];
  const knownAs = imported?.knownAs ?? null;
  if (wrong.length === 0 && warnings.length === 0 && knownAs === null) return null;
  return (
    <span
      role="cell"
      className="flex flex-col gap-0.5 pb-1.5 text-sm md:col-span-full md:pl-12"
    >
      {wrong.map((column) => (
        <RowNote key={column} id={errorId(row, column)} tone="danger">
          {COLUMN_WORDS[column]}: {problems[column]}
        </RowNote>
      ))}
      {warnings.map(({ code, message }) => (
        <RowNote key={code + message} tone="warning">
          {message}
        </RowNote>
      ))}
      {knownAs === null ? null : (
        <span className="wrap-anywhere text-fg-2">In the address book as “{knownAs}”.</span>
      )}
    </span>
  );
};
