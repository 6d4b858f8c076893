import { expect, test, type Page } from "./support/test";
import { approveChange } from "./support/approve-change";
import { axeFaults } from "./support/axe";
import { balanceOnChain } from "./support/chain";
import { choose } from "./support/person";
import { projectOf, type TestProject } from "./support/project";
import { signIn } from "./support/sign-in";

const ADA = "0x70997970C51812dc3A010C7d01b50e0d17dc79C8";
/** An address with the same first and last four digits as Ada's. */
const LIKE_ADA = `0x7099${"0".repeat(32)}79c8`;

const approveAndExecute = async (page: Page, project: TestProject): Promise<void> => {
  await page.getByRole("button", { name: "Review", exact: true }).click();
  const review = page.getByRole("dialog", { name: "Review the transfer" });
  // The review shows the whole address in groups of digits; its text contains no spaces.
  await expect(review.getByTitle(ADA).first()).toHaveText(ADA);
  await expect(
    review.getByRole("definition").filter({ hasText: "approved contact" }),
  ).toContainText("Ada Lovelace");
  await approveChange(page, project);
  await page.waitForURL(/\/activity\/op_/);
  await expect(
    page.getByRole("heading", { name: /USDC → Ada Lovelace$/, level: 1 }),
  ).toBeVisible();
  await expect(page.getByText("Completed", { exact: true }).first()).toBeVisible({
    timeout: 60_000,
  });
};

const received = async (page: Page, chainId: number, before: string): Promise<number> =>
  Number(await balanceOnChain(page, chainId, "USDC", ADA)) - Number(before);

test("money goes to a contact on one chain and across two, and not to an address that only looks like theirs", async ({
  page,
}) => {
  test.setTimeout(180_000);
  await signIn(page.request);
  const project = await projectOf(page);
  await project.give(31337, "USDC", "500");

  await page.goto("/transfer");
  await choose(page, page.getByLabel("Token", { exact: true }), /^USDC/);
  await page.getByRole("button", { name: "Use all 500 USDC" }).click();
  await expect(page.getByLabel("Amount", { exact: true })).toHaveValue("500");
  await page.getByLabel("Amount", { exact: true }).fill("20.5");

  // Saves a new contact in the form.
  await page.getByLabel("Recipient", { exact: true }).fill(ADA);
  await page.getByRole("button", { name: "Save as contact" }).click();
  const book = page.getByRole("dialog", { name: "Address book" });
  await expect(book.getByLabel("Address")).toHaveValue(ADA);
  await book.getByLabel("Name").fill("Ada Lovelace");
  expect(await axeFaults(page)).toEqual([]);
  await book.getByRole("button", { name: "Save contact" }).click();
  await expect(book.getByRole("button", { name: "Choose Ada Lovelace" })).toBeVisible();
  await page.keyboard.press("Escape");
  // Anybody may propose a name, so the form shows only approved names.
  await expect(page.getByText("In the address book, but not approved")).toBeVisible();
  await expect(page.getByText("Ada Lovelace")).toHaveCount(0);
  await page.getByRole("button", { name: "Address book" }).click();
  await book.getByRole("button", { name: "Approve Ada Lovelace" }).click();
  await approveChange(page, project);
  await expect(book.getByText("Approved", { exact: true })).toBeVisible();
  await page.keyboard.press("Escape");
  await expect(page.getByText("Ada Lovelace, from the address book")).toBeVisible();

  // The person must compare an address that looks similar to a known one.
  await page.getByLabel("Recipient", { exact: true }).fill(LIKE_ADA);
  await expect(
    page.getByText("This address looks like Ada Lovelace in the address book, but it is not."),
  ).toBeVisible();
  await expect(
    page.getByText("Compare the address first: it looks like one that you know."),
  ).toBeVisible();
  await expect(page.getByRole("button", { name: "Review", exact: true })).toBeDisabled();
  expect(await axeFaults(page)).toEqual([]);
  await page.getByLabel(/^I have compared the whole address/).check();
  await expect(page.getByRole("button", { name: "Review", exact: true })).toBeEnabled();

  // Chooses the right address from the address book. On the same chain the recipient gets the full
  // amount.
  await page.getByRole("button", { name: "Address book" }).click();
  await book.getByRole("button", { name: "Choose Ada Lovelace" }).click();
  await expect(page.getByRole("button", { name: "Review", exact: true })).toBeEnabled();
  const before = await balanceOnChain(page, 31337, "USDC", ADA);
  await approveAndExecute(page, project);
  expect(await received(page, 31337, before)).toBeCloseTo(20.5, 6);

  await page.goto("/transfer");
  await choose(page, page.getByLabel("Token", { exact: true }), /^USDC/);
  await choose(page, page.getByLabel("To chain", { exact: true }), "Local 2");
  await page.getByLabel("Amount", { exact: true }).fill("40");
  await page.getByRole("button", { name: "Address book" }).click();
  await book.getByRole("button", { name: "Choose Ada Lovelace" }).click();
  await expect(page.getByText("Minimum received", { exact: true })).toBeVisible();
  const across = await balanceOnChain(page, 31338, "USDC", ADA);
  await approveAndExecute(page, project);
  const arrived = await received(page, 31338, across);
  expect(arrived).toBeGreaterThan(39);
  expect(arrived).toBeLessThan(40);
});

test("one's own wallet and what the service refuses are said at their fields; a contact can be deleted", async ({
  page,
}) => {
  await signIn(page.request);
  const project = await projectOf(page);
  await page.goto("/transfer");
  await choose(page, page.getByLabel("Token", { exact: true }), /^USDC/);
  await page.getByRole("button", { name: "Get quote" }).click();
  await expect(page.getByText("Enter an amount.")).toBeVisible();
  await page.getByLabel("Amount", { exact: true }).fill("0.0000001");
  await expect(page.getByText("USDC has 6 digits after the point, no more.")).toBeVisible();
  await page.getByLabel("Amount", { exact: true }).fill("1");
  await page.getByLabel("Recipient", { exact: true }).fill(project.treasury.address);
  await expect(page.getByText("You are sending to your own wallet Treasury")).toBeVisible();
  await expect(
    page.getByText("This is the wallet that sends; nothing would move."),
  ).toBeVisible();

  await page.getByRole("button", { name: "Address book" }).click();
  const book = page.getByRole("dialog", { name: "Address book" });
  await book.getByLabel("Name").fill("Bob");
  await book.getByLabel("Address").fill(ADA);
  await book.getByRole("button", { name: "Save contact" }).click();
  await book.getByRole("button", { name: "Delete Bob" }).click();
  await page.getByRole("button", { name: "Delete contact" }).click();
  await expect(book.getByText("No contacts yet")).toBeVisible();
});
