import AxeBuilder from "@axe-core/playwright";
import { expect, test, type Page } from "@playwright/test";
import { signInWithBurner } from "./support/person";

const PAGES = ["/", "/swap", "/activity", "/wallets", "/api-keys", "/settings", "/inbox"];
const WCAG = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"];

/** Until everything that the page asks for has been answered, and nothing fades in any more. */
const settle = async (page: Page): Promise<void> => {
  await page.waitForLoadState("networkidle");
  await expect(page.getByRole("heading", { level: 1 })).toBeVisible();
  await page.evaluate(() => Promise.allSettled(document.getAnimations().map((animation) => animation.finished)));
};

const faults = async (page: Page): Promise<string[]> => {
  const { violations } = await new AxeBuilder({ page }).withTags(WCAG).analyze();
  return violations.map(({ id, nodes }) => `${id}: ${nodes.map((node) => node.target.join(" ")).join(", ")}`);
};

const widthOf = (page: Page): Promise<number> => page.evaluate(() => document.documentElement.scrollWidth);

for (const colorScheme of ["light", "dark"] as const) {
  test.describe(`in ${colorScheme}`, () => {
    test.use({ colorScheme });

    test("axe finds nothing on any page, and none is wider than a phone", async ({ page }) => {
      test.setTimeout(180_000);
      await page.goto("/sign-in");
      await settle(page);
      expect(await faults(page)).toEqual([]);
      await signInWithBurner(page);
      for (const path of PAGES) {
        await page.setViewportSize({ width: 1280, height: 800 });
        await page.goto(path);
        await settle(page);
        expect(await faults(page), path).toEqual([]);
        await page.setViewportSize({ width: 390, height: 844 });
        expect(await widthOf(page), `${path} on a phone`).toBeLessThanOrEqual(390);
      }
    });
  });
}

test("who is not signed in is sent to the sign-in page, and from there back", async ({ page }) => {
  await page.goto("/activity");
  await expect(page).toHaveURL(/\/sign-in/);
});

test("an API key is shown once, works, and stops working when it is revoked", async ({ page, request }) => {
  await signInWithBurner(page);
  await page.goto("/api-keys");
  await page.getByRole("button", { name: "New API key" }).first().click();
  await page.getByLabel("Name").fill("Payroll");
  await page.getByRole("dialog").getByRole("button", { name: "Create key" }).click();
  const secret = (await page.getByTestId("api-key-secret").textContent()) ?? "";
  expect(secret).toMatch(/^cw_test_/);
  const ask = () => request.get("/api/wallets", { headers: { "x-api-key": secret } });
  expect((await ask()).status()).toBe(200);
  await page.keyboard.press("Escape");
  await page.getByRole("button", { name: "Close for good" }).click();
  await expect(page.getByText(secret)).toHaveCount(0);
  await page.getByRole("button", { name: "Revoke Payroll" }).click();
  await page.getByRole("button", { name: "Revoke key" }).click();
  await expect(page.getByText("Revoked").first()).toBeVisible();
  await expect(async () => expect((await ask()).status()).toBe(401)).toPass({ timeout: 2000 });
});
