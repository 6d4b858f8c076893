import { vi } from "vitest";
import type { Clock } from "@/lib/core/clock";

/**
 * Keeps the clock on the UTC day on which it is called: at midnight it stands still. Sums that are counted by day then do not begin anew in
 * the middle of a test.
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
