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
    // Absent where no node answered, against its type.
    const { shortMessage, details } = error as { shortMessage: string; details?: string };
    return redactSecrets(`${oneLine(shortMessage)} ${oneLine(details ?? "")}`.trim());
  }
  return redactSecrets(error instanceof Error ? error.message : String(error));
};

/**
 * Runs a command. A number to which it resolves is its exit code; when it rejects, the code is 1
 * and the error stands in the terminal.
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
