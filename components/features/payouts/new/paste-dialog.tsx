"use client";

import { useState, type ReactNode } from "react";
import { Button } from "@/components/ui/button";
import { cn } from "@/components/ui/cn";
import { Dialog } from "@/components/ui/dialog";
import { CONTROL_LOOKS, Field, useFieldProps } from "@/components/ui/field";

interface PasteDialogProps {
  readonly open: boolean;
  readonly onOpenChange: (open: boolean) => void;
  readonly onText: (text: string) => void;
}

/** Rows that were copied out of a spreadsheet or a mail. */
export const PasteDialog = ({ open, onOpenChange, onText }: PasteDialogProps): ReactNode => {
  const [text, setText] = useState("");
  return (
    <Dialog
      open={open}
      onOpenChange={onOpenChange}
      title="Paste rows"
      description="Copied from a spreadsheet, or as CSV. The first row may name the columns."
      size="lg"
      footer={
        <>
          <Button onClick={() => onOpenChange(false)}>Cancel</Button>
          <Button
            variant="primary"
            disabled={text.trim() === ""}
            onClick={() => {
              onOpenChange(false);
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
        <TextArea value={text} onChange={setText} />
      </Field>
    </Dialog>
  );
};

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
    placeholder={"address,amount,token,reference\n0x…,12.5,USDC,Invoice 7"}
    className={cn(CONTROL_LOOKS, "h-48 py-2 font-mono text-sm whitespace-pre")}
  />
);
