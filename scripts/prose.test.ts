import { existsSync, readdirSync, readFileSync } from "node:fs";
import { basename, join } from "node:path";
import ts from "typescript";
import { expect, test } from "vitest";
import { ROOMS } from "./rooms.mjs";

/** Reading every file takes seconds on a machine under load. */
const READS_MS = 60_000;
/** Folders without code of this project. */
const SKIPPED = /^(?:node_modules|vendor|dist|\..+)$/;
const GENERATED = "lib/platform/db/generated/";

const isCode = (file: string): boolean => /\.tsx?$/.test(file) && !file.startsWith(GENERATED);

const filesBelow = (folder: string): string[] =>
  readdirSync(folder, { recursive: true, encoding: "utf8" })
    .map((file) => join(folder, file))
    .filter(isCode);

const codeFiles = (): string[] =>
  readdirSync(".", { withFileTypes: true })
    .filter(({ name }) => !SKIPPED.test(name))
    .flatMap((entry) =>
      entry.isDirectory() ? filesBelow(entry.name) : [entry.name].filter(isCode),
    );

interface Comment {
  /** Line number of the comment's first line, from 1. */
  readonly line: number;
  /** Text without comment marks; its lines are joined by spaces. */
  readonly text: string;
}

/** Matches the start of a comment. `//` after a colon is part of a URL such as `https://…`. */
const COMMENT = /(\/\*+|(?<!:)\/\/|^\s*\*(?!\/))(.*)$/;

/**
 * Finds comments line by line, which is much faster than a parser. A string that looks like a
 * comment counts as one.
 */
const commentsOf = (source: string): Comment[] => {
  const found: Comment[] = [];
  let mark: string | null = null;
  source.split("\n").forEach((content, index) => {
    const [, start, words] = COMMENT.exec(content) ?? [];
    if (start === undefined || words === undefined) {
      mark = null;
      return;
    }
    const text = words.replace(/\*\/.*$/, "").trim();
    const before = found.at(-1);
    const goesOn =
      start.trim() === "*" ||
      (start === "//" && mark === "//" && content.trim().startsWith("//"));
    if (goesOn && before !== undefined)
      found[found.length - 1] = { ...before, text: `${before.text} ${text}`.trim() };
    else found.push({ line: index + 1, text });
    mark = start;
  });
  return found;
};

/** Patterns of sentences that do not name their subject; see Style in CONTRIBUTING.md. */
const BANNED: readonly RegExp[] = [
  /^(?:- )?What\b/,
  /[.!?:;] (?:- )?What\b/,
  /\b(?:tell|tells|told) of\b/i,
];

const bannedIn = (source: string): Comment[] =>
  commentsOf(source).filter(({ text }) => BANNED.some((pattern) => pattern.test(text)));

test(
  "no comment has a sentence that begins with 'What' or speaks of being told",
  () => {
    const files = codeFiles();
    expect(files).toContain("scripts/prose.test.ts");
    const faults = files.flatMap((file) =>
      bannedIn(readFileSync(file, "utf8")).map(
        ({ line, text }) => `${file}:${String(line)}: ${text}`,
      ),
    );
    expect(faults).toEqual([]);
  },
  READS_MS,
);

test.each([
  ["a docstring", "/** # may be moved now. */"],
  ["a docstring of several lines", "/**\n * # a part is worth,\n * in US dollars.\n */"],
  ["a line of a longer comment", "/**\n * Reads the part.\n * # it may cost: gas.\n */"],
  [
    "a second sentence",
    "// The balance is read first. # is asked for together is read together.",
  ],
  [
    "a sentence after a line break",
    "/*\n * The balance is read first. #\n * is held comes next.\n */",
  ],
  ["a comment behind code", "const amount = 1; // # is sent."],
  ["a comment in JSX", "{/* # is shown. */}"],
])("'What' is found at the beginning of %s", (_, source) => {
  expect(bannedIn(source.replace("#", "What"))).toHaveLength(1);
  expect(bannedIn(source.replace("#", "The amount that"))).toEqual([]);
});

test.each(["tell", "tells", "Told", "told"])(
  "'%s of' is found, also over two lines",
  (verb) => {
    expect(bannedIn(`/** No event # of it. */`.replace("#", verb))).toHaveLength(1);
    expect(bannedIn(`/**\n * No event #\n * of it.\n */`.replace("#", verb))).toHaveLength(1);
    expect(bannedIn(`const text = "people # of it";`.replace("#", verb))).toEqual([]);
  },
);

const isDocumentedFile = (file: string): boolean =>
  !file.endsWith(".test.ts") &&
  (/^lib\/(?:core\/|\w+\/ports\/)/.test(file) ||
    (ROOMS.some((room) => file.startsWith(`lib/${room}/`)) && basename(file) === "service.ts"));

const isFunction = (node: ts.Expression | undefined): boolean =>
  node !== undefined && (ts.isArrowFunction(node) || ts.isFunctionExpression(node));

/**
 * Returns the name of an exported function, or of an exported constant whose value is a function.
 */
const exportedFunction = (statement: ts.Statement): string | null => {
  if (!isExported(statement)) return null;
  if (ts.isFunctionDeclaration(statement)) return statement.name?.text ?? "default";
  if (!ts.isVariableStatement(statement)) return null;
  const found = statement.declarationList.declarations.find(({ initializer }) =>
    isFunction(initializer),
  );
  return found === undefined ? null : found.name.getText();
};

/** Whether a comment of the form `/** … *\/` ends on the line above the statement. */
const hasDocstring = (statement: ts.Node, source: ts.SourceFile): boolean => {
  const text = source.getFullText();
  const last = ts.getLeadingCommentRanges(text, statement.getFullStart())?.at(-1);
  if (last === undefined || !text.slice(last.pos, last.end).startsWith("/**")) return false;
  return /^\n? *$/.test(text.slice(last.end, statement.getStart()));
};

/** Interfaces of settings and dependencies, whose functions the callers of a module provide. */
const GIVEN = /(?:Deps|Options|Config|Log)$/;

const isFunctionMember = (member: ts.TypeElement): boolean =>
  ts.isMethodSignature(member) ||
  (ts.isPropertySignature(member) &&
    member.type !== undefined &&
    ts.isFunctionTypeNode(member.type));

/**
 * Returns the object that a function `create…` returns, unless an interface is named as its return
 * type: then the interface has the docstrings.
 */
const returnedObjects = (creates: ts.ArrowFunction): ts.ObjectLiteralExpression[] => {
  if (creates.type !== undefined) return [];
  const results = ts.isBlock(creates.body)
    ? creates.body.statements.filter(ts.isReturnStatement).map(({ expression }) => expression)
    : [ts.isParenthesizedExpression(creates.body) ? creates.body.expression : creates.body];
  return results.filter((result) => result !== undefined).filter(ts.isObjectLiteralExpression);
};

/**
 * Returns the functions of a service or port: members of an exported interface, or of the object
 * that an exported `create…` returns.
 */
const methodsOf = (statement: ts.Statement): ts.Node[] => {
  if (ts.isInterfaceDeclaration(statement))
    return GIVEN.test(statement.name.text) ? [] : statement.members.filter(isFunctionMember);
  if (!ts.isVariableStatement(statement)) return [];
  return statement.declarationList.declarations.flatMap(({ name, initializer }) =>
    name.getText().startsWith("create") &&
    initializer !== undefined &&
    ts.isArrowFunction(initializer)
      ? returnedObjects(initializer)
          .flatMap(({ properties }) => [...properties])
          .filter(
            (property) => ts.isPropertyAssignment(property) && isFunction(property.initializer),
          )
      : [],
  );
};

const isExported = (statement: ts.Statement): boolean =>
  ts.canHaveModifiers(statement) &&
  ts.getModifiers(statement)?.some(({ kind }) => kind === ts.SyntaxKind.ExportKeyword) === true;

const undocumentedMethodsIn = (file: string, text: string): string[] => {
  const source = ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true);
  return source.statements
    .filter(isExported)
    .flatMap(methodsOf)
    .filter((method) => !hasDocstring(method, source))
    .map((method) => `${file}: ${method.getText().split(/[(:]/)[0] ?? ""}`);
};

const undocumentedIn = (file: string, text: string): string[] => {
  const source = ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true);
  return source.statements.flatMap((statement) => {
    const name = exportedFunction(statement);
    return name === null || hasDocstring(statement, source) ? [] : [`${file}: ${name}`];
  });
};

test(
  "each exported function of a module's service, of the ports and of the core has a docstring",
  () => {
    const files = ["core", ...ROOMS]
      .flatMap((room) => filesBelow(`lib/${room}`))
      .filter(isDocumentedFile);
    expect(files).toContain("lib/books/ledger/service.ts");
    expect(files.flatMap((file) => undocumentedIn(file, readFileSync(file, "utf8")))).toEqual(
      [],
    );
  },
  READS_MS,
);

test.each([
  "export function act(): void {}",
  "export const act = (): void => undefined;",
  "export const act =\n  async (): Promise<void> => Promise.resolve();",
  "export const act: Act = <T>(value: T) => value;",
  "export async function act(): Promise<void> {}",
])("a function without a docstring directly above it is found: %s", (code) => {
  expect(undocumentedIn("a.ts", `/** Acts. */\n${code}`)).toEqual([]);
  expect(undocumentedIn("a.ts", code)).toEqual(["a.ts: act"]);
  expect(undocumentedIn("a.ts", `// Acts.\n${code}`)).toEqual(["a.ts: act"]);
  expect(undocumentedIn("a.ts", `/** The file. */\n\n${code}`)).toEqual(["a.ts: act"]);
  expect(undocumentedIn("a.ts", `/** A limit. */\nconst LIMIT = 1;\n${code}`)).toEqual([
    "a.ts: act",
  ]);
});

test(
  "each method of a module's service and of a port has a docstring",
  () => {
    // Files with contract tests contain test harnesses, which are not ports.
    const read = (file: string) => ({ file, source: readFileSync(file, "utf8") });
    const files = ROOMS.flatMap((room) => filesBelow(`lib/${room}`))
      .filter((file) => isDocumentedFile(file) && !file.includes("/fakes/"))
      .map(read)
      .filter(
        ({ source }) => !source.includes('from "vitest"') && !source.includes(".contract"),
      );
    expect(files.map(({ file }) => file)).toContain("lib/money/privacy/service.ts");
    expect(files.flatMap(({ file, source }) => undocumentedMethodsIn(file, source))).toEqual(
      [],
    );
  },
  READS_MS,
);

test.each([
  ["export interface Mailer {", "  send(mail: Mail): Promise<void>;", "}"],
  ["export interface Mailer {", "  readonly send: (mail: Mail) => Promise<void>;", "}"],
  [
    "export const createMailer = (deps: Deps) => ({",
    "  send: (mail: Mail) => deps.send(mail),",
    "});",
  ],
  [
    "export const createMailer = (deps: Deps) => {",
    "  return {",
    "    send: async (mail: Mail) => deps.send(mail),",
    "  };",
    "};",
  ],
])("a method without a docstring is found: %s %s", (...lines) => {
  const at = lines.findIndex((line) => line.includes("send"));
  const documented = lines.toSpliced(
    at,
    0,
    "  /** Sends one mail. @throws DomainError `provider_error` */",
  );
  expect(undocumentedMethodsIn("a.ts", documented.join("\n"))).toEqual([]);
  expect(undocumentedMethodsIn("a.ts", lines.join("\n"))).toHaveLength(1);
});

test("a method that an interface documents, or that is needed, needs none of its own", () => {
  const typed = "export const createMailer = (): Mailer => ({\n  send: () => undefined,\n});";
  expect(undocumentedMethodsIn("a.ts", typed)).toEqual([]);
  expect(
    undocumentedMethodsIn("a.ts", "export interface MailerDeps {\n  send(): void;\n}"),
  ).toEqual([]);
});

test("every port shows how it is used", () => {
  const ports = ROOMS.map((room) => `lib/${room}/ports`)
    .filter((folder) => existsSync(folder))
    .flatMap((folder) => readdirSync(folder).map((file) => join(folder, file)))
    .filter((file) => file.endsWith(".ts") && !file.endsWith(".contract.ts"))
    .map((file) => ({ file, source: readFileSync(file, "utf8") }))
    // Files with steps of contract tests, or with the stored form of a port's types, are not ports.
    .filter(({ source }) => !/from "(?:vitest|zod)"/.test(source));
  expect(ports.length).toBeGreaterThan(10);
  expect(
    ports.filter(({ source }) => !source.includes("@example")).map(({ file }) => file),
  ).toEqual([]);
});
