import { spawnSync } from "node:child_process";
import {
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { expect, test } from "vitest";
import config, { TYPED } from "../oxlint.config.mjs";
import plugin from "./lint-rules.mjs";

const { scripts } = JSON.parse(readFileSync("package.json", "utf8")) as {
  scripts: Record<string, string>;
};
/** The options with which `npm run check:lint` calls oxlint. */
const OPTIONS = (scripts["check:lint"] ?? "").split(" ").slice(1);

const PROMISE = "declare const work: () => Promise<string>;\n";
const ANY = "declare const something: any;\n";
const NUMBER = "declare const count: number;\n";
const TEXT = "declare const text: string;\n";
const SHAPE = "enum Shape { Round = 1, Square = 2 }\ndeclare const shape: Shape;\n";

/** For each rule that needs type information, code that the rule must refuse. */
const REFUSED: Readonly<Record<string, string>> = {
  "await-thenable": `${NUMBER}await count;`,
  "no-array-delete": "const list = [1, 2]; delete list[0];",
  "no-base-to-string": "const thing = { a: 1 }; export const name = thing.toString();",
  "no-confusing-void-expression": "declare const act: () => void; export const result = act();",
  "no-deprecated": "/** @deprecated */\nexport function old(): void {}\nold();",
  "no-duplicate-type-constituents": 'export type Same = "a" | "a";',
  "no-floating-promises": `${PROMISE}work();`,
  "no-for-in-array": "for (const index in [1, 2]) console.log(index);",
  "no-generated-empty-object-type": "export type Nothing = Omit<{ a: string }, string>;",
  "no-implied-eval": 'setTimeout("alert(1)", 1);',
  "no-meaningless-void-operator": "declare const act: () => void; void act();",
  "no-misused-promises": `${PROMISE}if (work()) console.log(1);`,
  "no-misused-spread": `${PROMISE}export const parts = { ...work() };`,
  "no-mixed-enums": 'export enum Mixed { A = 1, B = "b" }',
  "no-redundant-type-constituents": "export type All = unknown | string;",
  "no-unnecessary-boolean-literal-compare":
    "declare const yes: boolean; if (yes === true) console.log(1);",
  "no-unnecessary-condition": "declare const thing: { a: number }; if (thing) console.log(1);",
  "no-unnecessary-template-expression": 'export const text = `${"a"}b`;',
  "no-unnecessary-type-arguments":
    "declare function make<T = string>(): T; export const made = make<string>();",
  "no-unnecessary-type-assertion": `${NUMBER}export const same = count as number;`,
  "no-unnecessary-type-conversion": `${TEXT}export const same = String(text);`,
  "no-unnecessary-type-parameters":
    "export function show<T>(value: T): void { console.log(value); }",
  "no-unsafe-argument": `${ANY}export const size = Number.parseInt(something);`,
  "no-unsafe-assignment": `${ANY}export const thing = something;`,
  "no-unsafe-call": `${ANY}something();`,
  "no-unsafe-enum-assignment": `${SHAPE}export const other: Shape = shape === Shape.Round ? 2 : 1;`,
  "no-unsafe-enum-comparison": `${SHAPE}if (shape === 1) console.log(1);`,
  "no-unsafe-member-access": `${ANY}console.log(something.name);`,
  "no-unsafe-return": `${ANY}export const read = (): string => { return something; };`,
  "no-unsafe-unary-minus": `${TEXT}export const less = -text;`,
  "no-useless-default-assignment":
    "declare const thing: { a: number }; export const { a = 1 } = thing;",
  "only-throw-error": 'throw "a";',
  "prefer-promise-reject-errors": 'export const failed = Promise.reject("a");',
  "prefer-reduce-type-parameter":
    "export const none = [1].reduce((all) => all, {} as Record<string, number>);",
  "prefer-return-this-type": "export class Builder { add(): Builder { return this; } }",
  "related-getter-setter-pairs":
    "export interface Box { get value(): string; set value(next: number); }",
  "require-await": "export const soon = async (): Promise<number> => { return 1; };",
  "restrict-plus-operands": `${NUMBER}${TEXT}export const both = count + text;`,
  "restrict-template-expressions":
    "declare const thing: { a: number }; export const text = `${thing}`;",
  "return-await": `${PROMISE}export const run = async () => { try { return work(); } catch { return null; } };`,
  "switch-exhaustiveness-check":
    'declare const way: "in" | "out"; switch (way) { case "in": console.log(1); }',
  "use-unknown-in-catch-callback-variable": `${PROMISE}work().catch((error) => { console.log(error); });`,
};

interface Diagnostics {
  readonly diagnostics: readonly {
    readonly code: string;
    readonly severity: string;
    readonly filename: string;
  }[];
}

/**
 * Lints the files, and returns for each path in the project the rules that refuse it. The files lie
 * in a separate folder with a copy of the project's configuration, because rules depend on paths.
 */
const refusals = (sources: Readonly<Record<string, string>>): Map<string, string[]> => {
  const folder = mkdtempSync(join(tmpdir(), "causeway-lint-"));
  try {
    const { compilerOptions } = JSON.parse(readFileSync("tsconfig.json", "utf8")) as {
      compilerOptions: object;
    };
    // Some examples are not valid programs; the rules apply to them all the same.
    const options = { ...compilerOptions, plugins: [], incremental: false, types: [] };
    writeFileSync(
      join(folder, "tsconfig.json"),
      JSON.stringify({ compilerOptions: options, include: ["**/*.ts"] }),
    );
    copyFileSync("oxlint.config.mjs", join(folder, "oxlint.config.mjs"));
    symlinkSync(resolve("scripts"), join(folder, "scripts"));
    for (const [path, code] of Object.entries(sources)) {
      mkdirSync(join(folder, dirname(path)), { recursive: true });
      writeFileSync(join(folder, path), code);
    }
    const { stdout } = spawnSync(
      resolve("node_modules/.bin/oxlint"),
      [...OPTIONS, "--format", "json", ...Object.keys(sources)],
      { encoding: "utf8", cwd: folder },
    );
    const found = new Map<string, string[]>();
    for (const { code, severity, filename } of (JSON.parse(stdout) as Diagnostics)
      .diagnostics) {
      if (severity !== "error") continue;
      found.set(filename, [...(found.get(filename) ?? []), /\((.+)\)/.exec(code)?.[1] ?? code]);
    }
    return found;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
};

test("each rule that needs types refuses its example", { timeout: 60_000 }, () => {
  expect(Object.keys(REFUSED).sort()).toEqual(
    Object.keys(TYPED)
      .map((name) => name.replace("typescript/", ""))
      .sort(),
  );
  const pathOf = (rule: string): string => `lib/core/${rule}.ts`;
  const found = refusals(
    Object.fromEntries(
      Object.entries(REFUSED).map(([rule, code]) => [pathOf(rule), `${code}\nexport {};\n`]),
    ),
  );
  expect(
    Object.keys(REFUSED).filter((rule) => !found.get(pathOf(rule))?.includes(rule)),
  ).toEqual([]);
});

test("an error of the TypeScript compiler is reported", { timeout: 60_000 }, () => {
  expect(OPTIONS).toContain("--type-check");
  const found = refusals({
    "lib/core/wrong.ts": 'export const count: number = "a";',
    "lib/core/right.ts": "export const count: number = 1;",
  });
  expect([...found]).toEqual([["lib/core/wrong.ts", ["TS2322"]]]);
});

const functionOf = (lines: number): string =>
  [
    "export const act = () => {",
    ...Array.from({ length: lines - 2 }, () => "  console.log(1);"),
    "};",
  ].join("\n");

/** A factory of this many lines, all but three of which belong to its inner function. */
const factoryOf = (lines: number): string =>
  [
    "export const create = () => {",
    functionOf(lines - 2).replace("export const act =", "return"),
    "};",
  ].join("\n");

const PLAIN: readonly (readonly [rule: string, code: string])[] = [
  ["no-restricted-properties", "export const text = process.env.HOME;"],
  ["no-restricted-properties", 'export const isUrl = URL.canParse("a:b");'],
  ["no-explicit-any", "export const list: any[] = [];"],
  ["no-unused-vars", "const unused = 1; export {};"],
  ["no-non-null-assertion", "export const first = (list: string[]) => list[0]!;"],
  ["consistent-type-imports", 'import { Hex } from "viem"; export const empty: Hex = "0x";'],
  ["no-constant-binary-expression", "export const list = [] || null;"],
  ["no-enum", "export enum Way { In, Out }"],
  ["no-default-export", "export default 1;"],
  ["no-restricted-imports", 'export * from "pp-artifacts/dist/node/index.mjs";'],
  ["no-artifacts-code", 'export const sdk = await import("pp-artifacts");'],
  ["no-artifacts-code", 'export const sdk = require("pp-artifacts");'],
  ["function-length", functionOf(81)],
  ["max-lines", Array.from({ length: 501 }, () => "// A line.").join("\n")],
];

const SQL: readonly string[] = [
  "export const read = (tx) => tx.$queryRaw`SELECT 1`;",
  "export const read = (tx) => tx.$queryRawUnsafe(TEXT);",
  "export const write = (tx) => tx.$executeRaw`DELETE FROM quote`;",
  "export const read = (database) => database.pool.query(TEXT);",
  "export const read = (sql) => sql.query(TEXT, []);",
  "export const write = (sql) => sql.change(TEXT, []);",
  "export const read = ({ query }) => query(TEXT, []);",
];

const FORM = "export const Ask = () => <form />;";
const PARSE = "export const read = (row) => storedQuote.parse(row);";
const JS_UNDEFINED = "export const text = notDefined;";

/**
 * Code at a path of the project. `refused` and `taken` name the rule that must refuse or must allow
 * it.
 */
interface Example {
  readonly path: string;
  readonly code: string;
  readonly refused?: string;
  readonly taken?: string;
}

const EXAMPLES: readonly Example[] = [
  ...PLAIN.map(([refused, code], index) => ({
    path: `lib/core/plain-${index}.ts`,
    code,
    refused,
  })),
  { path: "lib/core/function.ts", code: functionOf(80), taken: "function-length" },
  { path: "lib/core/factory.ts", code: factoryOf(82), taken: "function-length" },
  { path: "lib/core/inner.ts", code: factoryOf(83), refused: "function-length" },
  {
    path: "lib/core/keys.ts",
    code: 'export * from "@0xbow/privacy-pools-core-sdk";',
    taken: "no-restricted-imports",
  },
  ...SQL.flatMap((code, index) => [
    { path: `lib/money/swaps/sql-${index}.ts`, code, refused: "sql-in-repository" },
    { path: `lib/money/swaps/sql-${index}-repository.ts`, code, taken: "sql-in-repository" },
  ]),
  { path: "lib/money/swaps/parse.ts", code: PARSE, refused: "parse-in-repository" },
  { path: "app/api/parse.ts", code: PARSE, refused: "parse-in-repository" },
  { path: "lib/money/swaps/parse-repository.ts", code: PARSE, taken: "parse-in-repository" },
  // A file that is exempt from one rule must still follow the others.
  ...["lib/money/swaps/way-repository.ts", "components/ui/form.tsx"].map((path) => ({
    path,
    code: `export enum Way { In, Out }${path.endsWith("x") ? `\n${FORM}` : ""}`,
    refused: "no-enum",
    taken: "no-plain-form",
  })),
  { path: "components/features/swap/ask.tsx", code: FORM, refused: "no-plain-form" },
  { path: "app/(dashboard)/swap/page.tsx", code: FORM, refused: "no-plain-form" },
  {
    path: "app/(dashboard)/send/page.tsx",
    code: "export default 1;",
    taken: "no-default-export",
  },
  {
    path: "lib/platform/config/env.ts",
    code: "export const text = process.env.HOME;",
    taken: "no-restricted-properties",
  },
  { path: "lib/stack/start.mjs", code: JS_UNDEFINED, refused: "no-undef" },
];

test(
  "each rule refuses its examples where it holds, and nothing elsewhere",
  { timeout: 60_000 },
  () => {
    const found = refusals(Object.fromEntries(EXAMPLES.map(({ path, code }) => [path, code])));
    const wrong = EXAMPLES.filter(({ path, refused, taken }) => {
      const rules = found.get(path) ?? [];
      return (refused && !rules.includes(refused)) || (taken && rules.includes(taken));
    });
    expect(
      wrong.map(
        ({ path, refused }) =>
          `${path}: ${refused ?? "nothing"} expected, ${found.get(path)?.join() ?? "nothing"} found`,
      ),
    ).toEqual([]);
  },
);

test("every rule of this project is asked for", () => {
  const asked = JSON.stringify([config.rules, config.overrides]);
  expect(
    Object.keys(plugin.rules).filter((name) => !asked.includes(`"causeway/${name}":"error"`)),
  ).toEqual([]);
});
