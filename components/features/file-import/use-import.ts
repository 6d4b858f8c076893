"use client";

import { useEffect, useRef, useState } from "react";
import type { ImportAnswer, ImportRequest } from "./import-worker";
import { type ImportedFile, type ImportKind, sizeProblem } from "./read-import";
import { RefusedFileError } from "./table";

export type ImportState =
  | { readonly step: "none" }
  | { readonly step: "reading"; readonly name: string }
  | { readonly step: "refused"; readonly name: string; readonly message: string }
  | { readonly step: "read"; readonly name: string; readonly read: ImportedFile };

export interface FileImport {
  readonly state: ImportState;
  readonly start: (file: Blob, name: string) => void;
  /** Stops reading the file, or discards the rows that were read. */
  readonly close: () => void;
}

const NONE: ImportState = { step: "none" };
const FAILED = "The file could not be read. Save it as CSV and choose that file.";

/** Reads one file at a time; a second file ends the reading of the first. */
export const useImport = (kind: ImportKind): FileImport => {
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
      // Swedish dates have the form that `today` needs, such as `2026-05-01`.
      const today = new Date().toLocaleDateString("sv-SE");
      readFile({ file, kind, today }, controller.signal).then(
        (read) => {
          if (!controller.signal.aborted) setState({ step: "read", name, read });
        },
        (error: unknown) => {
          if (controller.signal.aborted) return;
          setState({
            step: "refused",
            name,
            message: error instanceof RefusedFileError ? error.message : FAILED,
          });
        },
      );
    },
    close: () => {
      stop();
      setState(NONE);
    },
  };
};

/**
 * Reads a file in a worker, so that the page stays responsive. The signal ends the worker.
 * @throws RefusedFileError
 */
const readFile = (request: ImportRequest, signal: AbortSignal): Promise<ImportedFile> =>
  new Promise((resolve, reject) => {
    const problem = sizeProblem(request.file.size, request.kind);
    if (problem !== null) {
      reject(new RefusedFileError(problem));
      return;
    }
    const worker = new Worker(new URL("./import-worker.ts", import.meta.url), {
      type: "module",
    });
    const refuse = (message: string): void => {
      worker.terminate();
      reject(new RefusedFileError(message));
    };
    signal.addEventListener("abort", () => refuse("Reading was stopped."), { once: true });
    worker.addEventListener("error", () => refuse(FAILED));
    worker.addEventListener("message", ({ data }: MessageEvent<ImportAnswer>) => {
      if (!("read" in data)) {
        refuse("refused" in data ? data.refused : FAILED);
        return;
      }
      worker.terminate();
      resolve(data.read);
    });
    worker.postMessage(request);
  });
