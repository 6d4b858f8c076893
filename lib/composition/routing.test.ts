import { readdirSync, readFileSync } from "node:fs";
import { expect, test } from "vitest";

const source = readFileSync("lib/composition/routing.ts", "utf8");
const [, providers = ""] = /configuredProviders = .*=> \[([^\]]*)\];/.exec(source) ?? [];
/** The adapter folders of the configured providers. */
const adapters = [...providers.matchAll(/\bcreate\w+/g)].map(([name]) => {
  const [, folder = ""] =
    new RegExp(`import { ${name} } from "@/(lib/adapters/[^/"]+)/`).exec(source) ?? [];
  return folder;
});

test("every configured routing provider passes the contract of its port", () => {
  expect(adapters.length).toBeGreaterThan(0);
  const tested = (folder: string): boolean =>
    readdirSync(folder)
      .filter((file) => file.endsWith(".test.ts"))
      .some((file) => /\broutingContract\(/.test(readFileSync(`${folder}/${file}`, "utf8")));
  expect(adapters.filter((folder) => !tested(folder))).toEqual([]);
});
