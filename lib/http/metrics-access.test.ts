import { describe, expect, test } from "vitest";
import { requireMetricsAccess } from "./metrics-access";

const TOKEN = "a-token-for-the-metrics";
const ask = (token: string | null, peerAddress: string, headers: Readonly<Record<string, string>> = {}): string => {
  try {
    requireMetricsAccess({ token, peerAddress, header: (name) => headers[name] ?? null });
    return "allowed";
  } catch (error) {
    return (error as { code: string }).code;
  }
};

describe("metrics with a token", () => {
  test.each([
    ["the token", { authorization: `Bearer ${TOKEN}` }, "allowed"],
    ["another token", { authorization: `Bearer ${TOKEN}x` }, "unauthorized"],
    ["a part of it", { authorization: `Bearer ${TOKEN.slice(1)}` }, "unauthorized"],
    ["another scheme", { authorization: `Basic ${TOKEN}` }, "unauthorized"],
    ["nothing", {}, "unauthorized"],
  ] as const)("with %s", (_, headers, expected) => {
    expect(ask(TOKEN, "203.0.113.7", headers)).toBe(expected);
    expect(ask(TOKEN, "127.0.0.1", headers)).toBe(expected);
  });
});

describe("metrics without a token", () => {
  test.each([
    ["127.0.0.1", {}, "allowed"],
    ["::1", {}, "allowed"],
    ["::ffff:127.0.0.1", {}, "allowed"],
    ["10.0.0.2", {}, "not_found"],
    ["203.0.113.7", {}, "not_found"],
    ["", {}, "not_found"],
    ["127.0.0.1", { "x-forwarded-for": "127.0.0.1" }, "not_found"],
    ["127.0.0.1", { forwarded: "for=192.0.2.1" }, "not_found"],
    ["127.0.0.1", { via: "1.1 proxy" }, "not_found"],
    ["203.0.113.7", { authorization: "Bearer null" }, "not_found"],
  ] as const)("from %s with %j", (address, headers, expected) => {
    expect(ask(null, address, headers)).toBe(expected);
  });
});
