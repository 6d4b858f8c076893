import { expect, test } from "vitest";
import { messagesByField } from "@/components/ui/form-errors";
import { ApiError } from "@/lib/api-client/client";
import { fieldOfPath } from "./form-model";

const refused = (
  details: { path: string; message: string }[],
  code = "invalid_request",
): ApiError =>
  new ApiError({
    status: 400,
    code,
    message: "No.",
    details,
    requestId: null,
    retryAfterSeconds: null,
    body: null,
  });

const fieldErrors = (error: unknown) => messagesByField(error, fieldOfPath);

test("each field gets the first message that names it", () => {
  const { fields, rest } = fieldErrors(
    refused([
      { path: "from.0.amount", message: "from.0.amount must be above zero." },
      { path: "toAddress", message: "has a wrong checksum (EIP-55)" },
      { path: "toAddress", message: "second" },
    ]),
  );
  expect(Object.entries(fields)).toEqual([
    ["from.0.amount", "Must be above zero."],
    ["toAddress", "Has a wrong checksum (EIP-55)."],
  ]);
  expect(rest).toBeNull();
});

test("what no field of the form stands for is left to the notice", () => {
  const unnamed = refused([{ path: "quoteId", message: "is wrong" }]);
  expect(fieldErrors(unnamed).rest).toBe(unnamed);
  const lost = new TypeError("fetch failed");
  expect(fieldErrors(lost).rest).toBe(lost);
});

test("a policy's refusal stands at its field and in the notice, which names the rule", () => {
  const refusal = refused([{ path: "toAddress", message: "is new" }], "policy_violation");
  expect(fieldErrors(refusal)).toEqual({ fields: { toAddress: "Is new." }, rest: refusal });
});
