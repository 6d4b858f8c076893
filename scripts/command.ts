import { BaseError } from "viem";
import { redactSecrets } from "../lib/core/redaction";

const PART_MAX = 200;

const oneLine = (text: string): string => text.replace(/\s+/g, " ").trim().slice(0, PART_MAX);

/**
 * The text of an error in a terminal. An error of a chain is one line, because its full message
 * repeats the request, which may contain kilobytes of bytecode.
 */
export const commandError = (error: unknown): string => {
  if (error instanceof BaseError) {
    // `details` is absent when no node answered, although its type does not allow that.
    const { shortMessage, details } = error as { shortMessage: string; details?: string };
    return redactSecrets(`${oneLine(shortMessage)} ${oneLine(details ?? "")}`.trim());
  }
  return redactSecrets(error instanceof Error ? error.message : String(error));
};

/**
 * Runs a command, and sets the exit code of the process. When `main` resolves to a number, that
 * number is the exit code. When `main` rejects, the error is printed and the code is 1.
 */
export const runCommand = async (main: () => Promise<unknown>): Promise<void> => {
  try {
    const code = await main();
    if (typeof code === "number") process.exitCode = code;
  } catch (error) {
    console.error(commandError(error));
    process.exitCode = 1;
  }
};
