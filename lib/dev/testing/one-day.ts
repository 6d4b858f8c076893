import { vi } from "vitest";
import type { Clock } from "@/lib/core/clock";

/**
 * Keeps the clock within the current UTC day by stopping it at midnight, so that daily sums do not
 * restart in the middle of a test.
 */
export const keepOneDay = (clock: Clock): Clock => {
  const now = clock.now.bind(clock);
  const end = now();
  end.setUTCHours(23, 59, 59, 999);
  vi.spyOn<Clock, "now">(clock, "now").mockImplementation(() => {
    const at = now();
    return at < end ? at : new Date(end);
  });
  return clock;
};
