import { expect, test, type Page } from "@playwright/test";
import { axeFaults, settle } from "./support/axe";
import { signInWithBurner } from "./support/person";

const PAGES = [
  "/",
  "/swap",
  "/transfer",
  "/activity",
  "/balances",
  "/wallets",
  "/accounts",
  "/payouts",
  "/payouts/new",
  "/payouts/schedules",
  "/private",
  "/private/transfer",
  "/reserves",
  "/api-keys",
  "/webhooks",
  "/settings",
  "/inbox",
  "/dev/webhooks",
];

const widthOf = (page: Page): Promise<number> => page.evaluate(() => document.documentElement.scrollWidth);

for (const colorScheme of ["light", "dark"] as const) {
  test.describe(`in ${colorScheme}`, () => {
    test.use({ colorScheme });

    test("axe finds nothing on any page, and none is wider than a phone", async ({ page }) => {
      test.setTimeout(180_000);
      await page.goto("/sign-in");
      await settle(page);
      expect(await axeFaults(page)).toEqual([]);
      await signInWithBurner(page);
      for (const path of PAGES) {
        await page.setViewportSize({ width: 1280, height: 800 });
        await page.goto(path);
        await settle(page);
        expect(await axeFaults(page), path).toEqual([]);
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
