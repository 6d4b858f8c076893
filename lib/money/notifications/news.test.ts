import { expect, test } from "vitest";
import { newsOf } from "./news";

const told = (code: string, nextAction: string | null = null) => {
  const failure = { code, message: "Why.", retryable: false };
  const event = {
    projectId: "prj_1",
    id: "evt_1",
    type: "payout.failed",
    objectId: "po_1",
    createdAt: new Date(),
  };
  const payload = { itemsTotal: 2, itemsFailed: 2, failure };
  const news = newsOf(
    { ...event, payload, private: false, isVoted: false, depositUsd: null, nextAction },
    new Map(),
  );
  return [news?.title, news?.detail, news?.path];
};

test("a payout that may have been paid is not called failed, and the news leads to the decision", () => {
  expect(told("source_replaced")).toEqual([
    "A payment is in doubt and needs a decision",
    "Another operation may have paid it. Do not pay it again before it is decided.",
    "/payouts/po_1#doubt",
  ]);
  expect(told("insufficient_balance")).toEqual([
    "A payout failed",
    "2 rows of 2 could not be paid.",
    "/payouts/po_1",
  ]);
  expect(told("insufficient_balance", "The money is in the treasury.")[1]).toBe(
    "2 rows of 2 could not be paid. The money is in the treasury.",
  );
});
