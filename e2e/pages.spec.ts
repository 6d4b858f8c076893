import { expect, test } from "./support/test";
import { checkLooks, settle } from "./support/axe";
import { seedProject } from "./support/seed";
import { signIn } from "./support/sign-in";

const PAGES = [
  "/",
  "/swap",
  "/transfer",
  "/receive",
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
  "/contacts",
  "/api-reference",
  "/api-keys",
  "/webhooks",
  "/members",
  "/audit-log",
  "/accept-invitation",
  "/settings",
  "/inbox",
  "/notifications",
  "/dev/mail",
  "/dev/webhooks",
];

// The tests share nothing, so each worker may take one.
test.describe.configure({ mode: "parallel" });

test("no page without data has a fault that axe finds, in either theme, or is wider than a phone", async ({ page }) => {
  test.setTimeout(240_000);
  await page.goto("/sign-in");
  await settle(page);
  await checkLooks(page, "/sign-in");
  await signIn(page.request);
  for (const path of PAGES) {
    await page.goto(path);
    await settle(page);
    await checkLooks(page, path);
  }
});

test("no page that is full of data has a fault that axe finds, in either theme, or is wider than a phone", async ({
  page,
}) => {
  test.setTimeout(300_000);
  await signIn(page.request);
  for (const path of await seedProject(page)) {
    await page.goto(path);
    await settle(page);
    await checkLooks(page, path);
  }
});

test("a person who is not signed in is sent to the sign-in page, and after it to the page that was asked for", async ({
  page,
}) => {
  await page.goto("/activity?kind=transfer");
  await expect(page).toHaveURL(/\/sign-in\?from=/);
  await page.getByRole("button", { name: "Use the burner wallet" }).click();
  await page.getByRole("button", { name: "Sign in", exact: true }).click();
  await expect(page).toHaveURL(/\/activity\?kind=transfer$/);
  await expect(page.getByRole("heading", { name: "Activity", level: 1 })).toBeVisible();
});

test("an API key is shown once, works, and stops working when it is revoked", async ({ page, request }) => {
  await signIn(page.request);
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
  await expect(async () => expect((await ask()).status()).toBe(401)).toPass();
});
