"use client";

import { LoaderCircle } from "lucide-react";
import type { ReactNode } from "react";
import { Alert } from "@/components/ui/alert";
import { Button } from "@/components/ui/button";
import type { FileImport } from "../import/use-import";

/** Says that a file is being read, or why it was refused. */
export const ImportNotices = ({ file: { state, close } }: { readonly file: FileImport }): ReactNode => {
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
