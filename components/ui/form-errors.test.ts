import { expect, test } from "vitest";
import { ApiError } from "@/lib/api-client/client";
import { splitByField } from "./form-errors";

const refused = (details: ApiError["details"], code = "invalid_request"): ApiError =>
  new ApiError({
    status: 400,
    code,
    message: "No.",
    details,
    requestId: null,
    retryAfterSeconds: null,
    body: null,
  });

const nameOf = (path: string): "url" | undefined => (path === "url" ? path : undefined);

test("details that name a field stand at it as sentences, and nothing is left to say beside the fields", () => {
  const error = refused([
    { path: "url", message: "url must be https" },
    { path: "url", message: "second" },
  ]);
  expect(splitByField(error, nameOf)).toEqual({
    fields: [{ name: "url", message: "Must be https." }],
    rest: null,
  });
});

test("an error that names anything else, or nothing, is shown whole", () => {
  const mixed = refused([
    { path: "url", message: "is wrong" },
    { path: "events.0", message: "is unknown" },
  ]);
  expect(splitByField(mixed, nameOf)).toEqual({
    fields: [{ name: "url", message: "Is wrong." }],
    rest: mixed,
  });
  const bare = refused([]);
  expect(splitByField(bare, nameOf)).toEqual({ fields: [], rest: bare });
  expect(splitByField(null, nameOf)).toEqual({ fields: [], rest: null });
});

test("a policy's refusal is shown whole beside its field, because the field does not name the rule", () => {
  const error = refused([{ path: "url", message: "is not allowed" }], "policy_violation");
  expect(splitByField(error, nameOf)).toEqual({
    fields: [{ name: "url", message: "Is not allowed." }],
    rest: error,
  });
});
