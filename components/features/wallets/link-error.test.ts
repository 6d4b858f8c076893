import { UserRejectedRequestError } from "viem";
import { expect, test } from "vitest";
import { ApiError } from "@/lib/api-client/client";
import { linkProblem } from "./link-error";

const refused = (code: string): ApiError =>
  new ApiError({
    status: 400,
    code,
    message: "No.",
    details: [],
    requestId: null,
    retryAfterSeconds: null,
    body: null,
  });

test("each refusal says how to go on", () => {
  const next = (error: unknown) => linkProblem(error)?.next;
  expect(next(refused("invalid_signature"))).toBe("renew");
  expect(next(refused("nonce_expired"))).toBe("renew");
  expect(next(refused("wallet_already_linked"))).toBe("choose");
  expect(next(refused("chain_unavailable"))).toBeUndefined();
});

test("a person who said no is not told of an error", () => {
  const wrapped = new Error("wrapped", {
    cause: new UserRejectedRequestError(new Error("no")),
  });
  expect(linkProblem(wrapped)?.title).toBe("You rejected the message");
  expect(linkProblem({ code: "ACTION_REJECTED" })?.title).toBe("You rejected the message");
  expect(linkProblem(new Error("Locked.\nVersion 1"))).toMatchObject({
    text: "Locked. Nothing is linked.",
    next: "sign",
  });
});
