import AxeBuilder from "@axe-core/playwright";
import { expect, type Page } from "@playwright/test";
import { expectNoSidewaysScroll, type Size } from "./sizes";

const WCAG = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"];
/** The axe rules whose result depends on the colour theme. */
const COLOR_RULES = ["color-contrast", "link-in-text-block"];

const DESKTOP: Size = { width: 1280, height: 800 };
/** Size of a usual phone, and the smallest size that the design supports. */
const PHONES: readonly Size[] = [
  { width: 390, height: 844 },
  { width: 320, height: 640 },
];

/**
 * Waits until no animation runs. Polls the state of the animations, because the promise of an
 * animation may never settle when the theme of its element changes. Endless animations (spinners)
 * are ignored.
 */
export const still = (page: Page): Promise<unknown> =>
  page.waitForFunction(() =>
    document
      .getAnimations()
      .every(
        ({ playState, effect }) =>
          playState !== "running" || effect?.getComputedTiming().endTime === Infinity,
      ),
  );

/**
 * Waits until the page shows its data and no animation runs. Playwright's "networkidle" does not
 * work for pages with an event stream, because the stream stays open.
 */
export const settle = async (page: Page): Promise<void> => {
  await expect(page.getByRole("heading", { level: 1 })).toBeVisible();
  // The error page has no accessibility fault of its own, so without this check a page that failed
  // to render would pass.
  await expect(page.getByRole("heading", { level: 1, name: "Error", exact: true })).toHaveCount(
    0,
  );
  // Elements that pulse are placeholders for data that is still loading.
  await expect(page.locator(".animate-pulse")).toHaveCount(0);
  await still(page);
};

/**
 * Selectors of toasts that appear or disappear. They are not checked: they are translucent for some
 * frames, so axe would report their contrast.
 */
const MOVING_TOASTS = [
  '[data-sonner-toast][data-mounted="false"]',
  '[data-sonner-toast][data-removed="true"]',
];

const faultsOf = async (builder: AxeBuilder): Promise<string[]> => {
  // Excludes the page's only iframe. It shows the API reference, whose markup comes from a
  // third-party renderer. Legacy mode stops axe from opening another page of the browser to merge
  // the results of frames.
  for (const left of ["iframe", ...MOVING_TOASTS]) builder.exclude(left);
  const { violations } = await builder.setLegacyMode(true).analyze();
  return violations.map(
    ({ id, nodes }) => `${id}: ${nodes.map((node) => node.target.join(" ")).join(", ")}`,
  );
};

/**
 * Returns the violations of WCAG 2.2 AA that axe finds in the state of the page that is shown now.
 */
export const axeFaults = async (page: Page): Promise<string[]> => {
  // With reduced motion, toasts appear without a fade. During a fade axe would report the contrast
  // of the translucent toast.
  await page.emulateMedia({ reducedMotion: "reduce" });
  await still(page);
  // On a scrolled page the header half covers some elements, and axe would report them as too small
  // to tap.
  await page.evaluate(() => window.scrollTo(0, 0));
  return faultsOf(new AxeBuilder({ page }).withTags(WCAG));
};

/**
 * Checks that axe finds nothing in the light and the dark theme, and that nothing scrolls sideways
 * on phones. Rules that do not depend on colours run once.
 * @param name name of the page or step, for the message of a failure
 * @param otherSizes further window sizes to try beside the phones
 */
export const checkLooks = async (
  page: Page,
  name: string,
  otherSizes: readonly Size[] = [],
): Promise<void> => {
  await page.emulateMedia({ colorScheme: "light" });
  expect(await axeFaults(page), `${name}, light`).toEqual([]);
  await page.emulateMedia({ colorScheme: "dark" });
  await still(page);
  expect(
    await faultsOf(new AxeBuilder({ page }).withRules(COLOR_RULES)),
    `${name}, dark`,
  ).toEqual([]);
  await page.emulateMedia({ colorScheme: "light" });
  await expectNoSidewaysScroll(page, name, [...PHONES, ...otherSizes]);
  await page.setViewportSize(DESKTOP);
};
