import { expect, test } from "vitest";
import { awaitsApproval, mayCancel, mayRetry, refreshMsOf } from "./payout";

const items = { total: 3, pending: 0, completed: 2, failed: 1 };

test("only what waits for approval is approved, and only what has not begun is cancelled", () => {
  expect(awaitsApproval({ status: "pending", subStatus: "awaiting_approval" })).toBe(true);
  expect(awaitsApproval({ status: "cancelled", subStatus: "awaiting_approval" })).toBe(false);
  expect(awaitsApproval({ status: "pending", subStatus: "created" })).toBe(false);
  expect([mayCancel({ status: "pending" }), mayCancel({ status: "processing" })]).toEqual([true, false]);
});

test("failed rows are tried again once all are settled", () => {
  expect(mayRetry({ status: "partially_completed", items })).toBe(true);
  expect(mayRetry({ status: "failed", items })).toBe(true);
  expect(mayRetry({ status: "processing", items })).toBe(false);
  expect(mayRetry({ status: "cancelled", items: { ...items, failed: 0 } })).toBe(false);
  expect(mayRetry({ status: "completed", items: { ...items, failed: 0 } })).toBe(false);
});

test("what is settled is not asked for again", () => {
  expect(refreshMsOf({ status: "completed" })).toBe(false);
  expect(Number(refreshMsOf({ status: "processing" }))).toBeLessThan(Number(refreshMsOf({ status: "pending" })));
});
