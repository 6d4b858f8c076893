import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { allFences, codeSpansOf, DOCUMENTS } from "@/lib/dev/testing/documents";
import { variableNames } from "./env";

const read = (file: string): string => readFileSync(file, "utf8");

/** The variables of each table of the page whose first column is "Variable". */
const tables = read("docs/operations.md")
  .split(/^\| Variable .*$/m)
  .slice(1)
  .map((text) =>
    Array.from(
      (text.split("\n\n")[0] ?? "").matchAll(/^\| `([A-Z0-9_]+(?:<id>)?)` \|/gm),
      ([, name = ""]) => name,
    ),
  );
const [service = [], development = []] = tables;

const inExample = Array.from(
  read(".env.example").matchAll(/^(?:# )?([A-Z][A-Z0-9_]*)=/gm),
  ([, name = ""]) => name.replace(/_\d+$/, "_<id>"),
);

const sources = (folder: string): string[] =>
  readdirSync(folder, { recursive: true, encoding: "utf8" })
    .filter((file) => /\.(ts|mjs)$/.test(file) && !file.endsWith(".test.ts"))
    .map((file) => join(folder, file));

/** Variables of the operating system and of Node.js, which are only passed on. */
const FOREIGN = ["PATH", "NODE_OPTIONS"];

/**
 * Names of variables that the supervisor, the commands and the tools read without the configuration
 * reader.
 */
const readElsewhere = [
  ...sources("scripts"),
  ...sources("lib/stack"),
  ...readdirSync(".").filter((file) => /^[a-z]+\.config\.(ts|mjs)$/.test(file)),
].flatMap((file) =>
  Array.from(
    read(file).matchAll(/\b(?:process\.env|environment)\.([A-Z][A-Z0-9_]+)/g),
    ([, name = ""]) => name,
  ),
);

const sorted = (names: Iterable<string>): string[] => [...new Set(names)].sort();

const known: ReadonlySet<string> = new Set([
  ...service,
  ...development,
  // Variables that compose.yaml reads, such as the passwords of its containers.
  ...Array.from(read("compose.yaml").matchAll(/\$\{([A-Z_]+)/g), ([, name = ""]) => name),
]);
/** Names that a reader's shell uses in examples. */
const OF_THE_READER = new Set(["API", "KEY", "TOKEN", "NEW_OWNER_URL"]);

test("the documents set and read only variables that there are", () => {
  const shells = allFences().filter(({ language }) => language === "sh");
  const texts = [...shells, ...DOCUMENTS.flatMap(codeSpansOf)];
  const named = texts
    .flatMap(({ file, text }) =>
      Array.from(
        text.matchAll(/(?:^|\s)([A-Z][A-Z0-9_]+(?:<id>)?)=|\$([A-Z][A-Z0-9_]+)/gm),
        ([, set, used]) => ({
          file,
          name: (set ?? used ?? "").replace(/_\d+$/, "_<id>"),
        }),
      ),
    )
    .filter(({ name }) => !OF_THE_READER.has(name));
  expect(named.length).toBeGreaterThan(25);
  expect(named.filter(({ name }) => !known.has(name))).toEqual([]);
});

describe("docs/operations.md", () => {
  test("has a row for every variable that anything reads, and for no other", () => {
    expect(readElsewhere).toContain("CAUSEWAY_DATA_DIR");
    expect(sorted([...service, ...development])).toEqual(
      sorted([...variableNames, ...readElsewhere].filter((name) => !FOREIGN.includes(name))),
    );
  });

  test("has one row for each, and none of the service's own among those for development", () => {
    const all = [...service, ...development];
    expect(all).toHaveLength(new Set(all).size);
    expect(development.filter((name) => variableNames.includes(name))).toEqual([]);
  });

  test("and .env.example list the same variables of the service", () => {
    expect(sorted(inExample)).toEqual(sorted(service));
  });

  test("says of each its default, its meaning, an example and whether production needs it", () => {
    const rows = read("docs/operations.md").match(/^\| `[A-Z0-9_]+(?:<id>)?` \|.*$/gm) ?? [];
    expect(rows.length).toBeGreaterThanOrEqual(service.length + development.length);
    for (const row of rows.slice(0, service.length))
      expect(row.split(" | ").filter((cell) => cell.trim() !== "")).toHaveLength(5);
  });

  test("is linked from the README", () => {
    expect(read("README.md")).toContain("(docs/operations.md)");
  });
});
