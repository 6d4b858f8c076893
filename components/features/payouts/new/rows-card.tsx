"use client";

import { ClipboardPaste, FileDown, Plus, StickyNote, Trash2 } from "lucide-react";
import { useMemo, useState, type ReactNode } from "react";
import { useKnownAddresses } from "@/components/features/transfer/use-known-addresses";
import { Alert } from "@/components/ui/alert";
import { Button } from "@/components/ui/button";
import { ConfirmDialog } from "@/components/ui/dialog";
import { Checkbox } from "@/components/ui/field";
import { saveFile } from "@/components/ui/save-file";
import { Card } from "@/components/ui/card";
import { PAYOUT_ROWS_MAX } from "@/lib/contracts/payout-records";
import { countText } from "@/lib/core/amount-text";
import { useImport } from "../import/use-import";
import { DraftTable } from "./draft-table";
import { counted } from "./field-words";
import { DropArea, FileButton } from "./import-drop";
import { ImportNotices } from "./import-notices";
import { MappingDialog } from "./mapping-dialog";
import { PasteDialog } from "./paste-dialog";
import { templateOf } from "./template";
import type { NewPayout } from "./use-new-payout";

/** Who gets how much: from a file, pasted, or typed. */
export const RowsCard = ({ form }: { readonly form: NewPayout }): ReactNode => {
  const file = useImport();
  const [pasting, setPasting] = useState(false);
  // Rows that had errors when the list was narrowed stay in it: one that vanished while it is typed in would keep half an amount.
  const [errorKeys, setErrorKeys] = useState<ReadonlySet<number> | null>(null);
  const [withNotes, setWithNotes] = useState(false);
  const { known } = useKnownAddresses();
  const { target, rows, problems, filled } = form;
  const allFields = target.rules?.fields ?? [];
  const noted = withNotes || problemsInNotes(problems) || rows.some(({ note }) => note !== "");
  const fields = allFields.filter((field) => field !== "note" || noted);
  const shown = useMemo(
    () =>
      rows
        .map((row, index) => ({ row, number: index + 1 }))
        .filter(({ row: { key } }) => errorKeys === null || errorKeys.has(key) || problems.has(key)),
    [rows, errorKeys, problems],
  );
  const start = (blob: Blob, name: string): void => {
    setErrorKeys(null);
    file.start(blob, name);
  };
  return (
    <DropArea onFile={(dropped) => start(dropped, dropped.name)}>
      <Card
        title="Recipients"
        description={counted(filled.length, "row")}
        flush
        actions={
          rows.length === 0 ? null : (
            <span className="flex flex-wrap justify-end gap-2">
              <Button size="sm" onClick={() => setPasting(true)}>
                <ClipboardPaste aria-hidden /> Paste
              </Button>
              <FileButton label="Choose a file" onFile={(chosen) => start(chosen, chosen.name)} />
            </span>
          )
        }
      >
        <ImportNotices file={file} />
        {rows.length === 0 ? (
          <Empty form={form} onFile={(chosen) => start(chosen, chosen.name)} onPaste={() => setPasting(true)} />
        ) : (
          <>
            <Notices
              form={form}
              onlyErrors={errorKeys !== null}
              onOnlyErrors={(only) => setErrorKeys(only ? new Set(problems.keys()) : null)}
            />
            <DraftTable form={form} rows={shown} fields={fields} known={known} />
            <Footer
              form={form}
              onAdd={() => setErrorKeys(null)}
              {...(allFields.includes("note") && !noted ? { onNotes: () => setWithNotes(true) } : {})}
            />
          </>
        )}
      </Card>
      {file.state.step === "read" ? (
        <MappingDialog
          name={file.state.name}
          table={file.state.table}
          fields={allFields}
          existing={filled.length}
          onClose={file.close}
          onRows={(values, replace) => {
            if (replace) form.replace(values);
            else form.append(values);
            file.close();
          }}
        />
      ) : null}
      <PasteDialog open={pasting} onOpenChange={setPasting} onText={(text) => start(new Blob([text]), "Pasted rows")} />
    </DropArea>
  );
};

const problemsInNotes = (problems: NewPayout["problems"]): boolean =>
  [...problems.values()].some(({ note }) => note !== undefined);

interface EmptyProps {
  readonly form: NewPayout;
  readonly onFile: (file: File) => void;
  readonly onPaste: () => void;
}

const Empty = ({ form, onFile, onPaste }: EmptyProps): ReactNode => (
  <div className="flex flex-col items-center gap-3 px-4 py-10 text-center">
    <p className="text-lg font-medium">Drop a CSV or XLSX file here</p>
    <p className="max-w-md text-fg-2">
      One row for each payment, up to {countText(PAYOUT_ROWS_MAX)}. Columns are matched by their names, and every row is
      checked before anything is paid.
    </p>
    <FileButton primary label="Choose a file" onFile={onFile} />
    <div className="flex flex-wrap justify-center gap-2">
      <Button
        size="sm"
        onClick={() => saveFile(templateOf(form.target.kind), `payout-template-${form.target.kind}.csv`)}
      >
        <FileDown aria-hidden /> Template
      </Button>
      <Button size="sm" onClick={onPaste}>
        <ClipboardPaste aria-hidden /> Paste rows
      </Button>
      <Button size="sm" onClick={form.add}>
        <Plus aria-hidden /> Type a row
      </Button>
    </div>
  </div>
);

interface NoticesProps {
  readonly form: NewPayout;
  readonly onlyErrors: boolean;
  readonly onOnlyErrors: (only: boolean) => void;
}

const Notices = ({ form, onlyErrors, onOnlyErrors }: NoticesProps): ReactNode => {
  const { problems, duplicates, options, sizeProblem } = form;
  if (problems.size === 0 && duplicates.size === 0 && sizeProblem === null && !onlyErrors) return null;
  return (
    <div className="flex flex-col gap-2 border-b p-4">
      {sizeProblem === null ? null : (
        <Alert tone="danger" title="These rows cannot go in one payout">
          {sizeProblem}
        </Alert>
      )}
      {problems.size === 0 ? (
        onlyErrors ? (
          <Alert
            tone="success"
            title="All errors are fixed"
            actions={
              <Button size="sm" onClick={() => onOnlyErrors(false)}>
                Show all rows
              </Button>
            }
          />
        ) : null
      ) : (
        <Alert tone="danger" title={counted(problems.size, "row has errors", "rows have errors")}>
          <Checkbox
            label="Show only errors"
            checked={onlyErrors}
            onChange={(event) => onOnlyErrors(event.target.checked)}
          />
        </Alert>
      )}
      {duplicates.size === 0 ? null : (
        <Alert tone="warning" title={`${counted(duplicates.size, "row may be paid", "rows may be paid")} twice`}>
          Same recipient, token, amount and reference within this list or within 30 days. Remove them, or:
          <Checkbox
            label="Pay duplicates anyway"
            checked={options.payDuplicates}
            onChange={(event) => form.optionsForm.setValue("payDuplicates", event.target.checked)}
          />
        </Alert>
      )}
    </div>
  );
};

interface FooterProps {
  readonly form: NewPayout;
  readonly onAdd: () => void;
  /** Shows the column of notes; left out where it is there. */
  readonly onNotes?: () => void;
}

const Footer = ({ form, onAdd, onNotes }: FooterProps): ReactNode => {
  const [clearing, setClearing] = useState(false);
  return (
    <div className="flex flex-wrap items-center gap-2 px-4 py-2">
      <Button
        size="sm"
        disabled={form.rows.length >= PAYOUT_ROWS_MAX}
        onClick={() => {
          onAdd();
          form.add();
        }}
      >
        <Plus aria-hidden /> Add row
      </Button>
      {onNotes === undefined ? null : (
        <Button size="sm" variant="ghost" onClick={onNotes}>
          <StickyNote aria-hidden /> Add notes
        </Button>
      )}
      <Button size="sm" variant="ghost" onClick={() => setClearing(true)}>
        <Trash2 aria-hidden /> Remove all
      </Button>
      <ConfirmDialog
        open={clearing}
        onOpenChange={setClearing}
        title="Remove all rows?"
        description="The file itself stays as it is."
        confirmLabel="Remove all rows"
        onConfirm={form.clear}
      />
    </div>
  );
};
