import { existsSync, readdirSync, readFileSync } from "node:fs";
import { basename, join } from "node:path";
import { expect, test } from "vitest";
import { ROOMS } from "../scripts/rooms.mjs";
import { STORED_FORMS } from "../scripts/stored-forms.mjs";

const ROOT = "lib";
/** Folders of rooms that hold the room's common parts, and are no modules. */
const PARTS: Readonly<Record<string, readonly string[]>> = {
  platform: ["config", "db", "log", "os", "ports", "telemetry"],
  chain: ["erc4337", "ports", "solidity"],
};
/** Reading every file takes seconds on a machine under load. */
const READS_MS = 60_000;

/**
 * Files and modules that are deliberately different, with the reasons. An entry that is no longer
 * needed fails the last test.
 */
const EXCEPTIONS: Readonly<Record<string, string>> = {
  ...Object.fromEntries(
    ["entry-reads", "post", "reads", "read-snapshot", "verify", "write-effects"].map((name) => [
      `books/ledger/${name}.ts: SQL`,
      "The ledger's statements stand beside the decision that they carry out, on connections of its own database role.",
    ]),
  ),
  "books/ledger/entry-reads.ts: JSON":
    "Its records are the ledger's own, which the API's are made of.",
};

const modules = ROOMS.flatMap((room) =>
  readdirSync(join(ROOT, room), { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .filter(({ name }) => !(PARTS[room] ?? ["ports"]).includes(name))
    .map(({ name }) => `${room}/${name}`),
);

const filesOf = (module: string): string[] =>
  readdirSync(join(ROOT, module), { recursive: true, encoding: "utf8" })
    .filter((file) => file.endsWith(".ts") && !file.endsWith(".test.ts"))
    .map((file) => `${module}/${file}`);

interface SourceFile {
  /** Path relative to lib. */
  readonly path: string;
  /** The file's text without comments. */
  readonly code: string;
}

const withoutComments = (text: string): string =>
  text.replace(/\/\*[\s\S]*?\*\//g, "").replace(/(?<!:)\/\/.*$/gm, "");

const sources = (): SourceFile[] =>
  modules
    .flatMap(filesOf)
    .map((path) => ({ path, code: withoutComments(readFileSync(join(ROOT, path), "utf8")) }));

const SQL = [
  /\$(?:query|execute)Raw/,
  // The boundary "stored-forms-in-repositories" checks imports of types.
  /^import (?!type)[^;]* from "(?:pg|@prisma\/[^"]+|@\/lib\/platform\/db\/generated[^"]*)"/m,
  /[`"']\s*(?:SELECT|INSERT INTO|UPDATE|DELETE FROM|WITH) \S/,
];
/** An exported class of errors, or an exported function that returns an error. */
const ERROR = /^export (?:class \w+Error\b|const \w+ = (?:<[^>]*>)?\([^;{]*?\): \w+Error =>)/m;
/** An exported function whose result is a response of the API, or a record of one. */
const JSON_OF_THE_API =
  /^export const \w+ = (?:<[^>]*>)?\((?:[^;]|;\n)*?\): (?:ResponseOf<|z\.output<typeof \w+Record>|\w+Record\b)[^;\n]* =>/m;

interface Rule {
  readonly name: string;
  readonly belongsTo: RegExp;
  readonly found: readonly RegExp[];
}

const RULES: readonly Rule[] = [
  { name: "SQL", belongsTo: /repository\.ts$/, found: SQL },
  { name: "errors", belongsTo: /^errors\.ts$/, found: [ERROR] },
  { name: "JSON", belongsTo: /serializer\.ts$/, found: [JSON_OF_THE_API] },
];

const misplacedIn = ({ path, code }: SourceFile): string[] =>
  RULES.filter(
    ({ belongsTo, found }) =>
      !belongsTo.test(basename(path)) && found.some((each) => each.test(code)),
  ).map(({ name }) => `${path}: ${name}`);

const missingIn = (module: string): string[] => {
  const has = (file: string): boolean => existsSync(join(ROOT, module, file));
  const stores = readdirSync(join(ROOT, module)).some((file) => file.endsWith("repository.ts"));
  return ["service.ts", ...(stores ? ["repository.ts"] : [])]
    .filter((file) => !has(file))
    .map((file) => `${module}: ${file}`);
};

const isUnexpected = (fault: string): boolean => !(fault in EXCEPTIONS);

test("each module has a service.ts, and a repository.ts where it stores", () => {
  expect(modules).toContain("money/swaps");
  expect(modules.flatMap(missingIn).filter(isUnexpected)).toEqual([]);
});

test(
  "SQL stands in repositories, errors that a file exports in errors.ts, and the JSON of the API in serializers",
  () => {
    expect(sources().flatMap(misplacedIn).filter(isUnexpected)).toEqual([]);
  },
  READS_MS,
);

/** The functions of a stored form that read a row. */
const parsersIn = ({ code }: SourceFile): string[] =>
  [...code.matchAll(/^export const (parse\w+) =/gm)].map(([, name]) => name ?? "");

test(
  "a row is parsed for repositories alone",
  () => {
    const isForm = ({ path }: SourceFile): boolean =>
      STORED_FORMS.includes(path.replace(/\.ts$/, ""));
    const [forms, steps] = [
      sources().filter(isForm),
      sources().filter((file) => !isForm(file)),
    ];
    expect(forms).toHaveLength(STORED_FORMS.length);
    const parsers = forms.flatMap(parsersIn);
    expect(parsers).toContain("parseQuote");
    const pattern = new RegExp(`\\b(?:${parsers.join("|")})\\b`);
    const callers = steps.filter(
      ({ path, code }) => !path.endsWith("repository.ts") && pattern.test(code),
    );
    expect(callers.map(({ path }) => path)).toEqual([]);
  },
  READS_MS,
);

test(
  "every exception is still one",
  () => {
    const faults = [...modules.flatMap(missingIn), ...sources().flatMap(misplacedIn)];
    expect(Object.keys(EXCEPTIONS).filter((exception) => !faults.includes(exception))).toEqual(
      [],
    );
  },
  READS_MS,
);

test.each([
  ["SQL", "const TEXT = `SELECT id FROM operation`;"],
  ["SQL", 'import { Prisma } from "@/lib/platform/db/generated/client";'],
  ["SQL", "await tx.$queryRaw`SELECT 1`;"],
  ["errors", "export class TakenError extends Error {}"],
  [
    "errors",
    'export const taken = (id: string): DomainError =>\n  new DomainError("invalid_state", id);',
  ],
  [
    "JSON",
    "export const toQuote = (quote: Quote): ResponseOf<typeof getQuote> => ({ id: quote.id });",
  ],
  [
    "JSON",
    "export const toQuote = (\n  quote: Quote,\n): z.output<typeof quoteRecord> => ({ id: quote.id });",
  ],
])("%s in a step of a module is found: %s", (rule, code) => {
  expect(misplacedIn({ path: "money/quotes/pricing.ts", code })).toEqual([
    `money/quotes/pricing.ts: ${rule}`,
  ]);
});

test.each([
  ["money/quotes/repository.ts", "const TEXT = `SELECT id FROM operation`;"],
  ["money/quotes/errors.ts", "export class TakenError extends Error {}"],
  [
    "money/quotes/serializer.ts",
    "export const toQuote = (quote: Quote): QuoteRecord => ({ id: quote.id });",
  ],
  ["money/quotes/pricing.ts", "const taken = (): DomainError => notFound();"],
])("code in its place is not: %s", (path, code) => {
  expect(misplacedIn({ path, code })).toEqual([]);
});
