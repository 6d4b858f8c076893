import { expect, test } from "@playwright/test";
import { axeFaults, checkLooks, settle } from "./support/axe";
import { signIn } from "./support/sign-in";

test("the settings show what the project's sponsor pays, by chain, and axe finds nothing", async ({ page }) => {
  await signIn(page.request);
  await page.goto("/settings");
  await settle(page);
  const card = page.getByRole("region", { name: "Sponsor budgets" });
  await expect(card.getByText(/Resets at 00:00 UTC, in \d+ (hours?|minutes?|seconds?)/)).toBeVisible();
  const rows = card.getByRole("table", { name: "Sponsor budgets by chain" }).getByRole("row");
  await expect(rows).toHaveCount(4);
  await expect(rows.nth(1)).toContainText("Local 1");
  await expect(rows.nth(1).getByRole("cell")).toContainText(
    ["Local 1", "0 ETH", "0 ETH", "300 ETH", "300 ETH", "10 ETH"].map((text) => new RegExp(text.replace(" ", "\\s*"))),
  );
  await checkLooks(page, "settings");
  await page.setViewportSize({ width: 390, height: 844 });
  expect(await axeFaults(page)).toEqual([]);
});

test("who may not sign up is told so on the sign-in page", async ({ page, context }) => {
  // The answer of next-auth with SIGN_UP=closed; lib/http/next-auth.int.test.ts checks that the service gives it.
  await context.route("**/api/auth/callback/credentials*", (route) =>
    route.fulfill({ status: 401, json: { url: new URL("/sign-in?error=sign_up_closed", page.url()).href } }),
  );
  await page.goto("/sign-in");
  await page.getByRole("button", { name: "Use the burner wallet" }).click();
  await page.getByRole("button", { name: "Sign in", exact: true }).click();
  await expect(page.getByText(/sign-up is closed\. Ask whoever runs this installation/)).toBeVisible();
  await expect(page).toHaveURL(/\/sign-in/);
});
