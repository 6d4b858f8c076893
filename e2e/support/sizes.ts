import { expect, type Locator, type Page } from "@playwright/test";

export interface Size {
  readonly width: number;
  readonly height: number;
}

/**
 * Checks that nothing scrolls sideways at these sizes; the window keeps the last size. Measures
 * until the page fits, because charts take their new width a frame or two after a resize.
 */
export const expectNoSidewaysScroll = async (
  page: Page,
  name: string,
  sizes: readonly Size[],
): Promise<void> => {
  for (const size of sizes) {
    await page.setViewportSize(size);
    await expect
      .poll(() => page.evaluate(() => document.documentElement.scrollWidth), {
        message: `${name} at ${String(size.width)} px`,
      })
      .toBeLessThanOrEqual(size.width);
  }
};

/**
 * Checks that no element is higher than `maxPx`. Measures until the elements fit, because a page
 * gets its new layout some frames after a resize.
 */
export const expectNoHigherThan = async (
  elements: Locator,
  maxPx: number,
  message?: string,
): Promise<void> => {
  await expect(elements.first()).toBeVisible();
  await expect
    .poll(
      async () => {
        const heights = await elements.evaluateAll((all) =>
          all.map((one) => one.getBoundingClientRect().height),
        );
        return Math.max(...heights);
      },
      message === undefined ? {} : { message },
    )
    .toBeLessThanOrEqual(maxPx);
};
