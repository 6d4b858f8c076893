import { expect, type Page } from "@playwright/test";

/**
 * Maximum layout shift of a page: half of the cumulative layout shift (0.1) that Web Vitals rates
 * as good.
 */
const SHIFT_MAX = 0.05;

interface Shifts {
  total: number;
  largest: string;
}

/**
 * Makes the page add up all layout shifts since it was opened, without those that follow an input
 * of the person.
 */
export const countShifts = async (page: Page): Promise<void> => {
  await page.addInitScript(() => {
    interface Shift extends PerformanceEntry {
      readonly value: number;
      readonly hadRecentInput: boolean;
      readonly sources: readonly { readonly node: Node | null }[];
    }
    const shifts = { total: 0, largest: "", largestValue: 0 };
    Object.assign(window, { shifts });
    new PerformanceObserver((list) => {
      for (const entry of list.getEntries() as Shift[]) {
        if (entry.hadRecentInput) continue;
        shifts.total += entry.value;
        if (entry.value <= shifts.largestValue) continue;
        shifts.largestValue = entry.value;
        shifts.largest = entry.sources
          .map(({ node }) => (node instanceof Element ? node.outerHTML.slice(0, 120) : ""))
          .join(" | ");
      }
    }).observe({ type: "layout-shift", buffered: true });
  });
};

/**
 * Fails when the page shifted by more than 0.05 since it was opened, and names the largest shift.
 */
export const expectStill = async (page: Page, name: string): Promise<void> => {
  const { total, largest } = await page.evaluate(
    () => (window as unknown as { shifts: Shifts }).shifts,
  );
  expect(total, `${name}: ${largest}`).toBeLessThanOrEqual(SHIFT_MAX);
};
