import { expect, type Page } from "@playwright/test";
import { still } from "./axe";

/**
 * Share of pixels that may differ. Fonts are drawn a little differently by each version of the
 * browser; the shift of a few rows changes more pixels.
 */
const DIFFERENT_PIXELS_MAX = 0.01;

/**
 * Runs in the browser, so this function uses nothing that is defined outside of it. Returns the
 * HTML of the page without scripts and without the texts that differ between runs: digits, hex
 * addresses and hashes, ids and times. Their number of characters stays.
 */
const frozenHtml = (): string => {
  const DIGITS = /\d/g;
  const HEX = /0x[0-9a-fA-F…]+/g;
  const UUIDS = /[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/g;
  const IDS = /\b([a-z]{2,8})_[0-9A-Za-z…]{6,}/g;
  const copy = document.documentElement.cloneNode(true) as HTMLElement;
  for (const script of copy.querySelectorAll("script, link[as=script]")) script.remove();
  for (const time of copy.querySelectorAll("time")) time.textContent = "5 minutes ago";
  for (const figure of copy.querySelectorAll("svg[shape-rendering=crispEdges]"))
    figure.replaceChildren();
  const steady = (text: string): string =>
    text
      .replaceAll(HEX, (hex) => hex.replaceAll(/[0-9a-fA-F]/g, "0"))
      .replaceAll(UUIDS, "00000000-0000-0000-0000-000000000000")
      .replaceAll(IDS, (id, kind: string) => `${kind}_`.padEnd(id.length, "0"))
      .replaceAll(DIGITS, "0");
  const texts = document.createTreeWalker(
    copy.querySelector("body") ?? copy,
    NodeFilter.SHOW_TEXT,
  );
  for (let node = texts.nextNode(); node !== null; node = texts.nextNode())
    node.nodeValue = steady(node.nodeValue ?? "");
  return `<!doctype html>${copy.outerHTML}`;
};

/**
 * Compares the page, as large as its window, with the picture of this name in `e2e/pictures`. The
 * picture is taken from a copy of the page that has no scripts, so that nothing changes while it is
 * taken.
 * @param style CSS that is added to the copy
 * @returns a text when the page differs from its picture; the test's results contain both and
 *   their difference
 */
export const pictureFault = async (
  page: Page,
  name: string,
  style = "",
): Promise<string | null> => {
  await still(page);
  const html = await page.evaluate(frozenHtml);
  const copy = await page.context().newPage();
  const size = page.viewportSize();
  if (size !== null) await copy.setViewportSize(size);
  const colorScheme = await page.evaluate(() =>
    window.matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light",
  );
  await copy.emulateMedia({ colorScheme, reducedMotion: "reduce" });
  const { origin } = new URL(page.url());
  await copy.route(`${origin}/frozen`, (route) =>
    route.fulfill({ contentType: "text/html; charset=utf-8", body: html }),
  );
  await copy.goto(`${origin}/frozen`);
  if (style !== "") await copy.addStyleTag({ content: style });
  await copy.evaluate(() => document.fonts.ready.then(() => undefined));
  try {
    await expect(copy).toHaveScreenshot(`${name}.png`, {
      maxDiffPixelRatio: DIFFERENT_PIXELS_MAX,
    });
    return null;
  } catch (error) {
    return `${name}: ${String(error)}`;
  } finally {
    await copy.close();
  }
};
