import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { contracts } from "@/lib/contracts/all";
import { SCOPES } from "@/lib/contracts/contract";
import { ERROR_CODES } from "@/lib/core/errors";

/** Matches files that only list or describe codes. */
const LISTS = /^lib\/(contracts\/|core\/errors\.ts|http\/(problem|error-guide|openapi)[^/]*$)/;
const NOT_CODE =
  /\.test\.tsx?$|^lib\/(dev\/testing|platform\/db\/generated|\w+\/ports\/fakes)\//;

/** The text of every file that may create an error. */
const sources = (): string =>
  ["lib", "app/api"]
    .flatMap((folder) =>
      readdirSync(folder, { recursive: true, encoding: "utf8" }).map((name) =>
        join(folder, name),
      ),
    )
    .filter((file) => file.endsWith(".ts") && !NOT_CODE.test(file) && !LISTS.test(file))
    .map((file) => readFileSync(file, "utf8"))
    .join("\n");

test("every error code that the API documents is used by code that makes an error", () => {
  const text = sources();
  expect(ERROR_CODES.filter((code) => !text.includes(`"${code}"`))).toEqual([]);
});

test("every scope of API keys is required by a route", () => {
  const required = new Set(contracts.flatMap(({ scope = [] }) => scope));
  expect(SCOPES.filter((scope) => !required.has(scope))).toEqual([]);
});
