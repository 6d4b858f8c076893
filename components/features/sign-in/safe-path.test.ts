import { expect, test } from "vitest";
import { safePath } from "./safe-path";

test("sign-in leads back to a path of this app", () => {
  expect(safePath("/activity/op_1?tab=raw")).toBe("/activity/op_1?tab=raw");
});

test.each([
  undefined,
  "",
  "https://evil.example",
  "//evil.example",
  "/\\evil.example",
  "/\t/evil.example",
  "javascript:1",
  "/sign-in",
])("sign-in never leads to %j", (text) => {
  expect(safePath(text)).toBe("/");
});
