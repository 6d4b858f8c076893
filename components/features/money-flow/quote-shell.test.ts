import { expect, test } from "vitest";
import { ApiError } from "@/lib/api-client/client";
import { reasonOfError } from "./quote-shell";

const answered = (status: number): ApiError =>
  new ApiError({
    status,
    code: "some_code",
    message: "It was refused.",
    details: [],
    requestId: null,
    retryAfterSeconds: null,
    body: null,
  });

test.each([400, 403, 404, 409, 422])(
  "after a refusal with %d the form is to be corrected",
  (status) => {
    expect(reasonOfError(answered(status))).toMatch(/^Correct the form/);
  },
);

test.each([
  ["no answer", new TypeError("Failed to fetch")],
  ["an outage", answered(503)],
  ["a fault of the service", answered(500)],
  ["too many requests", answered(429)],
])("after %s the form is not blamed", (_, error) => {
  expect(reasonOfError(error)).toBe("There is no quote now. Refresh it to try again.");
});
