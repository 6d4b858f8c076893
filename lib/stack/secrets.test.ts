import { mkdtempSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { developmentSecrets } from "./secrets";

const folder = mkdtempSync(join(tmpdir(), "causeway-secrets-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

test("secrets are made once, marked as development's, and readable by their owner alone", () => {
  const file = join(folder, "once.json");
  const first = developmentSecrets(file, {});
  expect(developmentSecrets(file, {})).toEqual(first);
  expect(Object.values(first).every((value) => value.startsWith("dev_"))).toBe(true);
  expect(new Set(Object.values(first)).size).toBe(Object.keys(first).length);
  expect(statSync(file).mode & 0o777).toBe(0o600);
});

test("the environment wins over what is stored, and is not stored", () => {
  const file = join(folder, "environment.json");
  const stored = developmentSecrets(file, {});
  const own = developmentSecrets(file, { APP_SECRET: "mine" });
  expect(own).toEqual({ ...stored, APP_SECRET: "mine" });
  expect(developmentSecrets(file, {})).toEqual(stored);
});

test("a damaged file is refused, because new keys could not open old wallets", () => {
  const file = join(folder, "damaged.json");
  writeFileSync(file, "{");
  expect(() => developmentSecrets(file, {})).toThrow("cannot be read");
});
