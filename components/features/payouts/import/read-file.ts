import type { ImportAnswer, ImportRequest } from "./import-worker";
import { sizeProblem } from "./read-table";
import { RefusedFileError, type Table } from "./table";

const FAILED = "The file could not be read. Save it as CSV and choose that file.";

/**
 * Reads a file in a worker, so that the page stays smooth; a signal ends the worker.
 * @throws RefusedFileError
 */
export const readFile = (request: ImportRequest, signal: AbortSignal): Promise<Table> =>
  new Promise((resolve, reject) => {
    const problem = sizeProblem(request.file.size);
    if (problem !== null) {
      reject(new RefusedFileError(problem));
      return;
    }
    const worker = new Worker(new URL("./import-worker.ts", import.meta.url), { type: "module" });
    const refuse = (message: string): void => {
      worker.terminate();
      reject(new RefusedFileError(message));
    };
    signal.addEventListener("abort", () => refuse("Reading was stopped."), { once: true });
    worker.addEventListener("error", () => refuse(FAILED));
    worker.addEventListener("message", ({ data }: MessageEvent<ImportAnswer>) => {
      if (!("table" in data)) {
        refuse("refused" in data ? data.refused : FAILED);
        return;
      }
      worker.terminate();
      resolve(data.table);
    });
    worker.postMessage(request);
  });
