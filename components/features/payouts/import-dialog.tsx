"use client";

import { useState, type ReactNode } from "react";
import { Button } from "@/components/ui/button";
import { cn } from "@/components/ui/cn";
import { Dialog } from "@/components/ui/dialog";
import { CONTROL_LOOKS, Field, useFieldProps } from "@/components/ui/field";
import { PAYOUT_ROWS_MAX } from "@/lib/contracts/payouts";
import { hasProblems, problemsOf, rowsFromCsv } from "./row-model";
import type { PayoutForm } from "./use-payout-form";

const FILE_BYTES_MAX = 4 * 1024 * 1024;

interface ImportDialogProps {
  readonly open: boolean;
  readonly onOpenChange: (open: boolean) => void;
  readonly form: PayoutForm;
}

/** Rows from a file or from what was copied out of a spreadsheet. */
export const ImportDialog = ({ open, onOpenChange, form }: ImportDialogProps): ReactNode => (
  <Dialog
    open={open}
    onOpenChange={onOpenChange}
    title="Rows from a CSV"
    description="Columns recipientAccountId, amount and reference; the names in the first line may be left out."
    size="lg"
  >
    <ImportForm form={form} onClose={() => onOpenChange(false)} />
  </Dialog>
);

const ImportForm = ({ form, onClose }: { readonly form: PayoutForm; readonly onClose: () => void }): ReactNode => {
  const [text, setText] = useState("");
  const [fileProblem, setFileProblem] = useState<string | null>(null);
  const rows = rowsFromCsv(text);
  const { source } = form;
  const wrong = source === undefined ? 0 : rows.filter((row) => hasProblems(problemsOf(row, source))).length;
  const tooMany = form.filled + rows.length > PAYOUT_ROWS_MAX;
  const read = async (file: File | undefined): Promise<void> => {
    if (file === undefined) return;
    const large = file.size > FILE_BYTES_MAX;
    setFileProblem(large ? "The file is larger than 4 MiB, which is more than a payout can have." : null);
    if (!large) setText(await file.text());
  };
  return (
    <form
      className="flex flex-col gap-4"
      onDragOver={(event) => event.preventDefault()}
      onDrop={(event) => {
        event.preventDefault();
        void read(event.dataTransfer.files[0]);
      }}
      onSubmit={(event) => {
        event.preventDefault();
        form.append(rows);
        onClose();
      }}
    >
      <Field label="File" hint="Or drop one anywhere here." error={fileProblem}>
        <FileInput onFile={(file) => void read(file)} />
      </Field>
      <Field label="Or paste the rows">
        <TextArea value={text} onChange={setText} />
      </Field>
      <p role="status" className="text-fg-2">
        {rows.length === 0
          ? "No rows yet."
          : `${rows.length.toLocaleString("en")} rows were read${wrong === 0 ? "" : `; ${wrong.toLocaleString("en")} are not right and can be mended in the list`}.`}
        {tooMany ? ` That is more than ${PAYOUT_ROWS_MAX.toLocaleString("en")} altogether; split them.` : ""}
      </p>
      <div className="flex justify-end gap-2">
        <Button onClick={onClose}>Cancel</Button>
        <Button type="submit" variant="primary" disabled={rows.length === 0 || tooMany}>
          Add {rows.length === 0 ? "" : rows.length.toLocaleString("en")} rows
        </Button>
      </div>
    </form>
  );
};

const FileInput = ({ onFile }: { readonly onFile: (file: File | undefined) => void }): ReactNode => (
  <input
    {...useFieldProps({})}
    type="file"
    accept=".csv,.tsv,.txt,text/csv,text/plain"
    onChange={(event) => onFile(event.target.files?.[0])}
    className={cn(CONTROL_LOOKS, "py-1.5 file:mr-3 file:font-medium file:text-accent")}
  />
);

const TextArea = ({
  value,
  onChange,
}: {
  readonly value: string;
  readonly onChange: (text: string) => void;
}): ReactNode => (
  <textarea
    {...useFieldProps({})}
    value={value}
    onChange={(event) => onChange(event.target.value)}
    spellCheck={false}
    placeholder={"recipientAccountId,amount,reference\nga_…,12.5,Invoice 7"}
    className={cn(CONTROL_LOOKS, "h-40 py-2 font-mono text-sm whitespace-pre")}
  />
);
