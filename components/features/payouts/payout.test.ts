import { expect, test } from "vitest";
import { awaitsApproval, refreshMsOf, rowStateOf, settledOf } from "./payout";

const UPDATED = "2026-05-01T09:00:00.000Z";
const after = (seconds: number): number => Date.parse(UPDATED) + seconds * 1_000;

test("only what waits for approval is approved", () => {
  expect(awaitsApproval({ status: "pending", subStatus: "awaiting_approval" })).toBe(true);
  expect(awaitsApproval({ status: "cancelled", subStatus: "awaiting_approval" })).toBe(false);
  expect(awaitsApproval({ status: "pending", subStatus: "created" })).toBe(false);
});

test("rows of both kinds have one set of states", () => {
  expect((["pending", "completed", "failed", "unknown"] as const).map(rowStateOf)).toEqual([
    "queued",
    "paid",
    "failed",
    "unknown",
  ]);
});

test("a row that is being checked is not settled", () => {
  expect(settledOf({ total: 9, paid: 4, failed: 2, cancelled: 1, unknown: 1, sent: 1, queued: 0, confirmed: 0 })).toBe(
    7,
  );
});

test("a payout that runs is asked for often, less often while nothing changes, and not at all once it is settled", () => {
  const running = { status: "processing", updatedAt: UPDATED } as const;
  expect(refreshMsOf(running, after(0))).toBe(1_000);
  expect(refreshMsOf(running, after(36))).toBe(3_000);
  expect(refreshMsOf(running, after(600))).toBe(5_000);
  expect(refreshMsOf({ ...running, status: "completed" }, after(0))).toBe(false);
});
