import { describe, expect, test } from "vitest";
import { isOperator, requireMetricsAccess } from "./own-host";

const TOKEN = "a-token-for-the-metrics";
type Headers = Readonly<Record<string, string>>;

const asking = (token: string | null, peerAddress: string, headers: Headers) => ({
  token,
  publicUrl: "https://pay.example.org",
  peerAddress,
  header: (name: string) => ({ host: "localhost:3000", ...headers })[name] ?? null,
});

const ask = (token: string | null, peerAddress: string, headers: Headers = {}): string => {
  try {
    requireMetricsAccess(asking(token, peerAddress, headers));
    return "allowed";
  } catch (error) {
    return (error as { code: string }).code;
  }
};

const TOKENS = [
  ["the token", { authorization: `Bearer ${TOKEN}` }, "allowed"],
  ["another token", { authorization: `Bearer ${TOKEN}x` }, "unauthorized"],
  ["a part of it", { authorization: `Bearer ${TOKEN.slice(1)}` }, "unauthorized"],
  ["another scheme", { authorization: `Basic ${TOKEN}` }, "unauthorized"],
  ["nothing", {}, "unauthorized"],
] as const;

const CALLERS = [
  ["127.0.0.1", {}, "allowed"],
  ["::1", {}, "allowed"],
  ["::ffff:127.0.0.1", {}, "allowed"],
  ["127.0.0.1", { host: "pay.example.org" }, "allowed"],
  ["127.0.0.1", { host: "rebound.evil.example:3000" }, "forbidden"],
  ["10.0.0.2", {}, "not_found"],
  ["203.0.113.7", {}, "not_found"],
  ["", {}, "not_found"],
  ["127.0.0.1", { "x-forwarded-for": "127.0.0.1" }, "not_found"],
  ["127.0.0.1", { "x-real-ip": "127.0.0.1" }, "not_found"],
  ["127.0.0.1", { forwarded: "for=192.0.2.1" }, "not_found"],
  ["127.0.0.1", { via: "1.1 proxy" }, "not_found"],
  ["203.0.113.7", { authorization: "Bearer null" }, "not_found"],
] as const;

describe("metrics with a token", () => {
  test.each(TOKENS)("with %s", (_, headers, expected) => {
    expect(ask(TOKEN, "203.0.113.7", headers)).toBe(expected);
    expect(ask(TOKEN, "127.0.0.1", headers)).toBe(expected);
  });
});

describe("metrics without a token", () => {
  test.each(CALLERS)("from %s with %j", (address, headers, expected) => {
    expect(ask(null, address, headers)).toBe(expected);
  });
});

describe("an operator, who sees the parts of the service", () => {
  test.each(TOKENS)("from another machine with %s", (_, headers, expected) => {
    expect(isOperator(asking(TOKEN, "203.0.113.7", headers))).toBe(expected === "allowed");
  });

  test.each(CALLERS)(
    "from %s with %j, with or without a configured token",
    (address, headers, expected) => {
      for (const token of [null, TOKEN])
        expect(isOperator(asking(token, address, headers))).toBe(expected === "allowed");
    },
  );
});
