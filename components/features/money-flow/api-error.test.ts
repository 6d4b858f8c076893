import { expect, test } from "vitest";
import { ApiError } from "@/lib/api-client/client";
import { codeOf, detailsOf, extraOf } from "./api-error";

const refused = new ApiError({
  status: 409,
  code: "quote_already_used",
  message: "No.",
  details: [{ path: "action-1", message: "is of another account" }],
  requestId: null,
  retryAfterSeconds: null,
  body: { operationId: "op_1" },
});

test("code, details and further fields of a refusal can be read", () => {
  expect(codeOf(refused)).toBe("quote_already_used");
  expect(detailsOf(refused)).toEqual([{ path: "action-1", message: "is of another account" }]);
  expect(extraOf(refused, "operationId")).toBe("op_1");
});

test("what is no answer of the service has none of them", () => {
  const other = new TypeError("fetch failed");
  expect([codeOf(other), detailsOf(other), extraOf(other, "operationId")]).toEqual([
    null,
    [],
    undefined,
  ]);
});
