import { type ImportedFile, type ImportKind, readImport } from "./read-import";
import { RefusedFileError } from "./table";

/** Asks the worker to read a file. The worker answers once and can then be terminated. */
export interface ImportRequest {
  readonly file: Blob;
  readonly kind: ImportKind;
  /** Today's date in the person's time zone, as `2026-05-01`. */
  readonly today: string;
}

export type ImportAnswer =
  | { readonly read: ImportedFile }
  | { readonly refused: string }
  | { readonly failed: true };

self.addEventListener(
  "message",
  ({ data: { file, kind, today } }: MessageEvent<ImportRequest>) => {
    const answer = (message: ImportAnswer): void => self.postMessage(message);
    readImport(file, kind, today).then(
      (read) => answer({ read }),
      (error: unknown) =>
        answer(
          error instanceof RefusedFileError ? { refused: error.message } : { failed: true },
        ),
    );
  },
);
