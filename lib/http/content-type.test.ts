import { expect, test } from "vitest";
import { isJsonContentType } from "./parse";

test.each([
  "application/json",
  "Application/JSON",
  "application/json;",
  "application/json ; charset=utf-8",
  'application/json;charset="UTF-8" ',
  "application/json; charset=utf-8;",
])("%j is JSON", (header) => {
  expect(isJsonContentType(header)).toBe(true);
});

test.each([
  "",
  "text/plain",
  "application/jsonp",
  "application/json; charset=latin1",
  "application/json; boundary=x",
  "application/json; charset=utf-8; charset=utf-8",
  "application/json;;",
])("%j is not JSON that is read here", (header) => {
  expect(isJsonContentType(header)).toBe(false);
});

test("a header that is longer than any honest one is refused unread, even when the rest of it is blank", () => {
  expect(isJsonContentType(`application/json${" ".repeat(100)}`)).toBe(true);
  expect(isJsonContentType(`application/json${" ".repeat(15_000)}`)).toBe(false);
});
