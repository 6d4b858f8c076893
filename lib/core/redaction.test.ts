import { BaseError, createPublicClient, HttpRequestError, http } from "viem";
import { expect, test } from "vitest";
import { DomainError } from "./errors";
import { protectSecrets, redactSecrets } from "./redaction";

test.each([
  ["https://user:swordfish@rpc.example.org/", "https://[redacted]@rpc.example.org/"],
  ["wss://eth.example.org/v2/abcDEF123456ghiJKL", "wss://eth.example.org/v2/[redacted]"],
  ["https://rpc.example.org/?apikey=abc", "https://rpc.example.org/?[redacted]"],
  ["https://rpc.example.org/rpc#abc", "https://rpc.example.org/rpc?[redacted]"],
  ["postgres://app:swordfish@db:5432/causeway", "postgres://[redacted]@db:5432/causeway"],
  ["smtps://app:p%40ss@mail.example.org:465", "smtps://[redacted]@mail.example.org:465"],
])("%s is written as %s", (url, written) => {
  expect(redactSecrets(`URL: ${url}`)).toBe(`URL: ${written}`);
  expect(redactSecrets(JSON.stringify({ url }))).toBe(JSON.stringify({ url: written }));
});

test("text without secrets stays as it is", () => {
  const text =
    "Docs: https://viem.sh/docs/contract/readContract (http://127.0.0.1:8545/) at /srv/app/node_modules/x.js";
  expect(redactSecrets(text)).toBe(text);
});

test("secrets of the configuration are found wherever they occur, in each of their forms", () => {
  protectSecrets({
    values: ["correct horse/battery"],
    urls: [
      "https://lb.example.org/ogws/live/short9key?token=qwe%2Frty",
      "postgres://app:sword%23fish@db/causeway",
    ],
  });
  const forms = [
    "correct horse/battery",
    "correct%20horse%2Fbattery",
    "short9key",
    "SHORT9KEY",
    "qwe/rty",
    "sword#fish",
  ];
  for (const form of forms)
    expect(redactSecrets(`node said "${form}"`)).toBe('node said "[redacted]"');
  expect(
    redactSecrets("https://lb.example.org/ogws/live/short9key?token=qwe%2Frty failed"),
  ).toBe("https://lb.example.org/[redacted] failed");
  expect(redactSecrets("the database causeway")).toBe("the database causeway");
});

test("an error that quotes a node's URL shows it neither in its message nor in what viem says beside it", async () => {
  const url = "http://127.0.0.1:9/v2/the-key-of-the-operator-1234";
  const error: unknown = await createPublicClient({ transport: http(url, { retryCount: 0 }) })
    .getBlockNumber()
    .catch((reason: unknown) => reason);
  if (!(error instanceof BaseError)) throw new Error("viem threw something else");
  const { message, details, shortMessage } = error;
  expect(message).toContain("the-key-of-the-operator-1234");
  expect(error).toBeInstanceOf(HttpRequestError);
  for (const text of [message, details, shortMessage, error.stack ?? ""])
    expect(redactSecrets(text)).not.toContain("the-key-of-the-operator-1234");
  expect(new DomainError("provider_error", message).message).not.toContain(
    "the-key-of-the-operator-1234",
  );
});
