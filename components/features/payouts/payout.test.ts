import { expect, test } from "vitest";
import {
  awaitsApproval,
  countsOf,
  refreshMsOf,
  rowStateOf,
  settledOf,
  type Payout,
} from "./payout";
import type { PayoutRow } from "./rows-file";
import { rowsToShow } from "./use-payout-rows";

const UPDATED = "2026-05-01T09:00:00.000Z";
const after = (seconds: number): number => Date.parse(UPDATED) + seconds * 1_000;

test("only what waits for approval is approved", () => {
  expect(awaitsApproval({ status: "pending", subStatus: "awaiting_approval" })).toBe(true);
  expect(awaitsApproval({ status: "cancelled", subStatus: "awaiting_approval" })).toBe(false);
  expect(awaitsApproval({ status: "pending", subStatus: "created" })).toBe(false);
});

test("rows of both kinds have one set of states", () => {
  expect(
    (["pending", "completed", "failed", "unknown"] as const).map((status) =>
      rowStateOf(status, ""),
    ),
  ).toEqual(["queued", "paid", "failed", "unknown"]);
  expect(rowStateOf("failed", "source_replaced")).toBe("doubt");
});

test("a row that is being checked is not settled", () => {
  const counts = {
    total: 9,
    paid: 4,
    failed: 1,
    doubt: 1,
    cancelled: 1,
    unknown: 1,
    sent: 1,
    queued: 0,
    confirmed: 0,
  };
  expect(settledOf(counts)).toBe(7);
});

test("a payout that has ended is not shown beside rows of an earlier reading", () => {
  const items = {
    total: 1,
    paid: 1,
    failed: 0,
    sent: 0,
    queued: 0,
    confirmed: 0,
    unknown: 0,
    cancelled: 0,
  };
  const ended = {
    kind: "wallets",
    status: "completed",
    items,
    doubts: [],
  } as unknown as Payout;
  const rowsIn = (state: string) => [{ state }] as unknown as PayoutRow[];
  expect(rowsToShow(ended, rowsIn("queued"))).toBeUndefined();
  expect(rowsToShow(ended, rowsIn("paid"))).toHaveLength(1);
  const open = { ...ended, status: "processing" } as Payout;
  expect(rowsToShow(open, rowsIn("queued"))).toHaveLength(1);
});

test("rows that another operation may have paid are counted as in doubt, not as failed", () => {
  const items = {
    total: 9,
    paid: 4,
    failed: 5,
    sent: 0,
    queued: 0,
    confirmed: 0,
    unknown: 0,
    cancelled: 0,
  };
  const payout = {
    kind: "wallets",
    items,
    doubts: [{ rows: 2 }, { rows: 1 }],
  } as unknown as Payout;
  expect(countsOf(payout)).toMatchObject({ total: 9, paid: 4, failed: 2, doubt: 3 });
});

test("a payout that runs is asked for often, less often while nothing changes, and not at all once it is settled", () => {
  const running = { status: "processing", updatedAt: UPDATED } as const;
  expect(refreshMsOf(running, after(0))).toBe(1_000);
  expect(refreshMsOf(running, after(36))).toBe(3_000);
  expect(refreshMsOf(running, after(600))).toBe(5_000);
  expect(refreshMsOf({ ...running, status: "completed" }, after(0))).toBe(false);
});
