import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, expect, test } from "vitest";
import { listBuildFiles } from "../../scripts/build-files.mjs";
import { requireWholeBuild } from "./whole-build";

const folders: string[] = [];
afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true });
});

/** A project folder with a complete build. */
const built = (): string => {
  const root = mkdtempSync(join(tmpdir(), "cw-build-"));
  folders.push(root);
  for (const folder of [
    ".next/server/app",
    ".next/node_modules",
    ".next/cache",
    "dist",
    "node_modules/jose",
  ])
    mkdirSync(join(root, folder), { recursive: true });
  for (const file of [
    ".next/BUILD_ID",
    ".next/server/app/page.js",
    ".next/cache/kept",
    "dist/pages.js",
  ])
    writeFileSync(join(root, file), "x");
  symlinkSync("../../node_modules/jose", join(root, ".next/node_modules/jose-1a2b"));
  listBuildFiles(root);
  return root;
};

const refusal = (root: string): string => {
  try {
    requireWholeBuild(root);
    return "";
  } catch (error) {
    return (error as Error).message;
  }
};

test("a whole build starts, also without what only the next build reads", () => {
  const root = built();
  rmSync(join(root, ".next/cache"), { recursive: true });
  expect(refusal(root)).toBe("");
});

test.each([
  [
    "a copy without node_modules folders",
    ".next/node_modules",
    "the build is incomplete: .next/node_modules/jose-1a2b is missing",
  ],
  [
    "a page's file",
    ".next/server/app/page.js",
    "the build is incomplete: .next/server/app/page.js is missing",
  ],
  [
    "the script of the pages",
    "dist/pages.js",
    "the build is incomplete: dist/pages.js is missing",
  ],
  [
    "the package of a link",
    "node_modules/jose",
    "packages that the build links to are not installed: .next/node_modules/jose-1a2b is missing",
  ],
  [
    "the list of its files",
    "dist/build-files.json",
    "the build was not finished: dist/build-files.json cannot be read",
  ],
])("the start refuses a build that lacks %s, with the reason", (_, path, reason) => {
  const root = built();
  rmSync(join(root, path), { recursive: true });
  expect(refusal(root)).toBe(reason);
});

test("the first missing files are named, and the others counted", () => {
  const root = built();
  for (const name of ["a", "b"]) writeFileSync(join(root, ".next/server", `${name}.js`), "x");
  listBuildFiles(root);
  rmSync(join(root, ".next"), { recursive: true });
  expect(refusal(root)).toBe(
    "the build is incomplete: .next/BUILD_ID, .next/node_modules/jose-1a2b, .next/server/a.js and 2 more are missing",
  );
});
