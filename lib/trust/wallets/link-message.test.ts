import { parseSiweMessage } from "viem/siwe";
import { expect, test } from "vitest";
import { linkMessage, readLinkMessage } from "./links";

const address = "0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed";
const person = "0xfB6916095ca1df60bB79Ce92cE3Ea74c37c5d359";

const message = (name: string): string =>
  linkMessage({
    address,
    person,
    chainId: 31338,
    publicUrl: "https://pay.example:8443",
    nonce: "abcdefgh12345678",
    project: { id: "prj_1", name },
    issuedAt: new Date("2026-01-01T12:00:00Z"),
    expiresAt: new Date("2026-01-01T12:10:00Z"),
  });

test("messages that link a wallet say where, to whose account, until when, and that nothing is sent", () => {
  expect(message("Shop")).toBe(
    [
      "pay.example:8443 wants you to sign in with your Ethereum account:",
      address,
      "",
      `Link this wallet to the project Shop in the Causeway account of ${person}. This makes no transaction and costs nothing.`,
      "",
      "URI: https://pay.example:8443",
      "Version: 1",
      "Chain ID: 31338",
      "Nonce: abcdefgh12345678",
      "Issued At: 2026-01-01T12:00:00.000Z",
      "Expiration Time: 2026-01-01T12:10:00.000Z",
    ].join("\n"),
  );
  expect(readLinkMessage(message("Shop"))).toEqual({
    chainId: 31338,
    domain: "pay.example:8443",
  });
});

test.each([
  ["Shop\n\nURI: https://evil.example", "Shop URI: https://evil.example"],
  ['Ünï "code" 店', "n code"],
  ["店", "prj_1"],
  ["a".repeat(200), "a".repeat(60)],
])(
  "messages that link a wallet keep a project's name %j from saying anything else",
  (name, shown) => {
    const { statement, uri } = parseSiweMessage(message(name));
    expect(statement).toContain(
      `to the project ${shown} in the Causeway account of ${person}.`,
    );
    expect(uri).toBe("https://pay.example:8443");
    expect(message(name).split("\n")).toHaveLength(11);
  },
);
