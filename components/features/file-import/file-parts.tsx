"use client";

import { FileUp, LoaderCircle } from "lucide-react";
import { type DragEvent, type ReactNode, useState } from "react";
import { Alert } from "@/components/ui/alert";
import { Button } from "@/components/ui/button";
import { buttonLooks } from "@/components/ui/button-looks";
import { cn } from "@/components/ui/cn";
import { Dialog } from "@/components/ui/dialog";
import { CONTROL_LOOKS, Field, useFieldProps } from "@/components/ui/field";
import type { FileImport } from "./use-import";

const ACCEPTED =
  ".csv,.tsv,.txt,.xlsx,.xml,text/csv,text/plain,text/xml,application/xml,application/vnd.openxmlformats-officedocument.spreadsheetml.sheet";

interface FileButtonProps {
  readonly onFile: (file: File) => void;
  readonly label: string;
  readonly primary?: boolean;
}

/** A file input that looks like a button. The same file can be chosen twice. */
export const FileButton = ({ onFile, label, primary = false }: FileButtonProps): ReactNode => (
  <label
    className={cn(
      buttonLooks(primary ? { variant: "primary" } : { size: "sm" }),
      "cursor-pointer focus-within:outline-2 focus-within:outline-offset-2 focus-within:outline-accent",
    )}
  >
    <FileUp aria-hidden /> {label}
    <input
      type="file"
      accept={ACCEPTED}
      className="sr-only"
      onChange={(event) => {
        const [file] = event.target.files ?? [];
        event.target.value = "";
        if (file !== undefined) onFile(file);
      }}
    />
  </label>
);

interface DropAreaProps {
  readonly onFile: (file: File) => void;
  readonly children: ReactNode;
}

/** Accepts a file that is dropped anywhere on its content. */
export const DropArea = ({ onFile, children }: DropAreaProps): ReactNode => {
  const [over, setOver] = useState(false);
  const drop = (event: DragEvent): void => {
    event.preventDefault();
    setOver(false);
    const [dropped] = event.dataTransfer.files;
    if (dropped !== undefined) onFile(dropped);
  };
  return (
    <div
      className={cn("rounded-card", over && "outline-2 outline-offset-2 outline-accent")}
      onDragOver={(event) => {
        event.preventDefault();
        setOver(true);
      }}
      onDragLeave={({ relatedTarget, currentTarget }) => {
        const isInside = relatedTarget instanceof Node && currentTarget.contains(relatedTarget);
        if (!isInside) setOver(false);
      }}
      onDrop={drop}
    >
      {children}
    </div>
  );
};

export const FileNotices = ({
  file: { state, close },
}: {
  readonly file: FileImport;
}): ReactNode => {
  if (state.step === "reading")
    return (
      <div role="status" className="flex items-center gap-2 border-b px-4 py-3 text-fg-2">
        <LoaderCircle className="size-4 animate-spin" aria-hidden />
        <span className="min-w-0 flex-1 truncate">Reading {state.name} …</span>
        <Button size="sm" onClick={close}>
          Stop
        </Button>
      </div>
    );
  if (state.step !== "refused") return null;
  return (
    <div className="border-b p-4">
      <Alert
        tone="danger"
        title={`${state.name} was not read`}
        actions={
          <Button size="sm" onClick={close}>
            Close
          </Button>
        }
      >
        {state.message}
      </Alert>
    </div>
  );
};

interface PasteDialogProps {
  readonly open: boolean;
  readonly onClose: () => void;
  readonly onText: (text: string) => void;
  /** Two example rows that show the expected format. */
  readonly placeholder: string;
}

export const PasteDialog = ({
  open,
  onClose,
  onText,
  placeholder,
}: PasteDialogProps): ReactNode => {
  const [text, setText] = useState("");
  return (
    <Dialog
      open={open}
      onClose={onClose}
      title="Paste rows"
      description="Copied from a spreadsheet, or as CSV. The first row may name the columns."
      size="lg"
      footer={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button
            variant="primary"
            disabled={text.trim() === ""}
            onClick={() => {
              onClose();
              onText(text);
              setText("");
            }}
          >
            Read rows
          </Button>
        </>
      }
    >
      <Field label="Rows">
        <RowsInput value={text} onChange={setText} placeholder={placeholder} />
      </Field>
    </Dialog>
  );
};

interface RowsInputProps {
  readonly value: string;
  readonly placeholder: string;
  readonly onChange: (text: string) => void;
}

const RowsInput = ({ value, onChange, placeholder }: RowsInputProps): ReactNode => (
  <textarea
    {...useFieldProps({})}
    value={value}
    onChange={(event) => onChange(event.target.value)}
    spellCheck={false}
    placeholder={placeholder}
    className={cn(CONTROL_LOOKS, "h-48 py-2 font-mono text-sm whitespace-pre")}
  />
);
