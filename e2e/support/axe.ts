import AxeBuilder from "@axe-core/playwright";
import { expect, type Page } from "@playwright/test";

const WCAG = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"];

/**
 * Until nothing fades in any more. The state of the animations is asked for again and again, because the promise of one whose
 * element changed its theme meanwhile may never settle. Spinners never end by themselves.
 */
const still = (page: Page): Promise<unknown> =>
  page.waitForFunction(() =>
    document
      .getAnimations()
      .every(({ playState, effect }) => playState !== "running" || effect?.getComputedTiming().endTime === Infinity),
  );

/** Until everything that the page asks for has been answered, and nothing fades in any more. */
export const settle = async (page: Page): Promise<void> => {
  await page.waitForLoadState("networkidle");
  await expect(page.getByRole("heading", { level: 1 })).toBeVisible();
  await still(page);
};

/** What axe finds against WCAG 2.2 AA in what is shown now. */
export const axeFaults = async (page: Page): Promise<string[]> => {
  await still(page);
  // What a page that is scrolled has half under its header would count as too small to hit.
  await page.evaluate(() => window.scrollTo(0, 0));
  const { violations } = await new AxeBuilder({ page }).withTags(WCAG).analyze();
  return violations.map(({ id, nodes }) => `${id}: ${nodes.map((node) => node.target.join(" ")).join(", ")}`);
};
