import { describe, expect, test } from "vitest";
import { isLoopbackAddress, isPublicAddress, readTarget } from "./url-rules";

const production = { allowLoopback: false };
const development = { allowLoopback: true };
const refuses = (url: string, rules = production): boolean =>
  typeof readTarget(url, rules) === "string";

describe("a URL that leads to this machine or its network is refused, however it is written", () => {
  test.each([
    "http://127.0.0.1/",
    "http://127.1/",
    "http://127.0.1/",
    "http://2130706433/",
    "http://0x7f000001/",
    "http://0x7f.0.0.1/",
    "http://0177.0.0.1/",
    "http://017700000001/",
    "http://127.0.0.1./",
    "http://①②⑦.0.0.1/",
    "http://0/",
    "http://0.0.0.0/",
    "http://[::]/",
    "http://[::1]/",
    "http://[0:0:0:0:0:0:0:1]/",
    "http://[::ffff:127.0.0.1]/",
    "http://[::ffff:7f00:1]/",
    "http://[::ffff:169.254.169.254]/",
    "http://[::127.0.0.1]/",
    "http://[64:ff9b::7f00:1]/",
    "http://[2002:7f00:1::]/",
    "http://[2001:0:7f00:1::]/",
    "http://169.254.169.254/latest/meta-data/",
    "http://2852039166/",
    "http://[fe80::1]/",
    "http://[fd00:ec2::254]/",
    "http://[fc00::1]/",
    "http://[ff02::1]/",
    "http://10.0.0.1/",
    "http://172.16.0.1/",
    "http://172.31.255.255/",
    "http://192.168.1.1/",
    "http://100.64.0.1/",
    "http://100.127.255.255/",
    "http://198.18.0.1/",
    "http://192.0.2.1/",
    "http://224.0.0.1/",
    "http://255.255.255.255/",
    "http://localhost/",
    "http://LOCALHOST/",
    "http://localhost./",
    "http://api.localhost/",
    "http://printer.local/",
    "http://metadata.google.internal/",
    "http://intranet/",
    "http://db.corp/",
  ])("%s", (url) => {
    expect(refuses(url)).toBe(true);
  });
});

describe("what is no plain web address is refused", () => {
  test.each([
    "",
    "example.org",
    "//example.org",
    "ftp://example.org/",
    "file:///etc/passwd",
    "gopher://example.org/",
    "javascript:alert(1)",
    "http://user@example.org/",
    "http://user:password@example.org/",
    "http://127.0.0.1@example.org/",
    "https://example.org/#fragment",
    "https://example.org:22/",
    "https://example.org:25/",
    "https://example.org:1/",
    "https://example.org:1023/",
    "http://exa mple.org/",
    `https://example.org/${"x".repeat(2000)}`,
  ])("%s", (url) => {
    expect(refuses(url, development)).toBe(true);
  });
});

describe("what anybody can reach is taken", () => {
  test.each([
    ["https://example.org/hook?a=1", 443],
    ["http://example.org/", 80],
    ["https://example.org:1024/", 1024],
    ["https://example.org:8443/", 8443],
    ["https://8.8.8.8/", 443],
    ["https://172.32.0.1/", 443],
    ["https://100.128.0.1/", 443],
    ["https://[2606:4700:4700::1111]/", 443],
    ["https://bücher.example/", 443],
  ])("%s", (url, port) => {
    expect(readTarget(url, production)).toMatchObject({ port });
  });
});

test("development takes loopback, and no other private address", () => {
  for (const url of [
    "http://localhost:3000/x",
    "http://127.0.0.1:3000/",
    "http://[::1]:3000/",
    "http://127.1:8080/",
  ])
    expect(refuses(url, development), url).toBe(false);
  for (const url of [
    "http://10.0.0.1/",
    "http://169.254.169.254/",
    "http://[::ffff:127.0.0.1]/",
    "http://0.0.0.0:3000/",
  ])
    expect(refuses(url, development), url).toBe(true);
});

test("an address is judged as a whole, and what is none is not public", () => {
  expect([isPublicAddress("1.1.1.1"), isPublicAddress("2606:4700::1111")]).toEqual([
    true,
    true,
  ]);
  for (const text of [
    "",
    "example.org",
    "1.1.1",
    "1.1.1.1.1",
    "::ffff:1.1.1.1",
    "fe80::1%eth0",
  ])
    expect(isPublicAddress(text), text).toBe(false);
  expect(isLoopbackAddress("127.255.255.254")).toBe(true);
  expect(isLoopbackAddress("::ffff:127.0.0.1")).toBe(false);
});
