import { expect, test } from "vitest";
import { codingFor, isCompressible } from "./compress";

test.each([
  ["gzip, deflate, br, zstd", "br"],
  ["br;q=0, gzip;q=0.5", "gzip"],
  ["GZIP", "gzip"],
  ["deflate", null],
  ["br;q=0.0", null],
  ["", null],
  [undefined, null],
])("%j is answered with %j", (accepted, coding) => {
  expect(codingFor(accepted)).toBe(coding);
});

test("a coding that is not there is not chosen", () => {
  expect(codingFor("br, gzip", ["gzip"])).toBe("gzip");
  expect(codingFor("br", [])).toBeNull();
});

test("pages, scripts and data are compressed; fonts and pictures are so already, and events are sent one by one", () => {
  expect(
    [
      "text/html; charset=utf-8",
      "text/x-component",
      "application/javascript",
      "image/svg+xml",
    ].every(isCompressible),
  ).toBe(true);
  expect(["font/woff2", "image/png", undefined].some(isCompressible)).toBe(false);
});
