"use client";

import { ClipboardPaste, FileDown } from "lucide-react";
import { type ReactNode, useMemo, useState } from "react";
import {
  DropArea,
  FileButton,
  FileNotices,
  PasteDialog,
} from "@/components/features/file-import/file-parts";
import { withColumn } from "@/components/features/file-import/layout";
import {
  ColumnFields,
  OpenColumns,
  UnreadColumns,
} from "@/components/features/file-import/mapping-parts";
import { Preview, type PreviewRow } from "@/components/features/file-import/preview";
import type { ImportKind } from "@/components/features/file-import/read-import";
import type { Table as Sheet } from "@/components/features/file-import/table";
import { type FileImport, useImport } from "@/components/features/file-import/use-import";
import { counted } from "@/components/features/payouts/new/amount-rules";
import { Alert } from "@/components/ui/alert";
import { Button } from "@/components/ui/button";
import { Dialog } from "@/components/ui/dialog";
import { saveFile } from "@/components/ui/save-file";
import { type Column, RowName } from "@/components/ui/table";
import { CONTACTS_MAX } from "@/lib/contracts/contacts";
import { countText } from "@/lib/core/amount-text";
import { csvLine } from "@/lib/core/csv";
import {
  type ContactCells,
  COLUMN_WORDS,
  CONTACT_COLUMNS,
  contactCellsOf,
  contactLayoutOf,
} from "./contact-columns";
import { ReviewContacts } from "./review-contacts";
import type { ImportedRow } from "./use-contact-import";

const CONTACT_FILE: ImportKind = {
  rowsMax: CONTACTS_MAX,
  row: "contact",
  whole: "an import",
  banks: false,
};

interface ImportContactsProps {
  readonly onClose: () => void;
  readonly onImported: (rows: readonly ImportedRow[]) => void;
}

/** Reads contacts from a file: choose it, match its columns, correct and check its rows. */
export const ImportContacts = ({ onClose, onImported }: ImportContactsProps): ReactNode => {
  const file = useImport(CONTACT_FILE);
  const [cells, setCells] = useState<readonly ContactCells[] | null>(null);
  if (cells !== null)
    return <ReviewContacts cells={cells} onClose={onClose} onImported={onImported} />;
  const { state } = file;
  if (state.step !== "read" || state.read.kind !== "table")
    return <ChooseFile file={file} onClose={onClose} />;
  return (
    <MatchColumns
      name={state.name}
      table={state.read.table}
      onClose={onClose}
      onBack={file.close}
      onCells={setCells}
    />
  );
};

const TEMPLATE: readonly (readonly string[])[] = [
  ["name", "address", "chains", "tags"],
  ["Acme GmbH", "0x0000000000000000000000000000000000000000", "", "Supplier; Berlin"],
];

interface ChooseFileProps {
  readonly file: FileImport;
  readonly onClose: () => void;
}

const ChooseFile = ({ file, onClose }: ChooseFileProps): ReactNode => {
  const [pasting, setPasting] = useState(false);
  const start = (chosen: File): void => file.start(chosen, chosen.name);
  return (
    <Dialog
      onClose={onClose}
      title="Import contacts"
      description="Every row is checked before anything is saved. New contacts are proposed until an owner or admin approves them."
      size="lg"
    >
      <DropArea onFile={start}>
        <div className="rounded-card border border-dashed">
          <FileNotices file={file} />
          <div className="flex flex-col items-center gap-3 px-4 py-8 text-center">
            <p className="text-lg font-medium">Drop a CSV or XLSX file here</p>
            <p className="max-w-md text-fg-2">
              One row for each contact, up to {countText(CONTACTS_MAX)}: name and address, and
              if you like chains and tags.
            </p>
            <FileButton primary label="Choose a file" onFile={start} />
            <div className="flex flex-wrap justify-center gap-2">
              <Button
                size="sm"
                onClick={() =>
                  saveFile({
                    text: TEMPLATE.map((line) => csvLine([...line])).join(""),
                    name: "contacts-template.csv",
                  })
                }
              >
                <FileDown aria-hidden /> Template
              </Button>
              <Button size="sm" onClick={() => setPasting(true)}>
                <ClipboardPaste aria-hidden /> Paste rows
              </Button>
            </div>
          </div>
        </div>
      </DropArea>
      <PasteDialog
        open={pasting}
        onClose={() => setPasting(false)}
        onText={(text) => file.start(new Blob([text]), "Pasted rows")}
        placeholder={"name,address,chains,tags\nAcme GmbH,0x…,,Supplier"}
      />
    </Dialog>
  );
};

interface MatchColumnsProps {
  readonly name: string;
  readonly table: Sheet;
  readonly onClose: () => void;
  readonly onBack: () => void;
  readonly onCells: (cells: readonly ContactCells[]) => void;
}

const MatchColumns = (props: MatchColumnsProps): ReactNode => {
  const { name, table, onClose, onBack, onCells } = props;
  const [layout, setLayout] = useState(() => contactLayoutOf(table.rows));
  const cells = useMemo(() => contactCellsOf(table, layout), [table, layout]);
  const missing = layout.mapping.name === null || layout.mapping.address === null;
  const isOpen = Object.keys(layout.open).length > 0;
  const questions = {
    mapping: {
      layout,
      setHeaded: (headed: boolean) => setLayout({ ...layout, headed }),
      setColumn: (wanted: (typeof CONTACT_COLUMNS)[number], column: number | null) =>
        setLayout(withColumn(layout, wanted, column)),
    },
    table,
    columns: CONTACT_COLUMNS,
    words: COLUMN_WORDS,
  };
  return (
    <Dialog
      onClose={onClose}
      title="Match the columns"
      description={`${name}, ${counted(cells.length, "row")}`}
      size="xl"
      footer={
        <>
          <Button onClick={onBack}>Back</Button>
          <Button
            variant="primary"
            disabled={missing || isOpen || cells.length === 0}
            onClick={() => onCells(cells)}
          >
            Use {counted(cells.length, "row")}
          </Button>
        </>
      }
    >
      <div className="flex flex-col gap-4">
        {table.notices.length === 0 ? null : (
          <Alert tone="warning" title="Check how the file was read">
            {table.notices.join(" ")}
          </Alert>
        )}
        <ColumnFields {...questions} />
        {missing && !isOpen ? (
          <Alert tone="info" title="Choose the columns of the name and the address">
            They were not recognised by their names.
          </Alert>
        ) : null}
        <OpenColumns {...questions} />
        <Preview columns={PREVIEW_COLUMNS} rows={cells} />
        <UnreadColumns table={table} layout={layout} />
      </div>
    </Dialog>
  );
};

const PREVIEW_COLUMNS = CONTACT_COLUMNS.map((id): Column<PreviewRow<ContactCells>> => ({
  id,
  header: COLUMN_WORDS[id],
  cell: ({ values }) =>
    values[id] === "" ? (
      <span className="text-fg-3">–</span>
    ) : (
      <RowName className="max-w-72 font-normal">{values[id]}</RowName>
    ),
  ...(id === "name" ? { phone: "title" } : {}),
}));
