import { describe, expect, test } from "vitest";
import { createDatabaseClock } from "./instances";

const HOUR_MS = 3_600_000;
const DATABASE_MS = Date.parse("2026-06-01T12:00:00Z");

/**
 * A machine whose clock is wrong by this much. Its wall clock and monotonic clock advance together.
 */
const machine = (wrongMs: number) => {
  const time = { passedMs: 0 };
  const clock = createDatabaseClock({
    monotonicMs: () => 1_000 + time.passedMs,
    wallMs: () => DATABASE_MS + wrongMs + time.passedMs,
  });
  const sample = (tookMs: number, databaseMs = DATABASE_MS + time.passedMs): void =>
    clock.measured({
      databaseMs,
      askedMs: 1_000 + time.passedMs - tookMs / 2,
      answeredMs: 1_000 + time.passedMs + tookMs / 2,
    });
  return { clock, time, sample };
};

describe("a machine whose clock is wrong", () => {
  test.each([HOUR_MS, -HOUR_MS])(
    "by %d ms goes by the database's, and knows by how much it is wrong",
    (wrongMs) => {
      const { clock, time, sample } = machine(wrongMs);
      expect(clock.now().getTime()).toBe(DATABASE_MS + wrongMs);
      expect(clock.aheadMs()).toBeNull();
      sample(10);
      expect(clock.now().getTime()).toBe(DATABASE_MS);
      expect(clock.aheadMs()).toBe(wrongMs);
      time.passedMs = 90_000;
      expect(clock.now().getTime()).toBe(DATABASE_MS + 90_000);
    },
  );
});

test("samples that leave the known time open do not move it, and one that rules it out does", () => {
  const { clock, time, sample } = machine(0);
  sample(2);
  time.passedMs = 1_000;
  sample(400, DATABASE_MS + 1_100);
  expect(clock.now().getTime()).toBe(DATABASE_MS + 1_000);
  sample(2, DATABASE_MS + 1_100);
  expect(clock.now().getTime()).toBe(DATABASE_MS + 1_100);
});
