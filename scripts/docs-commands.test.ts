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
import { COMMANDS } from "./command-table";

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

interface Mention extends CodeSpan {
  readonly name: string;
  /** Options such as `--month`, without their dashes. */
  readonly options: readonly string[];
}

const COMMAND =
  /\bnpm (?:run (?:-s |--silent )?([a-z][\w:-]*)|(start|test)\b)(?: -- ([^#|]*))?/g;
const BUILT = /\bdist\/causeway\.js ([a-z][\w:-]*)([^#|]*)/g;
const OPTION = /(?:^|[\s[])--([a-z][\w-]*)/g;

const optionsIn = (text: string): string[] =>
  [...text.matchAll(OPTION)].map(([, option = ""]) => option);

const mentions: readonly Mention[] = commandLines.flatMap((span) =>
  [...span.text.matchAll(COMMAND)].map(([, run, short, given = ""]) => ({
    ...span,
    name: run ?? short ?? "",
    options: optionsIn(given),
  })),
);

const builtMentions: readonly Mention[] = commandLines.flatMap((span) =>
  [...span.text.matchAll(BUILT)].map(([, name = "", given = ""]) => ({
    ...span,
    name,
    options: optionsIn(given),
  })),
);

/** Options of programs that a script calls; the script's own file does not mention them. */
const OF_OTHERS = new Set(["sequence", "trace", "update-snapshots"]);
/** Options of each command of the program causeway. */
const COMMON = ["json", "help"];
const CAUSEWAY = "tsx scripts/causeway.ts";

/** The options of each command of the program causeway, without the common ones. */
const ownOptions = new Map(
  await Promise.all(
    Object.entries(COMMANDS).map(async ([name, { load }]) => {
      const { command } = await load();
      return [name, Object.keys(command.options)] as const;
    }),
  ),
);

/**
 * Whether the script's file declares the option for `parseArgs`, or searches its arguments for it.
 */
const takes = (script: string, option: string): boolean => {
  if (script.startsWith(CAUSEWAY)) {
    const own = ownOptions.get(script.slice(CAUSEWAY.length + 1)) ?? [];
    return [...own, ...COMMON].includes(option);
  }
  const file = /scripts\/[\w-]+\.(?:ts|mjs)/.exec(script)?.[0];
  if (file === undefined) return false;
  const source = readFileSync(file, "utf8");
  return (
    source.includes(`"--${option}"`) || new RegExp(`["\\s]${option}"?: \\{ type: `).test(source)
  );
};

test("each npm script that the documents name exists, and takes the options that they give it", () => {
  expect(mentions.length).toBeGreaterThan(60);
  expect(mentions.filter(({ options }) => options.length > 0).length).toBeGreaterThan(15);
  const faults = mentions.flatMap((mention) => {
    const script = scripts[mention.name];
    if (script === undefined)
      return [`${placeOf(mention)}: npm run ${mention.name} does not exist`];
    return mention.options
      .filter((option) => !OF_OTHERS.has(option) && !takes(script, option))
      .map((option) => `${placeOf(mention)}: npm run ${mention.name} takes no --${option}`);
  });
  expect(faults).toEqual([]);
});

test("each command of dist/causeway.js that the documents name exists, and takes the options that they give it", () => {
  expect(builtMentions.length).toBeGreaterThan(5);
  const faults = builtMentions.flatMap((mention) => {
    const own = ownOptions.get(mention.name);
    if (own === undefined) return [`${placeOf(mention)}: there is no command ${mention.name}`];
    return mention.options
      .filter((option) => ![...own, ...COMMON].includes(option))
      .map((option) => `${placeOf(mention)}: ${mention.name} takes no --${option}`);
  });
  expect(faults).toEqual([]);
});

test("each command of dist/causeway.js has an npm script of its name, and a row in the operations' table", () => {
  const section = readDocument("docs/operations.md").split("\n## Commands\n")[1] ?? "";
  const [table = ""] = section.split("\n## ");
  for (const name of Object.keys(COMMANDS)) {
    expect(scripts[name]).toBe(`${CAUSEWAY} ${name}`);
    expect(table).toContain(`\n| \`${name}\` | `);
  }
});

test("each option of a command has its description in a document", () => {
  const named = new Set(
    [...mentions, ...builtMentions].flatMap(({ name, options }) =>
      options.map((option) => `${name} ${option}`),
    ),
  );
  const prose = DOCUMENTS.map(readDocument).join("\n");
  const faults = [...ownOptions].flatMap(([name, options]) =>
    options
      .filter((option) => !named.has(`${name} ${option}`) && !prose.includes(`\`--${option}\``))
      .filter((option) => !new RegExp(`-- [^\`]*--${option}\\b`).test(prose))
      .map((option) => `${name} --${option}`),
  );
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
