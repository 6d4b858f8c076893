import { expect, test, type Page } from "./support/test";
import { settle } from "./support/axe";
import { sampled } from "./support/sample";
import { seedProject } from "./support/seed";
import { signIn } from "./support/sign-in";

/** A number with a fraction, or with the sign of dollars; no share, version, address or time. */
const AMOUNT = String.raw`(?<![\w.…:/-])(\$\s?\d[\d.,]*|\d[\d,]*\.\d+)(?![\w.:-]|\s?%)`;
/** Texts that are no amounts: the version of the database, and the choices of a slippage. */
const OTHER_NUMBERS = String.raw`^PostgreSQL \d|^0\.\d$`;

/** The same call by API, with what is typed in the form, or an example. */
const SNIPPETS = "[aria-label='cURL command'], [aria-label='TypeScript code'], [aria-label='Python code']";

/** Everything that a person could read on the page: its text, its titles, and what screen readers are told. */
const amountsOn = (page: Page): Promise<string[]> =>
  page.evaluate(
    ([amount, other, snippets]) => {
      const looksLikeAmount = new RegExp(amount);
      const isOther = new RegExp(other);
      const texts: string[] = [document.title];
      const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT | NodeFilter.SHOW_ELEMENT);
      for (let node = walker.nextNode(); node !== null; node = walker.nextNode()) {
        if (node instanceof Element) {
          if (node.matches("script, style")) continue;
          for (const name of ["title", "aria-label", "aria-description", "aria-valuetext", "alt"])
            texts.push(node.getAttribute(name) ?? "");
        } else if (node.parentElement?.closest(`script, style, noscript, ${snippets}`) === null)
          texts.push(node.textContent ?? "");
      }
      return [
        ...new Set(
          texts.map((text) => text.trim()).filter((text) => looksLikeAmount.test(text) && !isOther.test(text)),
        ),
      ];
    },
    [AMOUNT, OTHER_NUMBERS, SNIPPETS] as const,
  );

const PARTS = 3;

test.describe.configure({ mode: "parallel" });

for (let part = 0; part < PARTS; part += 1) {
  test(`hidden amounts are on no page: neither in texts nor in titles nor for screen readers (part ${String(part + 1)} of ${String(PARTS)})`, async ({
    page,
  }) => {
    test.setTimeout(300_000);
    await signIn(page.request);
    const paths = await seedProject(page);
    await page.goto("/");
    // Otherwise an empty page would pass.
    await expect.poll(() => amountsOn(page)).not.toEqual([]);
    await page.getByRole("button", { name: "Hide amounts" }).click();
    // With a token the forms of swaps and transfers say what is available.
    const filled = ["/swap?from=USDC&chain=31337", "/transfer?token=USDC&chain=31337"];
    const all = [...paths, ...filled, "/audit-log", "/notifications"];
    const found: Record<string, string[]> = {};
    for (const path of sampled(all.filter((_, index) => index % PARTS === part))) {
      await page.goto(path);
      await settle(page);
      const amounts = await amountsOn(page);
      if (amounts.length > 0) found[path] = amounts;
    }
    expect(found).toEqual({});
  });
}
