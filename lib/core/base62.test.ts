import fc from "fast-check";
import { expect, test } from "vitest";
import { base62, fromBase62 } from "./base62";

test("base62 keeps every byte", () => {
  fc.assert(
    fc.property(fc.uint8Array({ minLength: 1, maxLength: 80 }), (bytes) => {
      const text = base62(bytes);
      expect(text).toMatch(/^[0-9A-Za-z]+$/);
      expect(fromBase62(text, bytes.length)).toEqual(Uint8Array.from(bytes));
    }),
  );
});

test("base62 of other length, other characters or too large a number is refused", () => {
  const text = base62(crypto.getRandomValues(new Uint8Array(32)));
  expect(text).toHaveLength(43);
  expect(fromBase62(text.slice(1), 32)).toBeNull();
  expect(fromBase62(`-${text.slice(1)}`, 32)).toBeNull();
  expect(fromBase62("z".repeat(43), 32)).toBeNull();
});
