/** The form of an operator's command, and how the program causeway runs one. */
import { existsSync } from "node:fs";
import { parseArgs } from "node:util";
import { redactSecrets } from "../lib/core/redaction";

const PART_MAX = 200;

const oneLine = (text: string): string => text.replace(/\s+/g, " ").trim().slice(0, PART_MAX);

/**
 * The text of an error in a terminal. An error of a chain is one line, because its full message
 * repeats the request, which may contain kilobytes of bytecode.
 */
export const commandError = (error: unknown): string => {
  // Recognises viem's BaseError by this field, because commands that use no chain load no viem.
  if (error instanceof Error && "shortMessage" in error) {
    const { shortMessage, details = "" } = error as { shortMessage: string; details?: string };
    return redactSecrets(`${oneLine(shortMessage)} ${oneLine(details)}`.trim());
  }
  return redactSecrets(error instanceof Error ? error.message : String(error));
};

/** Thrown for arguments that a command does not take. The command ends with 2 and its usage. */
export class UsageError extends Error {
  constructor(message: string) {
    super(message);
    this.name = "UsageError";
  }
}

/** Exit codes that have one meaning in all commands. */
export const EXIT = { done: 0, notDone: 1, wrongUsage: 2 } as const;

/** Where a command prints. The document of `--json` replaces the report. */
export interface Output {
  /** Prints a line of the report to stdout. */
  say(line: string): void;
  /** Prints rows of the report as a table to stdout. */
  table(rows: readonly object[]): void;
  /** Prints a fault of the report to stderr. */
  fault(line: string): void;
  /** Prints a line while the work goes on: to stdout, and with `--json` to stderr. */
  progress(line: string): void;
}

const nothing = (): void => undefined;

const outputOf = (isJson: boolean): Output =>
  isJson
    ? { say: nothing, table: nothing, fault: nothing, progress: console.error }
    : {
        say: console.log,
        table: (rows) => console.table(rows),
        fault: console.error,
        progress: console.log,
      };

interface Option {
  readonly type: "string" | "boolean";
  readonly multiple?: boolean;
  /** Placeholder of the value in the usage, such as `FILE`. */
  readonly value?: string;
  readonly about: string;
}
type Options = Readonly<Record<string, Option>>;

interface TypeOf {
  readonly string: string;
  readonly boolean: boolean;
}
type ValueOf<O extends Option> = O extends { readonly multiple: true }
  ? string[]
  : TypeOf[O["type"]];
type ValuesOf<O extends Options> = { readonly [Name in keyof O]?: ValueOf<O[Name]> };

interface Given<O extends Options> {
  readonly values: ValuesOf<O>;
  readonly positionals: readonly string[];
  readonly output: Output;
}

interface Outcome {
  readonly isDone: boolean;
  /** The result for `--json`. A bigint becomes a decimal string. */
  readonly result: object;
}

export interface Command<O extends Options = Options> {
  /** Positional arguments in the usage, such as `FILE [ROOT]`, and how many there may be. */
  readonly positionals?: { readonly text: string; readonly min: number; readonly max: number };
  readonly options: O;
  /** The environment that it needs: lines of the usage. */
  readonly environment: readonly string[];
  /** The meaning of exit code 1, beside errors. */
  readonly notDone?: string;
  /** @throws UsageError for arguments that do not fit each other */
  run(given: Given<O>): Promise<Outcome>;
}

/** Returns the command with the exact types of its options. */
export const defineCommand = <const O extends Options>(command: Command<O>): Command<O> =>
  command;

export const PROGRAM = "node dist/causeway.js";

/** Lines for `environment` that several commands share. */
export const NEEDS = {
  database:
    "DATABASE_URL, and DATABASE_DIRECT_URL where a pooler is between; without them the database of `npm start`",
  owner: "DATABASE_OWNER_URL: the owner of the tables, where it is another role",
  service: "every variable of the service: keys, secrets, CHAINS_FILE",
  executor: "CHAINS_FILE and RPC_URL_<id>: the chains; EXECUTOR_PRIVATE_KEY: pays, and signs",
} as const;

const COMMON = {
  json: { type: "boolean", about: "prints the result as one JSON document on stdout" },
  help: { type: "boolean", about: "prints this text" },
} as const satisfies Options;

const nameOf = ([name, { value }]: readonly [string, Option]): string =>
  value === undefined ? `--${name}` : `--${name} ${value}`;

/** Lines of two columns, indented by two. */
export const columns = (rows: readonly (readonly [string, string])[]): string[] => {
  const width = Math.max(...rows.map(([left]) => left.length)) + 2;
  return rows.map(([left, right]) => `  ${left.padEnd(width)}${right}`);
};

/** The text of `--help`. */
export const usageOf = (name: string, summary: string, command: Command): string => {
  const { positionals, options, environment, notDone } = command;
  const own = Object.entries(options);
  const words = [PROGRAM, name, positionals?.text, own.length > 0 ? "[OPTIONS]" : undefined];
  return [
    `Usage: ${words.filter((word) => word !== undefined).join(" ")}`,
    "",
    `${name} ${summary}.`,
    "",
    "Options:",
    ...columns(
      [...own, ...Object.entries(COMMON)].map((option) => [nameOf(option), option[1].about]),
    ),
    "",
    "Environment, also from the file .env of the current folder:",
    ...environment.map((line) => `  ${line}`),
    "",
    "Exit codes:",
    ...columns([
      [String(EXIT.done), "done"],
      [String(EXIT.notDone), notDone === undefined ? "an error" : `${notDone}; or an error`],
      [String(EXIT.wrongUsage), "arguments that it does not take"],
    ]),
  ].join("\n");
};

const parse = ({ options, positionals }: Command, args: readonly string[]) => {
  try {
    const parsed = parseArgs({
      args: [...args],
      options: { ...options, ...COMMON },
      allowPositionals: true,
    });
    const { min, max } = positionals ?? { min: 0, max: 0 };
    const count = parsed.positionals.length;
    if (parsed.values.help !== true && (count < min || count > max))
      throw new UsageError(count < min ? "An argument is missing." : "Too many arguments.");
    return parsed;
  } catch (error) {
    const isRefusal =
      error instanceof Error &&
      "code" in error &&
      String(error.code).startsWith("ERR_PARSE_ARGS");
    throw isRefusal ? new UsageError(error.message) : error;
  }
};

const printJson = (document: object): void => {
  const text = JSON.stringify(document, (_, value: unknown) =>
    typeof value === "bigint" ? value.toString() : value,
  );
  console.log(text);
};

/**
 * Prints an error: as JSON on stdout when the arguments ask for it, otherwise as text on stderr.
 * @param usage printed below the text of a UsageError
 * @returns the exit code
 */
export const printFailure = (
  error: unknown,
  args: readonly string[],
  usage: string,
): number => {
  const message = commandError(error);
  const isUsage = error instanceof UsageError;
  if (args.includes("--json")) printJson({ error: message });
  else console.error(isUsage ? `${message}\n\n${usage}` : message);
  return isUsage ? EXIT.wrongUsage : EXIT.notDone;
};

/**
 * Runs a command with its arguments, and prints its usage, its result or its error.
 * @returns the exit code
 */
export const runCommand = async (
  { name, summary, command }: { name: string; summary: string; command: Command },
  args: readonly string[],
): Promise<number> => {
  try {
    const { values, positionals } = parse(command, args);
    if (values.help === true) {
      console.log(usageOf(name, summary, command));
      return EXIT.done;
    }
    if (existsSync(".env")) process.loadEnvFile(".env");
    const isJson = values.json === true;
    if (isJson) (await import("../lib/platform/log/logger")).logToStderr();
    const { isDone, result } = await command.run({
      values,
      positionals,
      output: outputOf(isJson),
    });
    if (isJson) printJson(result);
    return isDone ? EXIT.done : EXIT.notDone;
  } catch (error) {
    return printFailure(error, args, usageOf(name, summary, command));
  }
};
