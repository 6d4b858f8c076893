import { expect, test } from "./support/test";
import { createApiKey } from "@/lib/contracts/api-keys";
import { createContact } from "@/lib/contracts/contacts";
import { createGlobalAccount } from "@/lib/contracts/global-accounts";
import { createWalletsPayout } from "@/lib/contracts/payouts";
import { axeFaults } from "./support/axe";
import { changeRows } from "./support/database";
import { projectOf } from "./support/project";
import { signIn } from "./support/sign-in";

test("a page that does not exist says so inside the frame, with the way on", async ({
  page,
}) => {
  await signIn(page.request);
  const answer = await page.goto("/no/such/page");
  expect(answer?.status()).toBe(404);
  await expect(page.getByRole("heading", { name: "Nothing here", level: 1 })).toBeVisible();
  await expect(page.getByRole("navigation", { name: "Main" })).toBeVisible();
  expect(await axeFaults(page)).toEqual([]);
  await page.getByRole("link", { name: "Go to the overview" }).click();
  await expect(page.getByRole("heading", { name: "Overview", level: 1 })).toBeVisible();
});

test("the palette finds records by their names, says nothing above a hit, and gives the focus back", async ({
  page,
}) => {
  await signIn(page.request);
  const project = await projectOf(page);
  const { treasury } = project;
  await page.goto("/");
  const opener = page.getByRole("button", { name: /Go to or search/ });
  await opener.click();
  const palette = page.getByRole("dialog", { name: "Go to or search" });
  await palette.getByRole("combobox").fill("treas");
  await expect(palette.getByRole("option", { name: /^Treasury/ })).toBeVisible();
  await expect(palette.getByText("Nothing found.")).toHaveCount(0);
  await palette.getByRole("combobox").fill(treasury.address);
  await expect(
    palette.getByRole("option", { name: /^The wallet with this address/ }),
  ).toBeVisible();
  await expect(palette.getByText("Nothing found.")).toHaveCount(0);
  await palette.getByRole("combobox").fill("qqqq");
  await expect(palette.getByText("Nothing found.")).toBeVisible();
  await page.keyboard.press("Escape");
  await expect(palette).toHaveCount(0);
  await expect(opener).toBeFocused();
  await page.keyboard.press("Control+k");
  await palette.getByRole("combobox").fill("sign out");
  await page.keyboard.press("Enter");
  await expect(page).toHaveURL(/\/sign-in/);
});

const ADA = "0x70997970C51812dc3A010C7d01b50e0d17dc79C8";
const DAY_MS = 86_400_000;
const DAYS = 29;

test("the overview of a project with a history shows its balances without a scroll", async ({
  page,
}) => {
  await signIn(page.request);
  const project = await projectOf(page);
  await project.give(31337, "USDC", "100");
  for (let day = 1; day <= DAYS; day += 1)
    await changeRows(
      `INSERT INTO balance_snapshot (project_id, hour, taken_at, total_usd, assets)
       SELECT project_id, $2::timestamptz, $2::timestamptz, $3::numeric, '{}'::jsonb FROM wallet WHERE id = $1`,
      [project.treasury.id, new Date(Date.now() - day * DAY_MS), String(50 + day)],
    );
  await page.setViewportSize({ width: 1440, height: 900 });
  await page.goto("/");
  await expect(page.getByText(/since 29 days ago/)).toBeVisible();
  const row = page
    .getByRole("region", { name: "Balances" })
    .getByRole("row", { name: /^USDC/ });
  await expect(row).toBeInViewport({ ratio: 1 });
});

test("the palette finds accounts, contacts, payouts and actions, and hides the amounts", async ({
  page,
}) => {
  await signIn(page.request);
  const project = await projectOf(page);
  const { api } = project;
  await project.give(31337, "USDC", "100");
  const account = await api.call(createGlobalAccount, {
    body: { currency: "USDC", name: "Deposits of tenants" },
  });
  await api.call(createContact, { body: { name: "Ada Lovelace", address: ADA } });
  const transfers = [{ address: ADA, amount: "12.5", token: "USDC" }];
  const { payoutId } = await api.call(createWalletsPayout, {
    body: { chainId: 31337, transfers },
  });
  await page.goto("/");
  const palette = page.getByRole("dialog", { name: "Go to or search" });
  const find = async (typed: string, option: RegExp): Promise<void> => {
    await page.keyboard.press("Control+k");
    await palette.getByRole("combobox").fill(typed);
    await expect(palette.getByRole("option", { name: option })).toBeVisible();
    await expect(palette.getByText("Nothing found.")).toHaveCount(0);
    await palette.getByRole("option", { name: option }).click();
    await expect(palette).toHaveCount(0);
  };
  await find("tenants", /^Deposits of tenants/);
  await expect(page).toHaveURL(new RegExp(`/accounts/${account.id}$`));
  await find("lovelace", /Ada Lovelace/);
  await expect(page).toHaveURL(/\/transfer/);
  await expect(page.getByLabel("Recipient", { exact: true })).toHaveValue(ADA);
  // A payout without a reference is found by the title that lists show for it.
  await find("12.50 usdc", /^12\.50 USDC to 1 recipient.*Pending/);
  await expect(page).toHaveURL(new RegExp(`/payouts/${String(payoutId)}$`));
  await find("new contact", /^New contact/);
  await expect(page.getByRole("dialog", { name: "Add a contact" })).toBeVisible();
  await page.keyboard.press("Escape");
  await find("hide", /^Hide amounts/);
  await page.goto("/balances");
  await expect(page.getByTestId("total-usd")).toContainText("hidden");
});

/**
 * One dialog for each way to open it: by a button of the page, by a button of a row, and by an item
 * of a menu.
 */
const OPENERS: readonly (readonly [path: string, opener: string | RegExp, item?: string])[] = [
  ["/contacts", "Add contact"],
  ["/contacts", "Actions for Ada Lovelace", "Edit"],
  ["/contacts", "Actions for Ada Lovelace", "Delete"],
  ["/accounts", "Open account"],
  ["/api-keys", "New API key"],
  ["/api-keys", "Edit Shop backend"],
  ["/api-keys", "Make a new secret for Shop backend"],
  ["/api-keys", "Revoke Shop backend"],
  ["/webhooks", "New endpoint"],
  ["/wallets", "New smart account"],
  ["/wallets", "Link a wallet"],
  ["/members", "Invite"],
  ["/private", "New wallet"],
  ["account", "More actions", "Rename"],
  ["account", "More actions", "Freeze"],
  ["account", "More actions", "Close account"],
  ["/transfer", "Address book"],
];

test("every dialog gives the focus back to what opened it", async ({ page }) => {
  test.setTimeout(180_000);
  await signIn(page.request);
  const { api } = await projectOf(page);
  const account = await api.call(createGlobalAccount, {
    body: { currency: "USDC", name: "Rent" },
  });
  await api.call(createContact, { body: { name: "Ada Lovelace", address: ADA } });
  await api.call(createApiKey, { body: { name: "Shop backend", scopes: ["wallets:read"] } });
  for (const [path, name, item] of OPENERS) {
    await page.goto(path === "account" ? `/accounts/${account.id}` : path);
    const opener = page.getByRole("main").getByRole("button", { name, exact: true }).first();
    await opener.focus();
    await page.keyboard.press("Enter");
    if (item !== undefined) await page.getByRole("menuitem", { name: item }).press("Enter");
    const dialog = page.getByRole("dialog").or(page.getByRole("alertdialog")).first();
    await expect(dialog, `${path} ${name}`).toBeVisible();
    await page.keyboard.press("Escape");
    await expect(dialog, `${path} ${name}`).toHaveCount(0);
    await expect(opener, `${path} ${name} ${item ?? ""}`).toBeFocused();
  }
});
