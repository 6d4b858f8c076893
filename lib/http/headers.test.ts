import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { STYLE_HASHES } from "./headers";

const hashOf = (text: string): string =>
  `'sha256-${createHash("sha256").update(text).digest("base64")}'`;

test("the allowed styles without a nonce are the installed sonner's, and the empty one", () => {
  const folder = dirname(createRequire(import.meta.url).resolve("sonner"));
  const source = readFileSync(join(folder, "index.mjs"), "utf8");
  const css = /^__insertCSS\((".*")\);?$/m.exec(source)?.[1];
  expect(STYLE_HASHES).toEqual([hashOf(JSON.parse(css ?? "null") as string), hashOf("")]);
});
