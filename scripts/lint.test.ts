import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join, resolve } from "node:path";
import { ESLint } from "eslint";
import tseslint from "typescript-eslint";
import { expect, test } from "vitest";

const { scripts } = JSON.parse(readFileSync("package.json", "utf8")) as { scripts: Record<string, string> };
/** The options with which `npm run check:typed-lint` calls oxlint. */
const OPTIONS = (scripts["check:typed-lint"] ?? "").split(" ").slice(1);
const OXLINT_CONFIG = resolve(".oxlintrc.json");
/** Why a rule of typescript-eslint's strict set is not asked for. */
const NOT_ASKED_FOR: Readonly<Record<string, string>> = {
  "unbound-method": "Services and ports are closures, not classes: their methods have no `this` to lose.",
  "no-unsafe-class-instance-assignment": "Oxlint does not have it; see docs/decisions.",
};

const PROMISE = "declare const work: () => Promise<string>;\n";
const ANY = "declare const something: any;\n";
const NUMBER = "declare const count: number;\n";
const TEXT = "declare const text: string;\n";
const SHAPE = "enum Shape { Round = 1, Square = 2 }\ndeclare const shape: Shape;\n";

/** For each rule that needs types, code that it refuses. */
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
  "no-unnecessary-boolean-literal-compare": "declare const yes: boolean; if (yes === true) console.log(1);",
  "no-unnecessary-condition": "declare const thing: { a: number }; if (thing) console.log(1);",
  "no-unnecessary-template-expression": 'export const text = `${"a"}b`;',
  "no-unnecessary-type-arguments": "declare function make<T = string>(): T; export const made = make<string>();",
  "no-unnecessary-type-assertion": `${NUMBER}export const same = count as number;`,
  "no-unnecessary-type-conversion": `${TEXT}export const same = String(text);`,
  "no-unnecessary-type-parameters": "export function show<T>(value: T): void { console.log(value); }",
  "no-unsafe-argument": `${ANY}export const size = Number.parseInt(something);`,
  "no-unsafe-assignment": `${ANY}export const thing = something;`,
  "no-unsafe-call": `${ANY}something();`,
  "no-unsafe-enum-assignment": `${SHAPE}export const other: Shape = shape === Shape.Round ? 2 : 1;`,
  "no-unsafe-enum-comparison": `${SHAPE}if (shape === 1) console.log(1);`,
  "no-unsafe-member-access": `${ANY}console.log(something.name);`,
  "no-unsafe-return": `${ANY}export const read = (): string => { return something; };`,
  "no-unsafe-unary-minus": `${TEXT}export const less = -text;`,
  "no-useless-default-assignment": "declare const thing: { a: number }; export const { a = 1 } = thing;",
  "only-throw-error": 'throw "a";',
  "prefer-promise-reject-errors": 'export const failed = Promise.reject("a");',
  "prefer-reduce-type-parameter": "export const none = [1].reduce((all) => all, {} as Record<string, number>);",
  "prefer-return-this-type": "export class Builder { add(): Builder { return this; } }",
  "related-getter-setter-pairs": "export interface Box { get value(): string; set value(next: number); }",
  "require-await": "export const soon = async (): Promise<number> => { return 1; };",
  "restrict-plus-operands": `${NUMBER}${TEXT}export const both = count + text;`,
  "restrict-template-expressions": "declare const thing: { a: number }; export const text = `${thing}`;",
  "return-await": `${PROMISE}export const run = async () => { try { return work(); } catch { return null; } };`,
  "switch-exhaustiveness-check": 'declare const way: "in" | "out"; switch (way) { case "in": console.log(1); }',
  "use-unknown-in-catch-callback-variable": `${PROMISE}work().catch((error) => { console.log(error); });`,
};

const askedFor = (): string[] => {
  const { rules } = JSON.parse(readFileSync(OXLINT_CONFIG, "utf8")) as { rules: Record<string, unknown> };
  return Object.keys(rules).map((name) => name.replace("typescript/", ""));
};

interface Diagnostics {
  readonly diagnostics: readonly { readonly code: string; readonly severity: string; readonly filename: string }[];
}

/** The rules that refuse each file, by the file's name. */
const oxlintOf = (sources: Readonly<Record<string, string>>): Map<string, string[]> => {
  const folder = mkdtempSync(join(tmpdir(), "causeway-lint-"));
  try {
    mkdirSync(join(folder, "code"));
    const { compilerOptions } = JSON.parse(readFileSync("tsconfig.json", "utf8")) as { compilerOptions: object };
    // Some examples are no valid programs; the rules judge them all the same.
    const options = { ...compilerOptions, plugins: [], incremental: false, types: [] };
    writeFileSync(join(folder, "tsconfig.json"), JSON.stringify({ compilerOptions: options, include: ["code"] }));
    for (const [name, code] of Object.entries(sources))
      writeFileSync(join(folder, "code", `${name}.ts`), `${code}\nexport {};\n`);
    const { stdout } = spawnSync(
      resolve("node_modules/.bin/oxlint"),
      ["-c", OXLINT_CONFIG, ...OPTIONS, "--format", "json", folder],
      { encoding: "utf8" },
    );
    const found = new Map<string, string[]>();
    for (const { code, severity, filename } of (JSON.parse(stdout) as Diagnostics).diagnostics) {
      if (severity !== "error") continue;
      const name = basename(filename, ".ts");
      found.set(name, [...(found.get(name) ?? []), /\((.+)\)/.exec(code)?.[1] ?? code]);
    }
    return found;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
};

test("oxlint has every rule of typescript-eslint's strict set that needs types, but for the two with a reason", () => {
  const strict = tseslint.configs.strictTypeCheckedOnly.flatMap(({ rules = {} }) =>
    Object.entries(rules).flatMap(([name, level]) =>
      name.startsWith("@typescript-eslint/") && level !== "off" ? [name.replace("@typescript-eslint/", "")] : [],
    ),
  );
  expect(strict.length).toBeGreaterThan(40);
  const asked = new Set(askedFor());
  expect(strict.filter((name) => !asked.has(name) && NOT_ASKED_FOR[name] === undefined)).toEqual([]);
});

test("each rule that needs types refuses its example", { timeout: 60_000 }, () => {
  expect(Object.keys(REFUSED).sort()).toEqual(askedFor().sort());
  const found = oxlintOf(REFUSED);
  expect(Object.keys(REFUSED).filter((rule) => !found.get(rule)?.includes(rule))).toEqual([]);
});

test("an error of the TypeScript compiler is reported", { timeout: 60_000 }, () => {
  expect(OPTIONS).toContain("--type-check");
  const found = oxlintOf({ wrong: 'export const count: number = "a";', right: "export const count: number = 1;" });
  expect([...found]).toEqual([["wrong", ["TS2322"]]]);
});

const functionOf = (lines: number): string =>
  ["export const act = () => {", ...Array.from({ length: lines - 2 }, () => "  console.log(1);"), "};"].join("\n");

const found = async (rule: string, code: string, filePath = "lib/core/example.ts"): Promise<number> => {
  const [result] = await new ESLint().lintText(code, { filePath });
  return (result?.messages ?? []).filter(({ ruleId, severity }) => ruleId === rule && severity === 2).length;
};

test.each([
  ["the environment outside its file", "no-restricted-properties", "export const text = process.env.HOME;"],
  ["URL.canParse", "no-restricted-properties", 'export const isUrl = URL.canParse("a:b");'],
  ["any", "@typescript-eslint/no-explicit-any", "export const list: any[] = [];"],
  ["an enum", "no-restricted-syntax", "export enum Way { In, Out }"],
  ["a default export", "no-restricted-syntax", "export default 1;"],
  ["a function of 81 lines", "max-lines-per-function", functionOf(81)],
  ["a file of 351 lines", "max-lines", Array.from({ length: 351 }, () => "// A line.").join("\n")],
])("eslint refuses %s", async (_, rule, code) => {
  expect(await found(rule, code)).toBe(1);
});

test("eslint takes a function of 80 lines", async () => {
  expect(await found("max-lines-per-function", functionOf(80))).toBe(0);
});

const SERVICE = "lib/modules/swaps/example.ts";

test.each([
  ["a query of Prisma's", "export const read = (tx) => tx.$queryRaw`SELECT 1`;"],
  ["a query of Prisma's from text", "export const read = (tx) => tx.$queryRawUnsafe(TEXT);"],
  ["a change of Prisma's", "export const write = (tx) => tx.$executeRaw`DELETE FROM quote`;"],
  ["a query of a pool", "export const read = (database) => database.pool.query(TEXT);"],
  ["a query on a connection", "export const read = (sql) => sql.query(TEXT, []);"],
  ["a change on a connection", "export const write = (sql) => sql.change(TEXT, []);"],
  ["a query that was taken out of its object", "export const read = ({ query }) => query(TEXT, []);"],
])("eslint refuses %s outside of repositories", async (_, code) => {
  expect(await found("no-restricted-syntax", code, SERVICE)).toBe(1);
  expect(await found("no-restricted-syntax", code, "lib/modules/swaps/quote-repository.ts")).toBe(0);
});

test("eslint refuses an enum in repositories and forms, too", async () => {
  const code = "export enum Way { In, Out }";
  for (const path of [SERVICE, "lib/modules/swaps/quote-repository.ts", "components/ui/form.tsx"])
    expect(await found("no-restricted-syntax", code, path)).toBe(1);
});

test("eslint refuses an element form outside of the component of forms", async () => {
  const code = "export const Ask = () => <form />;";
  for (const path of ["components/features/swap/ask.tsx", "app/(dashboard)/swap/page.tsx"])
    expect(await found("no-restricted-syntax", code, path)).toBe(1);
  expect(await found("no-restricted-syntax", code, "components/ui/form.tsx")).toBe(0);
});
