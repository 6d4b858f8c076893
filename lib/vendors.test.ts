import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";

/** Reading every file takes seconds on a machine under load. */
const READS_MS = 60_000;
/**
 * Folders whose code may use providers only through their ports. Adapters, their composition and
 * the configuration name vendors.
 */
const FOLDERS = [
  ...["news", "trust", "books", "money"].map((room) => `lib/${room}`),
  "lib/platform/ports",
  "lib/chain/ports",
  "lib/chain/smart-accounts",
  "lib/chain/transactions",
  "lib/contracts",
  "lib/core",
  "lib/workers",
  "app",
  "components",
];
/**
 * Protocols and companies behind the ports of routing, bundling and privacy. With a capital,
 * "Across" is the bridge.
 */
const VENDORS =
  /\b(?:[Uu]niswap\w*|Across|acrossP\w*|[Pp]imlico\w*|Alto|0xbow|CoW ?Swap|1inch|Stargate)\b/;

const files = (): string[] =>
  FOLDERS.flatMap((folder) =>
    readdirSync(folder, { recursive: true, encoding: "utf8" }).map((file) =>
      join(folder, file),
    ),
  ).filter((file) => /\.tsx?$/.test(file) && !/\.test\.tsx?$/.test(file));

const vendorsIn = (text: string): { line: number; text: string }[] =>
  text
    .split("\n")
    .flatMap((content, index) =>
      VENDORS.test(content) ? [{ line: index + 1, text: content.trim() }] : [],
    );

test(
  "no vendor is named in code, comments or texts of modules, contracts, ports and pages",
  () => {
    const read = files();
    expect(read).toContain("lib/money/quotes/pricing.ts");
    const found = read.flatMap((file) =>
      vendorsIn(readFileSync(file, "utf8")).map(
        ({ line, text }) => `${file}:${String(line)}: ${text}`,
      ),
    );
    expect(found).toEqual([]);
  },
  READS_MS,
);

test.each([
  'const title = "Uniswap";',
  "// Across refunds within a few hours.",
  "const acrossPool = 1;",
])("a vendor is found in %s", (line) => {
  expect(vendorsIn(`const first = 1;\n${line}`)).toEqual([{ line: 2, text: line }]);
});

test.each([
  '"on one chain or across two"',
  "export const across = (from: Point, to: Point): Curve => {",
])("a common word is not a vendor: %s", (line) => {
  expect(vendorsIn(line)).toEqual([]);
});
