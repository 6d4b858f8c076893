/**
 * Playwright's `test`, whose pages can be used once they are opened: pages arrive drawn, and their buttons work when React has
 * taken them over. A journey fails when its first page threw an error that nobody caught, for instance because the browser
 * drew something else than the server (React error 418).
 */
import { expect, test as base, type Page } from "@playwright/test";

export * from "@playwright/test";

/** React keeps its own data at each element that it has taken over. A page without `main` is none of ours. */
const usable = (page: Page): Promise<unknown> =>
  page.waitForFunction(() => {
    const parts = [...document.querySelectorAll("main, main button, main input, main [role='combobox']")];
    return parts.every((part) => Object.keys(part).some((key) => key.startsWith("__reactFiber$")));
  });

export const test = base.extend({
  page: async ({ page }, use) => {
    const errors: string[] = [];
    page.on("pageerror", (error) => errors.push(`${page.url()}: ${error.stack ?? error.message}`));
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
    await use(page);
    expect(errors, "errors that nobody caught on the pages of this journey").toEqual([]);
  },
});
