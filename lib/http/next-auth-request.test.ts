import { expect, test } from "vitest";
import { isDomainError } from "@/lib/core/errors";
import { checkNextAuthRequest } from "./next-auth-request";

const outcome = (
  path: string,
  sent: { method?: string; contentType?: string; body?: string } = {},
): string => {
  try {
    const url = `http://localhost:3000/api/auth/${path}`;
    checkNextAuthRequest({ url, method: "GET", contentType: "", body: "", ...sent });
    return "passed on";
  } catch (error) {
    return isDomainError(error) ? error.code : String(error);
  }
};

test.each([
  "session",
  "error?error=invalid_signature",
  "error?error=CredentialsSignin",
  "signin?callbackUrl=%2Factivity%3Fx%3D1",
  "signin?callbackUrl=http%3A%2F%2Flocalhost%3A3000%2F",
  "signin?callbackUrl=",
])("%s goes to next-auth", (path) => {
  expect(outcome(path)).toBe("passed on");
});

test.each([
  "error?error=%E2%82%AC",
  "error?error=%0D%0Ax",
  "error?error=",
  `error?error=${"a".repeat(65)}`,
  "session?callbackUrl=nonsense",
  "session?callbackUrl=javascript:1",
  "session?callbackUrl=%2F%2F%5B",
])("%s is the caller's fault", (path) => {
  expect(outcome(path)).toBe("invalid_request");
});

test("a JSON body must be an object, a form may be anything", () => {
  const post = (contentType: string, body: string) =>
    outcome("signout", { method: "POST", contentType, body });
  expect(post("application/json", '{"csrfToken":"x"}')).toBe("passed on");
  for (const body of ["", "{nope", "null", "[]", "5"])
    expect(post("application/json", body)).toBe("invalid_request");
  expect(post("application/x-www-form-urlencoded", "a=b")).toBe("passed on");
});
