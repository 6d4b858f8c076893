import { expect, test } from "vitest";
import { keepOneDay } from "./one-day";

test("the clock goes on until midnight and then stands still", () => {
  let ms = Date.parse("2026-03-01T23:59:58Z");
  const clock = keepOneDay({ now: () => new Date(ms) });
  ms += 1000;
  expect(clock.now().toISOString()).toBe("2026-03-01T23:59:59.000Z");
  ms += 5000;
  expect(clock.now().toISOString()).toBe("2026-03-01T23:59:59.999Z");
});
