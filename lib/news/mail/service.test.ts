import { expect, test } from "vitest";
import { maskEmail } from "./service";

test.each([
  ["ada@example.com", "a•••@example.com"],
  ["a@example.com", "a•••@example.com"],
  ['"odd@name"@example.com', '"•••@example.com'],
  ["@example.com", "•••"],
  ["nothing", "•••"],
])("%s is shown as %s", (email, masked) => {
  expect(maskEmail(email)).toBe(masked);
});
