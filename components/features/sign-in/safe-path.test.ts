import fc from "fast-check";
import { expect, test } from "vitest";
import { safePath } from "./safe-path";

test.each(["/activity/op_1?tab=raw", "/", "/a//b?x=//evil.example", "/activity?q=%5C%0A"])(
  "sign-in leads back to %j, a path of this app",
  (text) => {
    expect(safePath(text)).toBe(text);
  },
);

test.each([
  undefined,
  "",
  "https://evil.example",
  "//evil.example",
  "//",
  "///",
  "//?x",
  "//[",
  "/.//evil.example/x",
  "/..//evil.example",
  "/a/..//evil.example",
  "/%2e//evil.example",
  "/./%2E%2e//evil.example",
  "/\\evil.example",
  "/.\\/evil.example",
  "/\t/evil.example",
  "/.\n//evil.example",
  "/\u0000/evil.example",
  "/\u0085/evil.example",
  "javascript:1",
  "/sign-in",
  "/./sign-in",
])("sign-in never leads to %j", (text) => {
  expect(safePath(text)).toBe("/");
});

test("wherever sign-in leads, it is this origin, whoever resolves the path and however often", () => {
  const piece = fc.constantFrom(
    ..."/ // \\ . .. %2e %2f %5c ? # @ : [ ] evil.example https: javascript: a sign-in \t \n \r \0 %".split(
      " ",
    ),
  );
  const texts = fc.oneof(
    fc.array(piece, { maxLength: 8 }).map((pieces) => pieces.join("")),
    fc.string({ unit: "binary" }),
    fc.webUrl(),
  );
  fc.assert(
    fc.property(texts, (text) => {
      const path = safePath(text);
      const origin = "https://pay.example";
      expect(path).toMatch(/^\/(?![/\\])/);
      const once = new URL(path, origin);
      expect(once.origin).toBe(origin);
      expect(new URL(once.pathname + once.search, origin).origin).toBe(origin);
      expect(safePath(path)).toBe(path);
    }),
    { numRuns: 5_000 },
  );
});
