import { expect, test } from "vitest";
import type { Payout } from "./payout";
import { paceOf, progressSentence, timeLeftText, withSample, type Sample } from "./progress";

const counts = { total: 1_000, paid: 812, failed: 3, sent: 100, queued: 85, confirmed: 0, unknown: 0, cancelled: 0 };
const payout = (status: Payout["status"], items = counts, subStatus = "queued", doubts: object[] = []): Payout =>
  ({ kind: "wallets", status, subStatus, items, doubts }) as unknown as Payout;

test("says how far a payout is, and that nothing was paid where nothing was", () => {
  expect(progressSentence(payout("processing"))).toBe("812 of 1,000 rows paid, 3 failed, 100 sent, 85 queued.");
  expect(progressSentence(payout("pending", counts, "awaiting_approval"))).toBe(
    "1,000 rows to pay once this is approved.",
  );
  expect(progressSentence(payout("pending", { ...counts, paid: 0, failed: 0, sent: 0, queued: 1_000 }))).toBe(
    "0 of 1,000 rows paid, 1,000 queued.",
  );
  expect(progressSentence(payout("cancelled", { ...counts, paid: 0 }))).toBe("Cancelled: none of 1,000 rows was paid.");
  expect(progressSentence(payout("expired"))).toBe("Not approved in time: none of 1,000 rows was paid.");
  expect(progressSentence(payout("processing", { ...counts, failed: 0, sent: 0, queued: 0, unknown: 1 }))).toBe(
    "812 of 1,000 rows paid, 1 being checked.",
  );
  const ended = { ...counts, failed: 3, sent: 0, queued: 0 };
  expect(progressSentence(payout("partially_completed", ended, "some", [{ rows: 2 }]))).toBe(
    "812 of 1,000 rows paid, 1 failed, 2 in doubt.",
  );
});

test("the pace is that of the last seconds, and unknown while nothing moves", () => {
  const seen = [
    { atMs: 0, settled: 0 },
    { atMs: 30_000, settled: 10 },
    { atMs: 34_000, settled: 210 },
    { atMs: 40_000, settled: 510 },
  ].reduce<readonly Sample[]>(withSample, []);
  expect(paceOf(seen, 490)).toEqual({ rowsPerSecond: 50, secondsLeft: 10 });
  expect(paceOf([{ atMs: 0, settled: 5 }], 5)).toBeNull();
  expect(
    paceOf(
      [
        { atMs: 0, settled: 5 },
        { atMs: 9_000, settled: 5 },
      ],
      5,
    ),
  ).toBeNull();
});

test("time left is said in the unit that fits", () => {
  expect([3, 61, 7_201].map(timeLeftText)).toEqual(["about 3 s left", "about 2 min left", "about 3 h left"]);
});
