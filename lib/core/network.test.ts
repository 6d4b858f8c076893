import { expect, test } from "vitest";
import { plainNetwork } from "./network";
import { networkMatcher } from "./network-matcher";

test.each([
  ["203.0.113.7", "203.0.113.7/32"],
  [" 10.0.0.0/8 ", "10.0.0.0/8"],
  ["0.0.0.0/0", "0.0.0.0/0"],
  ["2001:DB8::/32", "2001:db8::/32"],
  ["::1", "::1/128"],
])("%s is the network %s", (text, plain) => {
  expect(plainNetwork(text)).toBe(plain);
});

test.each([
  "",
  "10.0.0.0/33",
  "10.0.0.0/-1",
  "10.0.0.0/8/8",
  "10.0.0/8",
  "2001:db8::/129",
  "example.com",
  "10.0.0.1/x",
])("%j is no network", (text) => {
  expect(plainNetwork(text)).toBeNull();
});

test("an address matches by its first bits, in its own family", () => {
  const matches = networkMatcher(["203.0.113.0/24", "2001:db8:1::/48", "198.51.100.7/32"]);
  for (const inside of [
    "203.0.113.0",
    "203.0.113.255",
    "198.51.100.7",
    "2001:db8:1:ffff::9",
    "::ffff:203.0.113.9",
  ])
    expect([inside, matches(inside)]).toEqual([inside, true]);
  for (const outside of [
    "203.0.114.0",
    "198.51.100.8",
    "2001:db8:2::1",
    "::ffff:203.0.114.9",
    "",
    "unknown",
  ])
    expect([outside, matches(outside)]).toEqual([outside, false]);
});

test("no network matches nothing", () => {
  expect(networkMatcher([])("203.0.113.1")).toBe(false);
});
