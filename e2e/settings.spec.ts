import { expect, test } from "./support/test";
import { axeFaults, checkLooks, settle } from "./support/axe";
import { projectOf } from "./support/project";
import { signIn } from "./support/sign-in";

test("the settings show what the project's sponsor pays, by chain, and axe finds nothing", async ({
  page,
}) => {
  await signIn(page.request);
  await page.goto("/settings");
  await settle(page);
  const card = page.getByRole("region", { name: "Sponsor budgets" });
  const link = page
    .getByRole("navigation", { name: "Sections" })
    .getByRole("link", { name: "Sponsor budgets" });
  await link.click();
  await expect(page).toHaveURL(/\/settings\/sponsor-budgets$/);
  await expect(link).toHaveAttribute("aria-current", "page");
  await expect(
    card.getByText(/Resets at 00:00 UTC, in \d+ (hours?|minutes?|seconds?)/),
  ).toBeVisible();
  await settle(page);
  const rows = card.getByRole("table", { name: "Sponsor budgets by chain" }).getByRole("row");
  await expect(rows).toHaveCount(4);
  await expect(rows.nth(1)).toContainText("Local 1");
  // The table hides columns that do not fit beside the other settings.
  await expect(rows.nth(1).getByRole("cell")).toContainText(
    ["Local 1", "0 ETH", "300 ETH", "Change"].map(
      (text) => new RegExp(text.replace(" ", "\\s*")),
    ),
  );
  await checkLooks(page, "settings");
  await page.setViewportSize({ width: 390, height: 844 });
  expect(await axeFaults(page)).toEqual([]);
  await page.setViewportSize({ width: 1280, height: 800 });
  await card.getByRole("button", { name: "Change the sponsor budget on Local 1" }).click();
  const dialog = page.getByRole("dialog", { name: "Sponsor budget on Local 1" });
  await dialog.getByLabel("Daily limit (ETH)").fill("301");
  await dialog.getByRole("button", { name: "Save" }).click();
  await expect(dialog.getByText(/at most 300 ETH/)).toBeVisible();
  await checkLooks(page, "sponsor budget");
  await dialog.getByLabel("Daily limit (ETH)").fill("25");
  await dialog.getByRole("button", { name: "Save" }).click();
  await expect(dialog).toHaveCount(0);
  await expect(rows.nth(1)).toContainText(/25\s*ETH/);
});

test("an owner searches the audit log, opens an entry and sees its place in the chain", async ({
  page,
}) => {
  await signIn(page.request);
  await page.goto("/audit-log");
  await settle(page);
  const table = page.getByRole("table", { name: "Audit log" });
  await expect(table.getByRole("row", { name: /Project created/ })).toBeVisible();
  await page.getByRole("searchbox", { name: "Search" }).fill("nothing like it");
  await expect(page.getByText("No entries here")).toBeVisible();
  await page.getByRole("searchbox", { name: "Search" }).fill("PROJECT.created");
  await table.getByRole("button", { name: "Project created" }).first().click();
  const dialog = page.getByRole("dialog", { name: "Project created" });
  await expect(dialog.getByText(/^Link \d+$/)).toBeVisible();
  await checkLooks(page, "audit-log-entry");
  await page.keyboard.press("Escape");
  await expect(dialog).toHaveCount(0);
  await page.reload();
  await expect(page.getByRole("searchbox", { name: "Search" })).toHaveValue("PROJECT.created");
  const download = page.waitForEvent("download");
  await page.getByRole("button", { name: "Export", exact: true }).click();
  await page.getByRole("menuitem", { name: "CSV", exact: true }).click();
  expect((await download).suggestedFilename()).toMatch(/^causeway-audit-log-[\d-]+\.csv$/);
  await checkLooks(page, "audit-log");
});

test("who may not sign up is told so on the sign-in page", async ({ page, context }) => {
  // Answers as next-auth does with SIGN_UP=closed; lib/http/next-auth.int.test.ts checks that the
  // service really answers this.
  await context.route("**/api/auth/callback/credentials*", (route) =>
    route.fulfill({
      status: 401,
      json: { url: new URL("/sign-in?error=sign_up_closed", page.url()).href },
    }),
  );
  await page.goto("/sign-in");
  await page.getByRole("button", { name: "Use the burner wallet" }).click();
  await page.getByRole("button", { name: "Sign in", exact: true }).click();
  await expect(
    page.getByText(/sign-up is closed\. Ask whoever runs this installation/),
  ).toBeVisible();
  await expect(page).toHaveURL(/\/sign-in/);
});

test("a person sets the name that others see, and it stands beside the address", async ({
  page,
}) => {
  await signIn(page.request);
  const { email } = await projectOf(page);
  await page.goto("/settings");
  const name = page.getByLabel("Your name", { exact: true });
  await name.fill("ada@example.com");
  await page.getByRole("button", { name: "Save" }).click();
  await expect(page.getByText("without @ and without a link")).toBeVisible();
  await name.fill("Ada Lovelace");
  await page.getByRole("button", { name: "Save" }).click();
  await expect(page.getByText("Your name is saved.")).toBeVisible();
  await page.reload();
  await expect(name).toHaveValue("Ada Lovelace");
  await page.goto("/members");
  const row = page.getByRole("table", { name: "Members" }).getByRole("row").nth(1);
  await expect(row).toContainText("Ada Lovelace");
  await expect(row).toContainText(email);
});
