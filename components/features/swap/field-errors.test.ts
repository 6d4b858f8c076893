import { expect, test } from "vitest";
import { ApiError } from "@/lib/api-client/client";
import { fieldErrors } from "./field-errors";

const refused = (details: { path: string; message: string }[], code = "invalid_request"): ApiError =>
  new ApiError({
    status: 400,
    code,
    message: "No.",
    details,
    requestId: null,
    retryAfterSeconds: null,
    body: null,
  });

test("each field gets the first message that names it", () => {
  const { fields, complete } = fieldErrors(
    refused([
      { path: "from.0.amount", message: "from.0.amount must be above zero." },
      { path: "toAddress", message: "has a wrong checksum (EIP-55)" },
      { path: "toAddress", message: "second" },
    ]),
  );
  expect([...fields]).toEqual([
    ["from.0.amount", "Must be above zero."],
    ["toAddress", "Has a wrong checksum (EIP-55)."],
  ]);
  expect(complete).toBe(true);
});

test("what no field of the form stands for is left to the notice", () => {
  expect(fieldErrors(refused([{ path: "quoteId", message: "is wrong" }])).complete).toBe(false);
  expect(fieldErrors(new TypeError("fetch failed"))).toMatchObject({ complete: false });
});

test("a policy's refusal stands at its field and in the notice, which names the rule", () => {
  const { fields, complete } = fieldErrors(refused([{ path: "toAddress", message: "is new" }], "policy_violation"));
  expect([...fields]).toEqual([["toAddress", "Is new."]]);
  expect(complete).toBe(false);
});
