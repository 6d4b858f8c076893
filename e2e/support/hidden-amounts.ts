import { expect, type Page } from "@playwright/test";
import { PREFERENCE_COOKIES } from "@/lib/core/browser-cookies";

/**
 * Matches numbers with a fraction or a dollar sign, but no percentages, versions, addresses or
 * times.
 */
const AMOUNT = String.raw`(?<![\w.…:/-])(\$\s?\d[\d.,]*|\d[\d,]*\.\d+)(?![\w.:-]|\s?%)`;
/**
 * Texts with numbers that are no amounts: the version of the database, the choices of slippage, and
 * rates of currencies.
 */
const OTHER_NUMBERS = String.raw`^PostgreSQL \d|^0\.\d$|USD for 1 [A-Z]{3}\b`;
/**
 * Code samples for the API. They contain the typed values or an example, also while amounts are
 * hidden.
 */
const SNIPPETS =
  "[aria-label='cURL command'], [aria-label='TypeScript code'], [aria-label='Python code']";

/**
 * Returns the amounts that a person could read: in texts, in titles, and in labels for screen
 * readers.
 * @param html a document as the server sent it; without it, the page as it is shown now
 */
const amountsOn = (page: Page, html: string | null = null): Promise<string[]> =>
  page.evaluate(
    ({ amount, other, snippets, sent }) => {
      const looksLikeAmount = new RegExp(amount);
      const isOther = new RegExp(other);
      const root =
        sent === null ? document : new DOMParser().parseFromString(sent, "text/html");
      const texts: string[] = [root.title];
      const walker = root.createTreeWalker(
        root.body,
        NodeFilter.SHOW_TEXT | NodeFilter.SHOW_ELEMENT,
      );
      for (let node = walker.nextNode(); node !== null; node = walker.nextNode()) {
        if (node instanceof Element) {
          if (node.matches("script, style")) continue;
          for (const name of [
            "title",
            "aria-label",
            "aria-description",
            "aria-valuetext",
            "alt",
          ])
            texts.push(node.getAttribute(name) ?? "");
        } else if (node.parentElement?.closest(`script, style, noscript, ${snippets}`) === null)
          texts.push(node.textContent ?? "");
      }
      const amounts = texts
        .map((text) => text.trim())
        .filter((text) => looksLikeAmount.test(text));
      return [...new Set(amounts.filter((text) => !isOther.test(text)))];
    },
    { amount: AMOUNT, other: OTHER_NUMBERS, snippets: SNIPPETS, sent: html },
  );

/**
 * Hides or shows amounts as another tab of this browser would: changes the cookie, and reports it
 * by a `storage` event.
 */
const setHidden = (page: Page, hidden: boolean): Promise<void> =>
  page.evaluate(
    ([name, isHidden]) => {
      document.cookie = `${name}=1; path=/; max-age=${isHidden ? "600" : "0"}`;
      window.dispatchEvent(new Event("storage"));
    },
    [PREFERENCE_COOKIES.amountsHidden, hidden] as const,
  );

/**
 * Checks that the page shows no amount once amounts are hidden, neither after the browser's redraw
 * nor in the HTML that the server then sends. Shows the amounts again afterwards.
 * @returns the amounts that were shown before, so that the caller can check that there were some
 */
export const checkHiddenAmounts = async (page: Page, path: string): Promise<string[]> => {
  const shown = await amountsOn(page);
  await setHidden(page, true);
  await expect.poll(() => amountsOn(page), { message: `${path}, in the browser` }).toEqual([]);
  const html = await (await page.request.get(path)).text();
  expect(await amountsOn(page, html), `${path}, from the server`).toEqual([]);
  await setHidden(page, false);
  return shown;
};
