import { randomBytes } from "node:crypto";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { base62, createSecrets, fromBase62 } from "./service";

const APP_SECRET = "dev_0123456789abcdef0123456789abcdef";

describe("secrets", () => {
  test("base62 keeps every byte", () => {
    fc.assert(
      fc.property(fc.uint8Array({ minLength: 1, maxLength: 80 }), (bytes) => {
        const text = base62(bytes);
        expect(text).toMatch(/^[0-9A-Za-z]+$/);
        expect(fromBase62(text, bytes.length)).toEqual(Buffer.from(bytes));
      }),
    );
  });

  test("base62 of other length, other characters or too large a number is refused", () => {
    const text = base62(randomBytes(32));
    expect(fromBase62(text.slice(1), 32)).toBeNull();
    expect(fromBase62(`-${text.slice(1)}`, 32)).toBeNull();
    expect(fromBase62("z".repeat(43), 32)).toBeNull();
  });

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

  test("what was hashed under the previous application secret still matches, and nothing else does", () => {
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
});
