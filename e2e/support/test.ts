/**
 * Playwright's `test` with two additions. Pages can be used once they are opened: the server sends
 * them rendered, but their buttons only work after React has hydrated them. And a journey fails
 * when its first page threw an uncaught error, for instance because the browser rendered something
 * else than the server (React error 418).
 */
import { type Browser, expect, test as base, type Page } from "@playwright/test";

export * from "@playwright/test";

/**
 * Waits until React has hydrated the page: React then stores a property at each of its elements.
 * Does not wait on a page without `main`, because such a page is not part of the app.
 */
const usable = (page: Page): Promise<unknown> =>
  page.waitForFunction(() => {
    const parts = [
      ...document.querySelectorAll("main, main button, main input, main [role='combobox']"),
    ];
    return parts.every((part) =>
      Object.keys(part).some((key) => key.startsWith("__reactFiber$")),
    );
  });

/** Makes `goto` and `reload` of the page wait until it is hydrated. */
const waitingForUse = (page: Page): Page => {
  const goto = page.goto.bind(page);
  const reload = page.reload.bind(page);
  page.goto = async (...where) => {
    const answer = await goto(...where);
    await usable(page);
    return answer;
  };
  page.reload = async (...how) => {
    const answer = await reload(...how);
    await usable(page);
    return answer;
  };
  return page;
};

/**
 * Opens a page in a separate browser context, as another person would. Its `goto` and `reload` wait
 * until the page is hydrated.
 */
export const openPage = async (
  browser: Browser,
  options?: Parameters<Browser["newContext"]>[0],
): Promise<Page> => waitingForUse(await (await browser.newContext(options)).newPage());

export const test = base.extend({
  page: async ({ page }, use) => {
    const errors: string[] = [];
    page.on("pageerror", (error) =>
      errors.push(`${page.url()}: ${error.stack ?? error.message}`),
    );
    waitingForUse(page);
    await use(page);
    expect(errors, "errors that nobody caught on the pages of this journey").toEqual([]);
  },
});
