import { readTable } from "./read-table";
import { RefusedFileError, type Table } from "./table";

/** Asks the worker to read a file; it answers once and can be ended afterwards. */
export interface ImportRequest {
  readonly file: Blob;
  readonly rowsMax: number;
}

export type ImportAnswer = { readonly table: Table } | { readonly refused: string } | { readonly failed: true };

self.addEventListener("message", ({ data: { file, rowsMax } }: MessageEvent<ImportRequest>) => {
  const answer = (message: ImportAnswer): void => self.postMessage(message);
  readTable(file, rowsMax).then(
    (table) => answer({ table }),
    (error: unknown) => answer(error instanceof RefusedFileError ? { refused: error.message } : { failed: true }),
  );
});
