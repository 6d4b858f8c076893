import { randomBytes } from "node:crypto";
import { describe, expect, test } from "vitest";
import { createEnvelopes, createKeyring, keyIdOf } from "./service";

const CONTEXT = "context";
const content = Buffer.from("content");
const flip = (bytes: Uint8Array): Buffer => {
  const changed = Buffer.from(bytes);
  changed[15] = (changed[15] ?? 0) ^ 1;
  return changed;
};

describe("a keyring", () => {
  const [older, newer] = [randomBytes(32), randomBytes(32)];
  const before = createKeyring([older]);
  const during = createKeyring([newer, older]);

  test("opens with the same key and context alone, and not after a change", () => {
    const sealed = before.seal(content, CONTEXT);
    expect(before.open(sealed, CONTEXT)).toEqual(content);
    expect(() => before.open(sealed, "other")).toThrow("cannot be decrypted");
    expect(() => before.open({ ...sealed, bytes: flip(sealed.bytes) }, CONTEXT)).toThrow(
      "cannot be decrypted",
    );
  });

  test("encrypts under its first key, and decrypts what the others encrypted", () => {
    expect(during.open(before.seal(content, CONTEXT), CONTEXT)).toEqual(content);
    expect(during.seal(content, CONTEXT).kekId).toBe(keyIdOf(newer));
    expect(() => before.open(during.seal(content, CONTEXT), CONTEXT)).toThrow(
      `The key-encryption key ${keyIdOf(newer)} is not configured.`,
    );
  });

  test("names keys in a way that tells nothing about them", () => {
    expect(keyIdOf(older)).toMatch(/^kek_[0-9a-f]{16}$/);
    expect(older.toString("hex")).not.toContain(keyIdOf(older).slice(4));
    expect(keyIdOf(Buffer.from(older))).toBe(keyIdOf(older));
  });

  test("refuses a key of another length", () => {
    expect(() => createKeyring([randomBytes(16)])).toThrow("32 bytes");
  });

  test("gives each secret a data key of its own", () => {
    const envelopes = createEnvelopes(during);
    const [one, other] = [envelopes.close(content, CONTEXT), envelopes.close(content, CONTEXT)];
    expect(envelopes.open(one, CONTEXT)).toEqual(content);
    expect(() => envelopes.open({ ...one, ciphertext: other.ciphertext }, CONTEXT)).toThrow();
    expect(() => envelopes.open(one, "other")).toThrow("cannot be decrypted");
  });
});
