/**
 * Checks the licences of the installed packages, and of third-party code that is committed here.
 */
import { execFileSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, test } from "vitest";

/**
 * Licences that allow use in a product whose source is not published. MPL-2.0 requires publication
 * only for changed files of the package itself.
 */
const ALLOWED: ReadonlySet<string> = new Set([
  ...[
    "0BSD",
    "Apache-2.0",
    "BlueOak-1.0.0",
    "BSD-2-Clause",
    "BSD-3-Clause",
    "CC0-1.0",
    "CC-BY-4.0",
    "ISC",
    "MIT",
  ],
  ...["MIT-0", "MPL-2.0", "OFL-1.1", "Python-2.0", "Unlicense", "Zlib"],
]);

/**
 * Development packages with other licences, each with its use. They run only on a developer's
 * machine; none of their code is committed or shipped.
 */
const DEVELOPMENT: Readonly<Record<string, string>> = {
  "@across-protocol/contracts": "The local chains run its contracts.",
  "@pimlico/alto": "A bundler for tests, in a process of its own.",
  "@safe-global/safe-4337": "The local chains run its contracts.",
  "@safe-global/safe-contracts": "The local chains run its contracts.",
  "@uniswap/lib": "Comes with the contracts of Uniswap.",
  "@uniswap/swap-router-contracts": "The local chains run its contracts.",
  "@uniswap/v2-core": "Comes with the contracts of Uniswap.",
  "@uniswap/v3-core":
    "The local chains run its contracts. BUSL-1.1 became GPL on 1 April 2023.",
  "@uniswap/v3-periphery": "The local chains run its contracts.",
};

/**
 * A stub in `vendor` that `overrides` puts in the place of packages that nothing loads. The lock
 * file does not state its licence.
 */
const STUB = /\/vendor\/unused-sdk$/;
const SOLIDITY_IMPORT = /^import [^;]*"([^"]+)";/gm;
const CONTRACT_CODE = /0x[0-9a-fA-F]{2000}/;
const CODE_ORIGIN =
  /^\/\/ Creation code of (?:(\w+)\.sol, by solc \S+ \(scripts\/compile-contracts\.mjs\)|.*\bMIT\b)/;
const COMMITTED = /\.(?:ts|tsx|mjs|js|json|sol|css|sql|md)$/;
/** The tests of this file contain names of licences as text. */
const THIS = "scripts/licences.test.ts";

/**
 * The package has the MIT licence. This file has only one constant, and its licence line is a
 * leftover of a template.
 */
const OF_ITS_PACKAGE = "node_modules/@zk-kit/lean-imt.sol/Constants.sol";

interface Locked {
  readonly license?: string;
  /** The form in old packages, which lock files do not copy. */
  readonly licenses?: readonly { readonly type: string }[];
  /** True for a link to a folder of this repository. */
  readonly link?: boolean;
  readonly dev?: boolean;
}

/**
 * Whether the licence allows our use: of "(MIT OR GPL-3.0)" one has to be allowed, of "A AND B"
 * both.
 */
const isAllowed = (licence: string): boolean =>
  licence
    .replace(/^\((.*)\)$/, "$1")
    .split(" OR ")
    .some((choice) => choice.split(" AND ").every((one) => ALLOWED.has(one.trim())));

const { packages } = JSON.parse(readFileSync("package-lock.json", "utf8")) as {
  packages: Record<string, Locked>;
};
const installed = Object.entries(packages).filter(
  ([path, { link = false }]) => path.includes("node_modules/") && !link && !STUB.test(path),
);

const manifestOf = (path: string): Locked => {
  const file = join(path, "package.json");
  return existsSync(file) ? (JSON.parse(readFileSync(file, "utf8")) as Locked) : {};
};
const licenceOf = (path: string, { license }: Locked): string =>
  license ??
  manifestOf(path)
    .licenses?.map(({ type }) => type)
    .join(" OR ") ??
  "none";

const nameOf = (path: string): string =>
  path.slice(path.lastIndexOf("node_modules/") + "node_modules/".length);
const refused = (isDevelopment: boolean): string[] =>
  installed.flatMap(([path, locked]) =>
    (locked.dev ?? false) === isDevelopment && !isAllowed(licenceOf(path, locked))
      ? [nameOf(path)]
      : [],
  );

const committed = execFileSync("git", ["ls-files", "-co", "--exclude-standard"], {
  encoding: "utf8",
})
  .split("\n")
  .filter((file) => COMMITTED.test(file) && file !== THIS && existsSync(file));

const spdxOf = (text: string): string[] =>
  [...text.matchAll(/SPDX-License-Identifier: ([\w.+-]+)/g)].map(([, licence = ""]) => licence);

/**
 * Collects the licences of a Solidity file and of all files that it imports. A generated import
 * does not exist as a file and has no licence.
 */
const licencesBelow = (file: string, seen = new Set<string>()): string[] => {
  if (seen.has(file) || !existsSync(file) || file === OF_ITS_PACKAGE) return [];
  seen.add(file);
  const text = readFileSync(file, "utf8");
  const imports = [...text.matchAll(SOLIDITY_IMPORT)].map(([, path = ""]) =>
    path.startsWith(".") ? join(dirname(file), path) : join("node_modules", path),
  );
  return [
    spdxOf(text)[0] ?? `${file} has none`,
    ...imports.flatMap((path) => licencesBelow(path, seen)),
  ];
};

describe("packages", () => {
  test("a production install has no package under a licence that is not allowed", () => {
    expect(installed.length).toBeGreaterThan(500);
    expect(refused(false)).toEqual([]);
  });

  test("a development package under another licence has a reason, and every reason is needed", () => {
    expect([...new Set(refused(true))].sort()).toEqual(Object.keys(DEVELOPMENT).sort());
  });

  test.each([
    ["MIT", true],
    ["(MIT OR GPL-3.0)", true],
    ["MIT AND GPL-3.0", false],
    ["BUSL-1.1", false],
    ["none", false],
  ])("%s is judged", (licence, expected) => {
    expect(isAllowed(licence)).toBe(expected);
  });
});

describe("committed files", () => {
  test("no file names a licence that is not allowed", () => {
    const wrong = committed.filter((file) =>
      spdxOf(readFileSync(file, "utf8")).some((one) => !isAllowed(one)),
    );
    expect(wrong).toEqual([]);
  });

  test("contracts and all that they import are under allowed licences", () => {
    const contracts = committed.filter((file) => file.endsWith(".sol"));
    expect(contracts.length).toBeGreaterThan(10);
    expect(
      contracts.flatMap((file) => licencesBelow(file)).filter((licence) => !isAllowed(licence)),
    ).toEqual([]);
  });

  test("committed code of contracts is compiled from a committed source, or says where it is from and that it is MIT", () => {
    const files = committed.filter((file) => CONTRACT_CODE.test(readFileSync(file, "utf8")));
    expect(files.length).toBeGreaterThan(10);
    const unknown = files.filter((file) => !CODE_ORIGIN.test(readFileSync(file, "utf8")));
    expect(unknown).toEqual([]);
  });

  test("what stands in vendor is ours", () => {
    const manifests = committed.filter(
      (file) => file.startsWith("vendor/") && file.endsWith("package.json"),
    );
    expect(manifests).toEqual(["vendor/unused-sdk/package.json"]);
    const licences = manifests.map(
      (file) => (JSON.parse(readFileSync(file, "utf8")) as Locked).license ?? "none",
    );
    expect(licences.filter((licence) => !isAllowed(licence))).toEqual([]);
  });
});
