import { expect, test } from "vitest";
import { addressRange, deviceOf, isKnownOrigin } from "./device";

const CHROME =
  "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Safari/537.36";
const SAFARI =
  "Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) AppleWebKit/605.1 Version/18.0 Safari/604.1";

test.each([
  [CHROME, "Chrome on Linux"],
  [SAFARI, "Safari on iPhone"],
  [
    "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 Chrome/140.0 Safari/537.36 Edg/140.0",
    "Edge on Windows",
  ],
  [
    "Mozilla/5.0 (Macintosh; Intel Mac OS X 15.0; rv:143.0) Gecko/20100101 Firefox/143.0",
    "Firefox on macOS",
  ],
  ["curl/8.5.0", "curl"],
  ["payroll-backend/2.1 (node)", "payroll-backend"],
  ["<script>alert(1)</script>", "Unknown device"],
  [null, "Unknown device"],
])("the device of %s is %s", (userAgent, words) => {
  expect(deviceOf(userAgent)).toBe(words);
});

test("the range of an address is its /24 or /48", () => {
  expect(addressRange("203.0.113.9")).toBe("203.0.113.0/24");
  expect(addressRange("::ffff:203.0.113.9")).toBe("203.0.113.0/24");
  expect(addressRange("2001:db8:1::5")).toBe("2001:db8:1::/48");
  expect(addressRange("2001:db8::1")).toBe("2001:db8:0::/48");
});

test("a sign-in is known by its device and address range, and not by one of them", () => {
  const earlier = [{ userAgent: CHROME, clientAddress: "203.0.113.9" }];
  const known = (userAgent: string, clientAddress: string | null) =>
    isKnownOrigin({ userAgent, clientAddress }, earlier);
  expect(known(CHROME.replace("140", "141"), "203.0.113.77")).toBe(true);
  expect(known(CHROME, "198.51.100.1")).toBe(false);
  expect(known(SAFARI, "203.0.113.9")).toBe(false);
  expect(known(CHROME, null)).toBe(true);
});
