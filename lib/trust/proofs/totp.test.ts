import { expect, test } from "vitest";
import { base32, matchingStep, stepAt, totpCode, totpUri } from "./totp";

/**
 * RFC 6238, appendix B: the secret of the test vectors for SHA-1. The vectors have 8 digits. Our
 * codes have 6, so the tests use the last 6 digits of each vector.
 */
const SECRET = Buffer.from("12345678901234567890");

test.each([
  [59, "287082"],
  [1_111_111_109, "081804"],
  [1_111_111_111, "050471"],
  [1_234_567_890, "005924"],
  [2_000_000_000, "279037"],
  [20_000_000_000, "353130"],
])("the code at %i s is that of RFC 6238", (seconds, code) => {
  expect(totpCode(SECRET, stepAt(new Date(seconds * 1000)))).toBe(code);
});

test("a code counts in its own step, the one before and the one after, and no further", () => {
  const step = 40_000_000;
  const at = (steps: number) => new Date((step + steps) * 30_000);
  const code = totpCode(SECRET, step);
  expect([-2, -1, 0, 1, 2].map((steps) => matchingStep(SECRET, code, at(steps)))).toEqual([
    null,
    step,
    step,
    step,
    null,
  ]);
  expect(matchingStep(SECRET, "", at(0))).toBeNull();
});

test.each([
  ["", ""],
  ["f", "MY"],
  ["fo", "MZXQ"],
  ["foo", "MZXW6"],
  ["foob", "MZXW6YQ"],
  ["fooba", "MZXW6YTB"],
  ["foobar", "MZXW6YTBOI"],
])("the base32 of %j is that of RFC 4648", (text, expected) => {
  expect(base32(Buffer.from(text))).toBe(expected);
});

test("the link names issuer, account and parameters", () => {
  expect(totpUri(SECRET, "0xAb", "Causeway (pay.example)")).toBe(
    "otpauth://totp/Causeway%20(pay.example):0xAb?secret=GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ&issuer=Causeway%20(pay.example)&algorithm=SHA1&digits=6&period=30",
  );
});
