/** Compiles TypeScript that tests generate or take from the documentation. */
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { basename, resolve } from "node:path";
import ts from "typescript";
import { afterFile } from "./after-file";

/**
 * A folder for generated code inside the repository, so that the code can import the repository's
 * packages. The folder is removed after the test file.
 */
export const codeFolder = (): string => {
  mkdirSync(".data", { recursive: true });
  const folder = resolve(mkdtempSync(".data/code-"));
  afterFile(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
};

const OPTIONS: ts.CompilerOptions = {
  strict: true,
  skipLibCheck: true,
  noEmit: true,
  types: [],
  target: ts.ScriptTarget.ES2022,
  lib: ["lib.es2022.d.ts", "lib.dom.d.ts", "lib.dom.iterable.d.ts"],
  module: ts.ModuleKind.ESNext,
  moduleResolution: ts.ModuleResolutionKind.Bundler,
};

/**
 * Compiles the files as a browser program in strict mode.
 * @param more options in addition to `strict`, such as `exactOptionalPropertyTypes`
 * @returns one line for each fault: the file, its line and the message
 */
export const compileProblems = (
  files: readonly string[],
  more: ts.CompilerOptions = {},
): string[] =>
  ts
    .getPreEmitDiagnostics(ts.createProgram(files, { ...OPTIONS, ...more }))
    .map(({ file, start, messageText }) => {
      const text = ts.flattenDiagnosticMessageText(messageText, "\n");
      if (file === undefined) return text;
      return `${basename(file.fileName)}:${String(file.getLineAndCharacterOfPosition(start ?? 0).line + 1)} ${text}`;
    });
