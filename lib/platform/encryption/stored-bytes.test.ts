/**
 * Bytes stored by earlier versions can still be decrypted. The code that made them had three kinds
 * of envelopes, which are one now.
 */
import { createHash } from "node:crypto";
import { expect, test } from "vitest";
import { createEnvelopes, createKeyring } from "./service";
import { openText, sealText } from "./aes-gcm";

const bytes = (text: string): Buffer => Buffer.from(text, "base64");
const KEY_ID = "kek_efb098ff7f4b580d";
const keyring = createKeyring([
  createHash("sha256").update("a key-encryption key of a test").digest(),
]);

test("a value under a key-encryption key opens", () => {
  const sealed = {
    kekId: KEY_ID,
    bytes: bytes("2C1SzMTV7UK4kvlKc27O9hyVl2gOdFIWpCeecKffrqdavxU="),
  };
  expect(keyring.open(sealed, "context").toString()).toBe("content");
  expect(() => keyring.open(sealed, "other")).toThrow("cannot be decrypted");
});

test("a secret with a data key of its own opens", () => {
  const envelope = {
    ciphertext: bytes("wvRZyuSJ+q7H8xbTy1hZHJyWepCz0UzPB2lgj1xO8kmdCcs="),
    wrappedDataKey: bytes(
      "xGjxK8VElZ5hPrKAdfDeIHYZm9zN0IhhEUil7GinMBx99dmX0qzb8rjstMfTQDyxXrIKS99WHMOf86lB",
    ),
    kekId: KEY_ID,
  };
  expect(createEnvelopes(keyring).open(envelope, "context").toString()).toBe("content");
});

const OLD = "old_0123456789abcdef0123456789abcdef";
const NEW = "new_0123456789abcdef0123456789abcdef";
const PARTS = ["idempotency", "prj_one", "usr_one", "POST /things", "key-1"];
const STORED = "FT8HejoFIqFVKdLC+VkXv+OZ+Ml6SABgPLG9oItALshtMK2CtiW+pbr7uD81uHOjOTc=";

test("a stored answer opens under the current and under the previous application secret", () => {
  expect(openText([OLD], PARTS, STORED)).toBe('{"value":"shown once"}');
  expect(openText([NEW, OLD], PARTS, STORED)).toBe('{"value":"shown once"}');
  expect(openText([NEW], PARTS, STORED)).toBeNull();
  expect(openText([OLD], [...PARTS.slice(0, -1), "key-2"], STORED)).toBeNull();
});

test("a stored answer is encrypted under the current application secret", () => {
  const sealed = sealText([NEW, OLD], PARTS, "ä");
  expect(openText([NEW], PARTS, sealed)).toBe("ä");
  expect(openText([OLD], PARTS, sealed)).toBeNull();
});
