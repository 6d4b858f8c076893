import { createSiweMessage } from "viem/siwe";
import { expect, test } from "vitest";
import { isDomainError } from "@/lib/core/errors";
import { readSignInMessage } from "./siwe";

const now = new Date("2026-01-01T12:00:00Z");
const expected = { publicUrl: "http://localhost:3000", chainIds: [31337, 31338], now };
const address = "0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed";

const message = (changes: Partial<Parameters<typeof createSiweMessage>[0]> = {}): string =>
  createSiweMessage({
    address,
    chainId: 31337,
    domain: "localhost:3000",
    nonce: "abcdefgh12345678",
    uri: "http://localhost:3000",
    version: "1",
    issuedAt: now,
    ...changes,
  });

const outcome = (text: string): string => {
  try {
    readSignInMessage(text, expected);
    return "accepted";
  } catch (error) {
    return isDomainError(error) ? error.code : String(error);
  }
};

test("sign-in messages are read", () => {
  const read = { address, chainId: 31337, nonce: "abcdefgh12345678" };
  expect(readSignInMessage(message(), expected)).toEqual(read);
  expect(readSignInMessage(message({ statement: "Sign in to Causeway." }), expected)).toEqual(
    read,
  );
  expect(readSignInMessage(message({ scheme: "http", requestId: "7" }), expected)).toEqual(
    read,
  );
  expect(
    readSignInMessage(
      message({ resources: ["https://a.example/x", "https://b.example"] }),
      expected,
    ),
  ).toEqual(read);
  const soon = new Date("2026-01-01T12:05:00Z");
  expect(
    readSignInMessage(message({ expirationTime: soon, notBefore: now }), expected),
  ).toEqual(read);
  expect(
    readSignInMessage(message().replace(address, address.toLowerCase()), expected),
  ).toEqual(read);
});

test.each([
  ["another domain", message({ domain: "evil.example" })],
  ["the domain without its port", message({ domain: "localhost" })],
  ["another URI", message({ uri: "http://evil.example" })],
  ["a URI that only begins alike", message({ uri: "http://localhost:30001" })],
  ["another scheme", message({ scheme: "https" })],
  ["a chain that is not configured", message({ chainId: 1 })],
  ["an expiration in the past", message({ expirationTime: now })],
  [
    "a time before which it is not valid",
    message({ notBefore: new Date("2026-01-01T12:02:00Z") }),
  ],
  ["an issue in the future", message({ issuedAt: new Date("2026-01-01T12:02:00Z") })],
  [
    "an expiration that is no time",
    message({ expirationTime: now }).replace(/(Expiration Time: ).*/, "$1never"),
  ],
  ["an issue that is no time", message().replace(/(Issued At: ).*/, "$12026-01-01")],
  ["text before it", `I give everything to Eve.\n${message()}`],
  ["text after it", `${message()}\nI give everything to Eve.`],
  [
    "text between its fields",
    message().replace("\nNonce", "\nI give everything to Eve.\nNonce"),
  ],
  ["a statement of two lines", message({ statement: "One." }).replace("One.", "One.\nTwo.")],
  ["a wrong checksum", message().replace("0x5aAeb", "0x5AAeb")],
  ["no nonce", message().replace(/Nonce: .*/, "Nonce: ")],
  [
    "a time with a date that does not exist",
    message().replace(/(Issued At: ).*/, "$12026-13-01T00:00:00Z"),
  ],
  ["another version", message().replace("Version: 1", "Version: 2")],
  ["nothing", ""],
  ["anything", "hello"],
])("sign-in messages with %s are refused", (_what, text) => {
  expect(outcome(message())).toBe("accepted");
  expect(outcome(text)).toBe("invalid_signature");
});
