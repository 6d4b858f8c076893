import { expect, test } from "vitest";
import { ApiError } from "@/lib/api-client/client";
import { findingsOf } from "./server-findings";

const refusal = (
  code: string,
  details: readonly { path: string; message: string }[],
): ApiError =>
  new ApiError({
    status: 409,
    code,
    message: "No.",
    requestId: "req_1",
    details: [...details],
    body: null,
    retryAfterSeconds: null,
  });

const KEYS = [11, 22, 33];

test("every bad row is found by its index, at the cell that is meant", () => {
  const error = refusal("invalid_request", [
    { path: "transfers.0.address", message: "bad address" },
    { path: "transfers.2.amount", message: "bad amount" },
    { path: "transfers.2.amount", message: "again" },
    { path: "transfers.2.token", message: "bad token" },
    { path: "transfers.1", message: "bad row" },
  ]);
  expect(findingsOf(error, KEYS)).toEqual({
    problems: new Map([
      [11, { recipient: "bad address" }],
      [33, { amount: "bad amount", token: "bad token" }],
      [22, { recipient: "bad row" }],
    ]),
    duplicates: new Map(),
    error: null,
  });
});

test("duplicates are no errors of cells: the person may pay them anyway", () => {
  const error = refusal("duplicate_payout", [
    { path: "transfers.1", message: "was paid by po_1" },
  ]);
  expect(findingsOf(error, KEYS)).toEqual({
    problems: new Map(),
    duplicates: new Map([[22, "was paid by po_1"]]),
    error: null,
  });
});

test("messages that belong to no row are shown for the whole payout", () => {
  const balance = refusal("insufficient_balance", []);
  expect(findingsOf(balance, KEYS).error).toBe(balance);
  const mixed = refusal("invalid_request", [
    { path: "chainId", message: "no such chain" },
    { path: "transfers.0.amount", message: "bad amount" },
  ]);
  expect(findingsOf(mixed, KEYS)).toMatchObject({
    error: mixed,
    problems: new Map([[11, { amount: "bad amount" }]]),
  });
});
