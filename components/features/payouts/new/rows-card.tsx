"use client";

import { ClipboardPaste, FileDown, Plus, StickyNote, Trash2 } from "lucide-react";
import { type ReactNode, useState } from "react";
import {
  DropArea,
  FileButton,
  FileNotices,
  PasteDialog,
} from "@/components/features/file-import/file-parts";
import { RowErrors } from "@/components/features/file-import/row-errors";
import { type FileImport, useImport } from "@/components/features/file-import/use-import";
import { useRowsWithErrors } from "@/components/features/file-import/use-rows-with-errors";
import { useKnownAddresses } from "@/components/features/transfer/recipient";
import { usePublicConfig } from "@/components/providers/public-config";
import { Alert } from "@/components/ui/alert";
import { Button } from "@/components/ui/button";
import { Card } from "@/components/ui/card";
import { ActionDialog } from "@/components/ui/dialog";
import { Checkbox } from "@/components/ui/field";
import { saveFile } from "@/components/ui/save-file";
import { PAYOUT_ROWS_MAX } from "@/lib/core/payout-facts";
import { countText } from "@/lib/core/amount-text";
import { csvLine } from "@/lib/core/csv";
import { BankDialog } from "./bank-dialog";
import { type DraftValues, PAYOUT_FILE } from "./draft-row";
import { DraftTable } from "./draft-table";
import { counted } from "./amount-rules";
import { MappingDialog } from "./import-dialog";
import type { NewPayout } from "./use-new-payout";
import type { PayoutKind } from "./use-target";

export const RowsCard = ({ form }: { readonly form: NewPayout }): ReactNode => {
  const file = useImport(PAYOUT_FILE);
  const [pasting, setPasting] = useState(false);
  const [withNotes, setWithNotes] = useState(false);
  const { target, rows, problems, filled } = form;
  const { known } = useKnownAddresses(target.wallets?.chainId ?? null);
  const allFields = target.rules?.fields ?? [];
  const noted = withNotes || problemsInNotes(problems) || rows.some(({ note }) => note !== "");
  const fields = allFields.filter((field) => field !== "note" || noted);
  const { shown, onlyErrors, setOnlyErrors } = useRowsWithErrors(rows, problems);
  const start = (blob: Blob, name: string): void => {
    setOnlyErrors(false);
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
              <FileButton
                label="Choose a file"
                onFile={(chosen) => start(chosen, chosen.name)}
              />
            </span>
          )
        }
      >
        <FileNotices file={file} />
        {rows.length === 0 ? (
          <Empty
            form={form}
            onFile={(chosen) => start(chosen, chosen.name)}
            onPaste={() => setPasting(true)}
          />
        ) : (
          <>
            <Notices form={form} onlyErrors={onlyErrors} onOnlyErrors={setOnlyErrors} />
            <DraftTable form={form} rows={shown} fields={fields} known={known} />
            <Footer
              form={form}
              onAdd={() => setOnlyErrors(false)}
              onNotes={
                allFields.includes("note") && !noted ? () => setWithNotes(true) : undefined
              }
            />
          </>
        )}
      </Card>
      <FileQuestions form={form} file={file} />
      <PasteDialog
        open={pasting}
        onClose={() => setPasting(false)}
        onText={(text) => start(new Blob([text]), "Pasted rows")}
        placeholder={"address,amount,token,reference\n0x…,12.5,USDC,Invoice 7"}
      />
    </DropArea>
  );
};

interface FileQuestionsProps {
  readonly form: NewPayout;
  readonly file: FileImport;
}

const FileQuestions = ({ form, file }: FileQuestionsProps): ReactNode => {
  const { chains } = usePublicConfig();
  const { target, filled } = form;
  const { rules, wallets, source } = target;
  if (file.state.step !== "read" || rules === null) return null;
  const { name, read } = file.state;
  const tokenSymbol = wallets?.tokens.find(
    ({ address }) => address === wallets.defaultToken,
  )?.symbol;
  const questions = {
    name,
    rules,
    chains: chains.map((chain) => chain.name),
    defaultToken: tokenSymbol ?? source?.currency ?? "",
    existing: filled.length,
    onClose: file.close,
    onRows: (values: readonly DraftValues[], replace: boolean) => {
      if (replace) form.replace(values);
      else form.append(values);
      file.close();
    },
  };
  return read.kind === "table" ? (
    <MappingDialog {...questions} table={read.table} />
  ) : (
    <BankDialog {...questions} bank={read.bank} target={target} />
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
      Or a payment file of a bank (pain.001). One row for each payment, up to{" "}
      {countText(PAYOUT_ROWS_MAX)}. Columns are matched by their names, and every row is checked
      before anything is paid.
    </p>
    <FileButton primary label="Choose a file" onFile={onFile} />
    <div className="flex flex-wrap justify-center gap-2">
      <Button
        size="sm"
        onClick={() =>
          saveFile({
            text: templateOf(form.target.kind),
            name: `payout-template-${form.target.kind}.csv`,
          })
        }
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
  if (problems.size === 0 && duplicates.size === 0 && sizeProblem === null && !onlyErrors)
    return null;
  return (
    <div className="flex flex-col gap-2 border-b p-4">
      {sizeProblem === null ? null : (
        <Alert tone="danger" title="These rows cannot go in one payout">
          {sizeProblem}
        </Alert>
      )}
      <RowErrors
        count={problems.size}
        onlyErrors={onlyErrors}
        onOnlyErrors={onOnlyErrors}
        onRemove={() => form.remove(new Set(problems.keys()))}
      />
      {duplicates.size === 0 ? null : (
        <Alert
          tone="warning"
          title={`${counted(duplicates.size, "row may be paid", "rows may be paid")} twice`}
        >
          Same recipient, token, amount and reference within this list or within 30 days. Remove
          them, or:
          <Checkbox
            label="Pay duplicates anyway"
            checked={options.payDuplicates}
            onChange={(event) =>
              form.optionsForm.setValue("payDuplicates", event.target.checked)
            }
          />
        </Alert>
      )}
    </div>
  );
};

interface FooterProps {
  readonly form: NewPayout;
  readonly onAdd: () => void;
  /** Shows the column of notes; left out while the column is shown. */
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
      <ActionDialog
        open={clearing}
        onClose={() => setClearing(false)}
        title="Remove all rows?"
        description="The file itself stays as it is."
        confirmLabel="Remove all rows"
        onConfirm={form.clear}
      />
    </div>
  );
};

/**
 * Rows of the template file. The service refuses their recipients, so that nobody pays them by
 * mistake.
 */
const TEMPLATES: Readonly<Record<PayoutKind, readonly (readonly string[])[]>> = {
  wallets: [
    ["address", "amount", "token", "reference", "note"],
    [
      "0x0000000000000000000000000000000000000000",
      "12.5",
      "USDC",
      "Invoice 7",
      "Only your project sees this",
    ],
  ],
  global_accounts: [
    ["recipientAccountId", "amount", "reference"],
    ["ga_replace-with-an-account-id", "12.5", "Invoice 7"],
  ],
};

const templateOf = (kind: PayoutKind): string =>
  TEMPLATES[kind].map((cells) => csvLine([...cells])).join("");
