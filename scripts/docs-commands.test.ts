/** Checks that the commands, options, files and sections exist that the documents mention. */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join, normalize } from "node:path";
import { expect, test } from "vitest";
import {
  allFences,
  anchorsOf,
  codeSpansOf,
  DOCUMENTS,
  placeOf,
  readDocument,
  type CodeSpan,
} from "@/lib/dev/testing/documents";

const { scripts } = JSON.parse(readFileSync("package.json", "utf8")) as {
  scripts: Record<string, string>;
};

const SHELL = new Set(["sh", "bash"]);

/** Each line of a code block in shell language, and each text between backticks. */
const commandLines: readonly CodeSpan[] = [
  ...allFences()
    .filter(({ language }) => SHELL.has(language))
    .flatMap(({ file, line, text }) =>
      text.split("\n").map((each, index) => ({ file, line: line + index, text: each })),
    ),
  ...DOCUMENTS.flatMap(codeSpansOf),
];

interface Command extends CodeSpan {
  readonly name: string;
  /** Options such as `--month`, without their dashes. */
  readonly options: readonly string[];
}

const COMMAND =
  /\bnpm (?:run (?:-s |--silent )?([a-z][\w:-]*)|(start|test)\b)(?: -- ([^#|]*))?/g;
const OPTION = /(?:^|[\s[])--([a-z][\w-]*)/g;

const commands: readonly Command[] = commandLines.flatMap((span) =>
  [...span.text.matchAll(COMMAND)].map(([, run, short, given = ""]) => ({
    ...span,
    name: run ?? short ?? "",
    options: [...given.matchAll(OPTION)].map(([, option = ""]) => option),
  })),
);

/** Options of programs that a script calls; the script's own file does not mention them. */
const OF_OTHERS = new Set(["sequence", "trace", "update-snapshots"]);

/**
 * Whether the script's file declares the option for `parseArgs`, or searches its arguments for it.
 */
const takes = (command: string, option: string): boolean => {
  const file = /scripts\/[\w-]+\.(?:ts|mjs)/.exec(command)?.[0];
  if (file === undefined) return false;
  const source = readFileSync(file, "utf8");
  return (
    source.includes(`"--${option}"`) || new RegExp(`["\\s]${option}"?: \\{ type: `).test(source)
  );
};

test("each npm script that the documents name exists, and takes the options that they give it", () => {
  expect(commands.length).toBeGreaterThan(60);
  expect(commands.filter(({ options }) => options.length > 0).length).toBeGreaterThan(15);
  const faults = commands.flatMap((command) => {
    const script = scripts[command.name];
    if (script === undefined)
      return [`${placeOf(command)}: npm run ${command.name} does not exist`];
    return command.options
      .filter((option) => !OF_OTHERS.has(option) && !takes(script, option))
      .map((option) => `${placeOf(command)}: npm run ${command.name} takes no --${option}`);
  });
  expect(faults).toEqual([]);
});

test("each option of a script has its description in a document", () => {
  const named = new Set(
    commands.flatMap(({ name, options }) => options.map((option) => `${name} ${option}`)),
  );
  const prose = DOCUMENTS.map(readDocument).join("\n");
  const faults = Object.entries(scripts).flatMap(([name, script]) => {
    const file = /scripts\/[\w-]+\.ts/.exec(script)?.[0];
    const source = file === undefined ? "" : readFileSync(file, "utf8");
    return [...source.matchAll(/"?([a-z][\w-]*)"?: \{ type: "(?:string|boolean)"/g)]
      .map(([, option = ""]) => option)
      .filter((option) => !named.has(`${name} ${option}`) && !prose.includes(`\`--${option}\``))
      .filter((option) => !new RegExp(`-- [^\`]*--${option}\\b`).test(prose))
      .map((option) => `${name} --${option}`);
  });
  expect(faults).toEqual([]);
});

const FOLDERS = readdirSync(".", { withFileTypes: true })
  .filter((entry) => entry.isDirectory() && !/^(?:node_modules|dist|\..*)$/.test(entry.name))
  .map(({ name }) => name);
const PATH = new RegExp(`(?:^|[\\s(])((?:${FOLDERS.join("|")})/[\\w./\\-[\\]()]*)`, "g");

/** Whether the text has a placeholder such as `<x>`, or is a pattern. */
const isPattern = (text: string): boolean => /[<*…$]/.test(text);

test("each file and folder of the repository that the documents name exists", () => {
  const named = commandLines
    .filter(({ text }) => !isPattern(text))
    .flatMap((span) =>
      [...span.text.matchAll(PATH)].map(([, path = ""]) => ({ ...span, path })),
    );
  expect(named.length).toBeGreaterThan(80);
  const faults = named.filter(({ path }) => !existsSync(path) && !existsSync(`${path}.ts`));
  expect(faults.map((one) => `${placeOf(one)}: ${one.path}`)).toEqual([]);
});

test("each link leads to a file, and to a heading in it", () => {
  const links = DOCUMENTS.flatMap((file) =>
    [...readDocument(file).matchAll(/\]\(([^)\s]+)\)/g)].map(([, target = ""]) => ({
      file,
      target,
    })),
  ).filter(({ target }) => !/^https?:/.test(target));
  expect(links.length).toBeGreaterThan(80);
  const faults = links.filter(({ file, target }) => {
    const [path = "", anchor] = target.split("#");
    const found = path === "" ? file : normalize(join(dirname(file), path));
    if (!existsSync(found)) return true;
    return anchor !== undefined && !anchorsOf(readDocument(found)).includes(anchor);
  });
  expect(faults.map(({ file, target }) => `${file}: ${target}`)).toEqual([]);
});
