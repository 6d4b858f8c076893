import { expect, test } from "vitest";
import { progressSentence } from "./payout-progress";

const items = { total: 1000, pending: 185, completed: 812, failed: 3 };

test("says how far a payout is, and that nothing was paid where nothing was", () => {
  expect(progressSentence({ status: "processing", items })).toBe("812 of 1,000 rows paid, 3 failed, 185 to go.");
  expect(progressSentence({ status: "completed", items: { total: 1, pending: 0, completed: 1, failed: 0 } })).toBe(
    "1 of 1 row paid.",
  );
  expect(progressSentence({ status: "pending", items })).toBe("1,000 rows to pay once it is approved.");
  expect(progressSentence({ status: "cancelled", items })).toBe("Cancelled: none of 1,000 rows was paid.");
  expect(progressSentence({ status: "expired", items })).toBe("Not approved in time: none of 1,000 rows was paid.");
});
