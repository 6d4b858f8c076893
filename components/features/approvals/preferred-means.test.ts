import { expect, test } from "vitest";
import { meansOf, preferredMeans } from "./preferred-means";

const ALL = { code: true, wallet: true, recovery: true };
const NOBODY = { hasPasskey: false, hasApp: false, hasAddress: false };

test("a person is offered the ways that they have and the service accepts", () => {
  const person = { hasPasskey: true, hasApp: true, hasAddress: true };
  expect(meansOf(person, ALL)).toEqual(["passkey", "code", "app", "wallet", "recovery"]);
  expect(meansOf(person, { code: false, wallet: false, recovery: false })).toEqual([
    "passkey",
    "app",
  ]);
  expect(meansOf(NOBODY, ALL)).toEqual(["wallet"]);
});

test("a passkey comes first, so that no code is mailed for it; then a code, the app and the wallet", () => {
  const isMailed = false;
  expect(preferredMeans({ options: ["passkey", "code", "app"], isMailed })).toBe("passkey");
  expect(preferredMeans({ options: ["code", "app", "wallet"], isMailed })).toBe("code");
  expect(preferredMeans({ options: ["app", "wallet"], isMailed })).toBe("app");
  expect(preferredMeans({ options: ["wallet"], isMailed })).toBe("wallet");
  expect(preferredMeans({ options: [], isMailed })).toBeNull();
});

test("a person to whom a code was mailed goes on with it, also with a passkey", () => {
  expect(preferredMeans({ options: ["passkey", "code"], isMailed: true })).toBe("code");
  expect(preferredMeans({ options: ["passkey"], isMailed: true })).toBe("passkey");
});
