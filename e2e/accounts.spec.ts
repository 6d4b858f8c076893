import { readFileSync } from "node:fs";
import { expect, test, type Page } from "./support/test";
import type { ReservesProof } from "@/components/features/global-accounts/verify-proof";
import { getReserves } from "@/lib/contracts/reserves";
import { rootOf } from "@/lib/books/reserves/sum-trees";
import { readCamt053 } from "@/lib/dev/testing/camt053";
import { approveChange } from "./support/approve-change";
import { axeFaults } from "./support/axe";
import { choose, typeCode } from "./support/person";
import { projectOf, type TestProject } from "./support/project";
import { signIn } from "./support/sign-in";

/** Matches an amount with its unit, as the pages show it. */
const usdc = (amount: string, more = ""): RegExp =>
  new RegExp(`${amount.replace(".", "\\.")} ?USDC${more}`);

/** Opens a global account. Returns its id. */
const openAccount = async (page: Page, name: string): Promise<string> => {
  await page.goto("/accounts");
  await page.getByRole("button", { name: "Open account" }).first().click();
  const dialog = page.getByRole("dialog", { name: "Open a global account" });
  await dialog.getByLabel("Name").fill(name);
  await choose(page, dialog.getByLabel("Currency"), /^USDC/);
  expect(await axeFaults(page)).toEqual([]);
  await dialog.getByRole("button", { name: "Open account" }).click();
  await page.waitForURL(/\/accounts\/ga_/);
  await expect(page.getByRole("heading", { name, level: 1 })).toBeVisible();
  // The list shows names and no ids, but the account's page offers its id for copying.
  await expect(
    page.getByRole("main").getByRole("button", { name: "Copy id" }).first(),
  ).toBeVisible();
  return page.url().split("/").at(-1) ?? "";
};

/**
 * Asks for more than the reserves have, which is refused with the missing amount, and then funds
 * the account.
 */
const fundAccount = async (page: Page, id: string): Promise<void> => {
  await page.goto(`/accounts/${id}`);
  await page.getByRole("button", { name: "Fund", exact: true }).click();
  const dialog = page.getByRole("dialog");
  // Reserves count money only at final blocks, so the money from the faucet takes a moment.
  await expect(dialog.getByText(usdc("1,000.00")).first()).toBeVisible({ timeout: 30_000 });
  await dialog.getByLabel("Amount in USDC").fill("1,250.5");
  await expect(dialog.getByText(usdc("250.50", " more than the reserves have"))).toBeVisible();
  expect(await axeFaults(page)).toEqual([]);
  await dialog.getByLabel("Amount in USDC").fill("600");
  await dialog.getByRole("button", { name: "Fund account" }).click();
  await expect(dialog).toHaveCount(0);
  await expect(
    page.getByRole("region", { name: "Balance" }).getByText(usdc("600.00")),
  ).toHaveCount(2);
  await expect(page.getByRole("table", { name: "Entries" }).getByText("+600")).toBeVisible();
};

/** Types one row by hand, and pastes another one that has an error at first. */
const fillPayout = async (page: Page, payer: string, payee: string): Promise<void> => {
  await page.goto(`/accounts/${payer}`);
  await page.getByRole("link", { name: "Pay accounts" }).click();
  await page.waitForURL(/\/payouts\/new/);
  await page.getByRole("button", { name: "Type a row" }).click();
  await choose(page, page.getByLabel("Row 1 recipient"), /^Ada/);
  await page.getByLabel("Row 1 amount").fill("150.5");
  await page.getByRole("button", { name: "Paste" }).click();
  const pasting = page.getByRole("dialog", { name: "Paste rows" });
  await pasting
    .getByLabel("Rows")
    .fill(`recipientAccountId,amount,reference\n${payee},0.0000001,"Bonus, spring"`);
  await pasting.getByRole("button", { name: "Read rows" }).click();
  const mapping = page.getByRole("dialog", { name: "Match the columns" });
  await mapping.getByRole("button", { name: "Add to the 1 row" }).click();
  await expect(page.getByText("USDC has 6 digits after the point, no more.")).toBeVisible();
  await page.getByLabel("Reference", { exact: true }).fill("Salaries May");
  expect(await axeFaults(page)).toEqual([]);
  await page.getByLabel("Row 2 amount").fill("49.5");
  await page.getByRole("button", { name: "Review payout" }).click();
};

const approve = async (page: Page, project: TestProject): Promise<void> => {
  await page.waitForURL(/\/payouts\/po_/);
  const dialog = page.getByRole("dialog", { name: "Review the payout" });
  await expect(dialog.getByText("Payroll", { exact: true })).toBeVisible();
  await expect(dialog.getByText(/^Code sent to/)).toBeVisible();
  expect(await axeFaults(page)).toEqual([]);
  await typeCode(page, await project.code());
  await expect(page.getByText("2 of 2 rows paid.").first()).toBeVisible({ timeout: 30_000 });
  await expect(
    page.getByRole("table", { name: "Rows" }).getByText("Paid", { exact: true }),
  ).toHaveCount(2);
};

const saved = async (page: Page, button: string): Promise<string> => {
  const download = page.waitForEvent("download");
  await page.getByRole("button", { name: button }).click();
  return readFileSync(await (await download).path(), "utf8");
};

const checkStatement = async (page: Page, payee: string): Promise<void> => {
  await page.goto(`/accounts/${payee}?view=statement`);
  const entries = page.getByRole("table", { name: /^Entries of the statement/ });
  await expect(entries.getByText("+150.50")).toBeVisible();
  await expect(entries.getByText("Payroll").first()).toBeVisible();
  await expect(page.getByText(usdc("200.00")).last()).toBeVisible();
  const csv = await saved(page, "Download CSV");
  expect(csv).toContain("150.5");
  expect(csv.split("\r\n").length).toBeGreaterThan(3);
  const { closing, entries: booked } = readCamt053(await saved(page, "Download camt.053"));
  expect(closing).toBe("200");
  expect(booked.map(({ amount }) => amount)).toContain("150.5");
  const pdf = await saved(page, "Download PDF");
  expect(pdf).toMatch(/^%PDF-1\.4/);
  expect(pdf).toContain("150.5");
  await entries.getByRole("link", { name: "Payout from Payroll" }).first().click();
  await expect(page.getByRole("heading", { level: 1 })).toBeVisible();
  await expect(page).toHaveURL(/\/payouts\/po_/);
};

const checkProof = async (page: Page, payee: string): Promise<void> => {
  await page.goto("/reserves");
  const region = page.getByRole("region", { name: /^USDC/ });
  await expect(region.getByText("Covered", { exact: true })).toBeVisible();
  await expect(region.getByText(usdc("600.00")).first()).toBeVisible();
  // The treasury holds 1,000, and the accounts are owed 600.
  await expect(region.getByText("166.6 %")).toBeVisible();
  await expect(region.getByRole("table")).toBeHidden();
  await region.getByText("Chains, blocks and proof").click();
  await expect(region.getByRole("table", { name: "USDC on chain" })).toBeVisible();
  expect(await axeFaults(page)).toEqual([]);
  await page.goto(`/accounts/${payee}?view=proof`);
  await page.getByRole("button", { name: "Create the proof" }).click();
  // A new account is part of the next sum tree, which is built some seconds later.
  await expect(page.getByText("This browser computed the way to the root")).toBeVisible({
    timeout: 45_000,
  });
  expect(await axeFaults(page)).toEqual([]);
  const proof = JSON.parse(await saved(page, "Download proof")) as ReservesProof;
  expect(proof.accountId).toBe(payee);
  const { assetId, accountId, salt } = proof;
  const steps = proof.siblings.map(({ hash, sumBase, side }) => ({
    hash,
    sum: BigInt(sumBase),
    side,
  }));
  const root = rootOf({ assetId, accountId, salt, balance: BigInt(proof.balanceBase) }, steps);
  expect(root).toEqual({ hash: proof.root.hash, sum: BigInt(proof.root.sumBase) });
};

/**
 * Pays a wallet from the account. An amount above its balance is refused before anything is sent.
 */
const withdraw = async (page: Page, project: TestProject, id: string): Promise<void> => {
  await page.goto(`/accounts/${id}`);
  await page.getByRole("link", { name: "Withdraw" }).click();
  await page.getByLabel("Amount", { exact: true }).fill("200.5");
  await page.getByLabel("Recipient").fill("0x70997970C51812dc3A010C7d01b50e0d17dc79C8");
  await expect(page.getByText("The account has less than that available.")).toBeVisible();
  await page.getByLabel("Amount", { exact: true }).fill("20.5");
  expect(await axeFaults(page)).toEqual([]);
  await page.getByRole("button", { name: "Review" }).click();
  const dialog = page.getByRole("dialog", { name: "Review the withdrawal" });
  await expect(dialog.getByText("Ada", { exact: true })).toBeVisible();
  await expect(dialog.getByText(usdc("20.50")).first()).toBeVisible();
  expect(await axeFaults(page)).toEqual([]);
  await expect(page.getByText(/^Code sent to/)).toBeVisible();
  await typeCode(page, await project.code());
  await expect(page.getByText("1 of 1 row paid.").first()).toBeVisible({ timeout: 30_000 });
  await page.getByRole("link", { name: "Ada" }).click();
  const entries = page.getByRole("table", { name: "Entries" });
  const entry = entries.getByRole("row", { name: /Withdrawal.*20\.50/ });
  await expect(entry).toBeVisible();
  await expect(entry.getByRole("link", { name: "Withdrawal", exact: true })).toHaveAttribute(
    "href",
    /^\/payouts\/po_/,
  );
  await page.goto("/activity");
  const line = page.getByRole("row").filter({ hasText: "Withdrawal from Ada" });
  await expect(line.getByRole("link", { name: "20.50 USDC to 1 recipient" })).toHaveAttribute(
    "href",
    /^\/payouts\/po_/,
  );
};

/**
 * Pays the same wallet again. Within 30 days this needs an extra confirmation, and then leads to
 * the same review.
 */
const withdrawAgain = async (page: Page, id: string): Promise<void> => {
  await page.goto(`/accounts/${id}/withdraw`);
  await page.getByLabel("Amount", { exact: true }).fill("20.5");
  await page.getByLabel("Recipient").fill("0x70997970C51812dc3A010C7d01b50e0d17dc79C8");
  await page.getByRole("button", { name: "Review" }).click();
  const review = page.getByRole("dialog", { name: "Review the withdrawal" });
  const again = page.getByRole("button", { name: "Withdraw it again" });
  await expect(again).toBeVisible();
  await expect(review).toHaveCount(0);
  expect(await axeFaults(page)).toEqual([]);
  await again.click();
  await expect(review).toBeVisible();
};

/**
 * Funds the account a second time, and takes this funding back. The first funding was spent, so it
 * cannot be taken back.
 */
const takeBack = async (page: Page, payer: string): Promise<void> => {
  await page.goto(`/accounts/${payer}`);
  await page.getByRole("button", { name: "Fund", exact: true }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByLabel("Amount in USDC").fill("25");
  await dialog.getByRole("button", { name: "Fund account" }).click();
  await expect(dialog).toHaveCount(0);
  const entries = page.getByRole("table", { name: "Entries" });
  await entries
    .getByRole("row", { name: /\+600/ })
    .getByRole("button", { name: /^Take back/ })
    .click();
  const confirm = page.getByRole("alertdialog", { name: "Take this funding back?" });
  await confirm.getByRole("button", { name: "Take back" }).click();
  await expect(
    confirm.getByText(/^The account has .* available, less than the funding/),
  ).toBeVisible();
  await confirm.getByRole("button", { name: "Leave it" }).click();
  await entries
    .getByRole("row", { name: /\+25/ })
    .getByRole("button", { name: /^Take back/ })
    .click();
  expect(await axeFaults(page)).toEqual([]);
  await confirm.getByRole("button", { name: "Take back" }).click();
  await expect(confirm).toHaveCount(0);
  await expect(entries.getByText("Taken back", { exact: true })).toBeVisible();
  await expect(entries.getByText("Reversal")).toBeVisible();
  await entries.getByRole("link", { name: "Funding taken back" }).click();
  // The link leads to the funding that was taken back, and to no other.
  await expect(
    page.getByRole("table", { name: "Activity" }).getByRole("row", { name: /Account funding/ }),
  ).toHaveCount(1);
};

test("an account is funded from the treasury and pays another; statement, reserves and proof agree", async ({
  page,
}) => {
  test.setTimeout(240_000);
  const problems: string[] = [];
  page.on("pageerror", (error) => problems.push(error.message));
  await signIn(page.request);
  const project = await projectOf(page);
  await project.give(31337, "USDC", "1000");
  const payer = await openAccount(page, "Payroll");
  const payee = await openAccount(page, "Ada");
  await fundAccount(page, payer);
  await fillPayout(page, payer, payee);
  await approve(page, project);
  await checkStatement(page, payee);
  await checkProof(page, payee);
  await takeBack(page, payer);
  await withdraw(page, project, payee);
  await withdrawAgain(page, payee);
  expect(problems).toEqual([]);
});

const act = async (page: Page, action: string): Promise<void> => {
  await page.getByRole("button", { name: "More actions" }).click();
  await page.getByRole("menuitem", { name: action }).click();
};

test("an account is renamed, frozen for a reason, unfrozen by code, and closed while it is empty", async ({
  page,
}) => {
  test.setTimeout(120_000);
  await signIn(page.request);
  const project = await projectOf(page);
  await openAccount(page, "Rent");

  await act(page, "Rename");
  const rename = page.getByRole("dialog", { name: "Rename the account" });
  await rename.getByLabel("Name", { exact: true }).fill("Rent, Berlin");
  expect(await axeFaults(page)).toEqual([]);
  await rename.getByRole("button", { name: "Rename", exact: true }).click();
  await expect(page.getByRole("heading", { name: "Rent, Berlin", level: 1 })).toBeVisible();

  await act(page, "Freeze");
  const freeze = page.getByRole("dialog", { name: "Freeze Rent, Berlin" });
  await freeze.getByRole("button", { name: "Freeze account" }).click();
  await expect(freeze.getByText("Enter the reason.")).toBeVisible();
  await freeze.getByLabel("Reason").fill("Their documents expired");
  await freeze.getByRole("button", { name: "Freeze account" }).click();
  await expect(page.getByText("This account is frozen")).toBeVisible();
  await expect(page.getByText("Their documents expired")).toBeVisible();
  await expect(page.getByRole("button", { name: "Fund", exact: true })).toHaveCount(0);
  expect(await axeFaults(page)).toEqual([]);

  await act(page, "Unfreeze");
  const unfreeze = page.getByRole("dialog", { name: "Unfreeze Rent, Berlin" });
  await unfreeze.getByRole("button", { name: "Unfreeze account" }).click();
  await expect(unfreeze.getByRole("region", { name: "Change to approve" })).toContainText(
    "Their documents expired",
  );
  await approveChange(page, project);
  await expect(page.getByRole("button", { name: "Fund", exact: true })).toBeVisible();

  await act(page, "Close account");
  await page.getByRole("alertdialog").getByRole("button", { name: "Close account" }).click();
  await expect(page.getByText("Closed", { exact: true })).toBeVisible();
  await act(page, "Rename");
  await expect(rename).toBeVisible();
});

test("a new account begins with a currency that the treasury holds", async ({ page }) => {
  await signIn(page.request);
  const project = await projectOf(page);
  await project.give(31337, "DAI", "5");
  const hasDai = async (): Promise<boolean> => {
    const { data } = await project.api.call(getReserves);
    return data.some(({ currency, available }) => currency === "DAI" && Number(available) > 0);
  };
  await expect.poll(hasDai, { timeout: 60_000 }).toBe(true);
  await page.goto("/accounts?new=true");
  const dialog = page.getByRole("dialog", { name: "Open a global account" });
  await expect(dialog.getByLabel("Currency")).toContainText("DAI");
});
