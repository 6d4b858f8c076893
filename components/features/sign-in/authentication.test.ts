import fc from "fast-check";
import { expect, test } from "vitest";
import { credentialsOf, refusalText, safePath } from "./authentication";

test("a sign-in that was refused because sign-up is closed names whom to ask", () => {
  expect(refusalText("sign_up_closed")).toMatch(
    /sign-up is closed\. Ask whoever runs this installation/,
  );
});

test("a sign-in that was refused for an unknown reason is explained in general words", () => {
  expect(refusalText(undefined)).toMatch(/did not accept/);
  expect(refusalText("something_new")).toBe(refusalText(undefined));
});

test("a sign-in brings the invitation that was opened in this tab, and none where none was", () => {
  const signed = { message: "m", signature: "0x1" };
  expect(credentialsOf(signed, "token")).toEqual({ ...signed, invitation: "token" });
  expect(credentialsOf(signed, null)).toEqual(signed);
  expect(credentialsOf(signed, "")).toEqual(signed);
});

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
