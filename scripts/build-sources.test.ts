import { readFileSync } from "node:fs";
import { join, normalize } from "node:path";
import { expect, test } from "vitest";
import { isBuildSource } from "./build-sources.mjs";

test("what the build generates is no source of it, so that a start does not build twice", () => {
  const [, output = ""] =
    /^\s*output\s*=\s*"([^"]+)"/m.exec(readFileSync("prisma/schema.prisma", "utf8")) ?? [];
  expect(output).not.toBe("");
  const client = normalize(join("prisma", output));
  for (const path of [client, join(client, "client.ts"), "lib/routes.gen.ts"])
    expect(isBuildSource(path), path).toBe(false);
});

test("helpers of tests are no source of the build, and the service's own files are", () => {
  expect(isBuildSource("lib/dev/testing/devnet.ts")).toBe(false);
  expect(isBuildSource("lib/money/operations/outcome.test.ts")).toBe(false);
  for (const path of [
    "lib/platform/db/client.ts",
    "lib/dev/devnet/anvil-process.ts",
    "app/page.tsx",
  ])
    expect(isBuildSource(path), path).toBe(true);
});
