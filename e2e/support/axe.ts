import AxeBuilder from "@axe-core/playwright";
import { expect, type Page } from "@playwright/test";

const WCAG = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"];
/** The rules of axe whose answer depends on the theme. */
const COLOR_RULES = ["color-contrast", "link-in-text-block"];

interface Size {
  readonly width: number;
  readonly height: number;
}

const DESKTOP: Size = { width: 1280, height: 800 };
/** A usual phone, and the narrowest that the design allows. */
const PHONES: readonly Size[] = [
  { width: 390, height: 844 },
  { width: 320, height: 640 },
];

/**
 * Waits until no animation runs. The state of the animations is polled, because the promise of one whose
 * element changed its theme meanwhile may never settle. Spinners never end by themselves.
 */
const still = (page: Page): Promise<unknown> =>
  page.waitForFunction(() =>
    document
      .getAnimations()
      .every(({ playState, effect }) => playState !== "running" || effect?.getComputedTiming().endTime === Infinity),
  );

/** Waits until the page shows its data and no animation runs. Pages with a stream of events never stop to load. */
export const settle = async (page: Page): Promise<void> => {
  await expect(page.getByRole("heading", { level: 1 })).toBeVisible();
  // A page that breaks while it is drawn is replaced by one that has no other fault.
  await expect(page.getByRole("heading", { level: 1, name: "Error", exact: true })).toHaveCount(0);
  // The placeholders of data that is still loading.
  await expect(page.locator(".animate-pulse")).toHaveCount(0);
  await still(page);
};

/** Toasts while they appear or disappear: they are half transparent then, so their contrast is too low for some frames. */
const MOVING_TOASTS = ['[data-sonner-toast][data-mounted="false"]', '[data-sonner-toast][data-removed="true"]'];

const faultsOf = async (builder: AxeBuilder): Promise<string[]> => {
  // The only frame holds the API reference, whose markup is its renderer's. Without legacy mode each analysis opens another page of the browser to put frames together.
  for (const left of ["iframe", ...MOVING_TOASTS]) builder.exclude(left);
  const { violations } = await builder.setLegacyMode(true).analyze();
  return violations.map(({ id, nodes }) => `${id}: ${nodes.map((node) => node.target.join(" ")).join(", ")}`);
};

/** The faults that axe finds against WCAG 2.2 AA in the part of the app that is shown now. */
export const axeFaults = async (page: Page): Promise<string[]> => {
  // Without motion a toast is opaque as soon as it appears; of a half transparent one axe would report the contrast.
  await page.emulateMedia({ reducedMotion: "reduce" });
  await still(page);
  // A scrolled page has elements half under its header; they would count as too small to hit.
  await page.evaluate(() => window.scrollTo(0, 0));
  return faultsOf(new AxeBuilder({ page }).withTags(WCAG));
};

const expectNoSidewaysScroll = async (page: Page, name: string, sizes: readonly Size[]): Promise<void> => {
  for (const size of sizes) {
    await page.setViewportSize(size);
    // Charts take their new width a frame or two after the window did.
    await expect
      .poll(() => page.evaluate(() => document.documentElement.scrollWidth), {
        message: `${name} at ${String(size.width)} px`,
      })
      .toBeLessThanOrEqual(size.width);
  }
  await page.setViewportSize(DESKTOP);
};

/**
 * Checks that axe finds nothing in the light and the dark theme, and that nothing scrolls sideways on phones. Rules that do not
 * depend on colours run once.
 * @param name of the page or step, for the message of a failure
 * @param otherSizes of the window that are tried beside phones
 */
export const checkLooks = async (page: Page, name: string, otherSizes: readonly Size[] = []): Promise<void> => {
  await page.emulateMedia({ colorScheme: "light" });
  expect(await axeFaults(page), `${name}, light`).toEqual([]);
  await page.emulateMedia({ colorScheme: "dark" });
  await still(page);
  expect(await faultsOf(new AxeBuilder({ page }).withRules(COLOR_RULES)), `${name}, dark`).toEqual([]);
  await page.emulateMedia({ colorScheme: "light" });
  await expectNoSidewaysScroll(page, name, [...PHONES, ...otherSizes]);
};
