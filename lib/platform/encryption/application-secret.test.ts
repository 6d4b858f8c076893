import { expect, test } from "vitest";
import { createSecrets } from "./application-secret";

const APP_SECRET = "dev_0123456789abcdef0123456789abcdef";

test("hashes differ by purpose, by text and by application secret", () => {
  const secrets = createSecrets(APP_SECRET);
  const one = secrets.hash("a", "x");
  expect(secrets.equals(one, createSecrets(APP_SECRET).hash("a", "x"))).toBe(true);
  expect(secrets.equals(one, secrets.hash("b", "x"))).toBe(false);
  expect(secrets.equals(one, secrets.hash("a", "y"))).toBe(false);
  expect(secrets.equals(one, createSecrets(`${APP_SECRET}x`).hash("a", "x"))).toBe(false);
  expect(secrets.equals(one, one.subarray(1))).toBe(false);
});

test("codes have six digits, leading zeros included, and tokens 43 characters after the prefix", () => {
  const secrets = createSecrets(APP_SECRET);
  for (let i = 0; i < 500; i++) expect(secrets.code()).toMatch(/^\d{6}$/);
  expect(secrets.token("cw_")).toMatch(/^cw_[0-9A-Za-z]{43}$/);
});

test("text that was hashed under the previous application secret still matches, and nothing else does", () => {
  const other = `${APP_SECRET}x`;
  const before = createSecrets(APP_SECRET).hash("a", "x");
  const during = createSecrets(other, APP_SECRET);
  expect(during.matches("a", "x", before)).toBe(true);
  expect(during.matches("a", "x", during.hash("a", "x"))).toBe(true);
  expect(during.hash("a", "x")).toEqual(createSecrets(other).hash("a", "x"));
  expect(during.matches("b", "x", before)).toBe(false);
  expect(createSecrets(other).matches("a", "x", before)).toBe(false);
  expect(during.id).toBe(createSecrets(other).id);
  expect(during.id).not.toBe(createSecrets(APP_SECRET).id);
});

test("ids, hashes and derived keys do not change between versions, so stored hashes stay valid", () => {
  const secrets = createSecrets("old_0123456789abcdef0123456789abcdef");
  expect(secrets.id).toBe("08335cb7c4b92820");
  expect(secrets.hash("api-key", "text").toString("base64")).toBe(
    "agnxsynQvTpNNGcwvlJ/qHapUD7Zu8G/Y0vEgUGcZaQ=",
  );
  expect(secrets.derive("x")[0].toString("base64")).toBe(
    "XNwOnHU9m+zJHyC8J/Cyhv2975fzEE1EVwA2SAly7sk=",
  );
});
