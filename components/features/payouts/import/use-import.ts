"use client";

import { useEffect, useRef, useState } from "react";
import { PAYOUT_ROWS_MAX } from "@/lib/contracts/payout-records";
import { readFile } from "./read-file";
import { RefusedFileError, type Table } from "./table";

export type ImportState =
  | { readonly step: "none" }
  | { readonly step: "reading"; readonly name: string }
  | { readonly step: "refused"; readonly name: string; readonly message: string }
  | { readonly step: "read"; readonly name: string; readonly table: Table };

export interface FileImport {
  readonly state: ImportState;
  readonly start: (file: Blob, name: string) => void;
  /** Stops reading the file, or discards the rows that were read. */
  readonly close: () => void;
}

const NONE: ImportState = { step: "none" };
const UNKNOWN = "The file could not be read. Save it as CSV and choose that file.";

/** One file at a time; a second one ends the reading of the first. */
export const useImport = (): FileImport => {
  const [state, setState] = useState<ImportState>(NONE);
  const running = useRef<AbortController | null>(null);
  useEffect(() => () => running.current?.abort(), []);
  const stop = (): void => {
    running.current?.abort();
    running.current = null;
  };
  return {
    state,
    start: (file, name) => {
      stop();
      const controller = new AbortController();
      running.current = controller;
      setState({ step: "reading", name });
      readFile({ file, rowsMax: PAYOUT_ROWS_MAX }, controller.signal).then(
        (table) => {
          if (!controller.signal.aborted) setState({ step: "read", name, table });
        },
        (error: unknown) => {
          if (controller.signal.aborted) return;
          setState({ step: "refused", name, message: error instanceof RefusedFileError ? error.message : UNKNOWN });
        },
      );
    },
    close: () => {
      stop();
      setState(NONE);
    },
  };
};
