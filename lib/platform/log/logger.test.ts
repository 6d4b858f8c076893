import { expect, test } from "vitest";
import { loggedError, redact } from "./logger";

test.each([
  "cw_live_abcDEF123",
  "cw_test_abc_def",
  "eyJhbGciOiJFZERTQSJ9.eyJzdWIiOiIxIn0.c2ln",
  "whsec_c2VjcmV0",
  "Bearer abc.def",
  "postgres://user:hunter2@db:5432/x",
  '{"password":"hunter2"}',
])("%s does not reach the log", (text) => {
  const redacted = redact(`failed with ${text} today`);
  expect(redacted).toContain("[redacted]");
  for (const secret of ["abcDEF123", "abc_def", "c2ln", "c2VjcmV0", "abc.def", "hunter2"])
    expect(redacted).not.toContain(secret);
});

test("an error is logged with its causes and without its other properties", () => {
  const error = Object.assign(
    new Error("outer cw_live_secret1", { cause: new Error("inner") }),
    {
      config: "hunter2",
    },
  );
  const logged = JSON.stringify(loggedError(error));
  expect(logged).toContain("inner");
  expect(logged).not.toContain("hunter2");
  expect(logged).not.toContain("secret1");
});
