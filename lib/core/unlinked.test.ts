import { describe, expect, test } from "vitest";
import { unlinked } from "./unlinked";

const OWN = "https://pay.example.com";
const plain = (text: string): string => unlinked(text, OWN);
/** As mail programs find links: a scheme, `www.`, or a domain. */
const LINK = /\w+:\/\/\S+|www\.[a-z0-9]\S*|[a-z0-9-]+\.[a-z]{2,}/i;

describe("a mail", () => {
  test.each([
    'in the project "evil.com"',
    "verify at https://evil.com/login",
    "see www.evil.com",
    "To: bücher.example",
    "From eve@evil.com",
    "https://pay.example.com.evil.com/login",
    "https://pay.example.com@evil.com/",
    "https://pay.example.com:8443/login",
    "http://pay.example.com/inbox",
  ])("makes no link of %j", (text) => {
    expect(plain(text)).not.toMatch(LINK);
    expect(plain(text).replaceAll("\u2060", "")).toBe(text);
  });

  test.each([
    "https://pay.example.com/join#AbC123",
    "Open https://pay.example.com/settings#sessions. It stops within a second.",
    "at https://pay.example.com:",
    "asks: https://pay.example.com",
    "Pay 12.5 USDC at 2026-01-01T00:00:00.000Z, v1.2.3, 10.0.0.1",
    "One sentence. Another one.",
  ])("leaves %j as it is", (text) => {
    expect(plain(text)).toBe(text);
  });
});
