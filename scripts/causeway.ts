/**
 * The operator's commands: `node dist/causeway.js <command>` after a build, and `npm run <command>`
 * in a checkout.
 */
import { columns, EXIT, printFailure, PROGRAM, runCommand, UsageError } from "./command";
import { COMMANDS } from "./command-table";

const HELP = [
  `Usage: ${PROGRAM} COMMAND [ARGUMENTS] [OPTIONS]`,
  "",
  "Commands:",
  ...columns(Object.entries(COMMANDS).map(([name, { summary }]) => [name, summary])),
  "",
  `\`${PROGRAM} COMMAND --help\` describes a command. Each command takes --json.`,
  "In a checkout: npm run COMMAND -- ARGUMENTS",
].join("\n");

const main = async (args: readonly string[]): Promise<number> => {
  const [name, ...rest] = args;
  if (name === undefined || name === "--help") {
    console.log(HELP);
    return EXIT.done;
  }
  const entry = Object.hasOwn(COMMANDS, name) ? COMMANDS[name] : undefined;
  if (entry === undefined)
    return printFailure(new UsageError(`There is no command ${name}.`), args, HELP);
  const { command } = await entry.load();
  return runCommand({ name, summary: entry.summary, command }, rest);
};

process.exitCode = await main(process.argv.slice(2));
