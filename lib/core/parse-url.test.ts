import { expect, test } from "vitest";
import { parseUrl } from "./redaction";

/**
 * After some thousand calls Node optimises the function, and `URL.canParse` starts to return wrong
 * results.
 */
const CALLS = 20_000;

test("a host with letters beyond ASCII is read the same way however often URLs are parsed", () => {
  const hosts = new Set(
    Array.from({ length: CALLS }, () => parseUrl("https://bücher.example/")?.host),
  );
  expect([...hosts]).toEqual(["xn--bcher-kva.example"]);
});

test("a relative URL needs a base, and text that is no URL is null", () => {
  expect(parseUrl("/a?b=1", "http://localhost")?.pathname).toBe("/a");
  expect([
    parseUrl("/a"),
    parseUrl(""),
    parseUrl("http://exa mple.org/"),
    parseUrl("//", "http://localhost"),
  ]).toEqual([null, null, null, null]);
});
