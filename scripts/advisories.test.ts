import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { compareVersions, findAffected, packagesOf, readAdvisories } from "./advisories.mjs";

const folder = await mkdtemp(join(tmpdir(), "advisories-"));
afterAll(() => rm(folder, { recursive: true }));

const ADVISORY = {
  id: "GHSA-test",
  summary: "Reads files of others",
  affected: [
    {
      package: { ecosystem: "npm", name: "@ada/reader" },
      ranges: [
        {
          type: "SEMVER",
          events: [
            { introduced: "0" },
            { fixed: "1.2.3" },
            { introduced: "2.0.0-0" },
            { last_affected: "2.1.0" },
          ],
        },
      ],
    },
  ],
};
const idsAt = (version: string, advisory: object = ADVISORY, name = "@ada/reader"): string[] =>
  findAffected([{ name, version }], [advisory]).map(({ id }) => id);

test.each(["0.0.1", "1.2.2", "1.2.3-rc.1", "2.0.0-beta.2", "2.1.0"])(
  "%s is affected",
  (version) => {
    expect(idsAt(version)).toEqual(["GHSA-test"]);
  },
);

test.each(["1.2.3", "1.10.0", "2.1.1", "3.0.0"])("%s is not affected", (version) => {
  expect(idsAt(version)).toEqual([]);
});

test("another package, another ecosystem and a withdrawn advisory do not count", () => {
  expect(idsAt("1.0.0", ADVISORY, "reader")).toEqual([]);
  expect(idsAt("1.0.0", { ...ADVISORY, withdrawn: "2026-01-01T00:00:00Z" })).toEqual([]);
  const affected = [
    { package: { ecosystem: "PyPI", name: "@ada/reader" }, versions: ["1.0.0"] },
  ];
  expect(idsAt("1.0.0", { ...ADVISORY, affected })).toEqual([]);
});

test("a version that the advisory lists counts without a range", () => {
  const affected = [
    { package: { ecosystem: "npm", name: "@ada/reader" }, versions: ["9.0.0"] },
  ];
  expect(idsAt("9.0.0", { ...ADVISORY, affected })).toEqual(["GHSA-test"]);
});

test("versions are ordered as SemVer 2.0 says", () => {
  const ordered = [
    "1.0.0-alpha",
    "1.0.0-alpha.1",
    "1.0.0-alpha.beta",
    "1.0.0-beta.2",
    "1.0.0-beta.11",
    "1.0.0",
    "1.10.0",
  ];
  expect([...ordered].reverse().sort(compareVersions)).toEqual(ordered);
  expect(compareVersions("1.0.0+one", "1.0.0+two")).toBe(0);
});

test("packages are read at every depth, under the name that an alias stands for", () => {
  const packages = {
    "": { name: "causeway", version: "1.0.0" },
    "node_modules/@ada/reader": { version: "1.0.0" },
    "node_modules/a/node_modules/b": { version: "2.0.0" },
    "node_modules/alias": { name: "real", version: "3.0.0" },
    "node_modules/linked": { link: true, version: "1.0.0" },
  };
  expect(packagesOf({ packages }).map(({ name, version }) => `${name}@${version}`)).toEqual([
    "@ada/reader@1.0.0",
    "b@2.0.0",
    "real@3.0.0",
  ]);
});

test("a folder is read, and an empty one is an error", async () => {
  await expect(readAdvisories(folder)).rejects.toThrow("holds no advisory");
  await writeFile(join(folder, "GHSA-test.json"), JSON.stringify(ADVISORY));
  expect(await readAdvisories(folder)).toEqual([ADVISORY]);
});
