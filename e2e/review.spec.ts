/** From the form of a payout straight to its review, and back. */
import { getPayout } from "@/lib/contracts/payouts";
import { expect, openPage, test, type Page } from "./support/test";
import { checkLooks } from "./support/axe";
import { choose, typeCode } from "./support/person";
import { projectOf } from "./support/project";
import { signIn } from "./support/sign-in";
import { demandVotes, joins } from "./support/votes";

const CHAIN = 31337;
const ADA = "0x70997970C51812dc3A010C7d01b50e0d17dc79C8";
/** Begins and ends like `ADA`. */
const LIKE_ADA = "0x7099797000000000000000000000000017dc79c8";

const row = async (page: Page, recipient: string, amount: string): Promise<void> => {
  await page.goto("/payouts/new?to=wallets");
  await page.getByRole("button", { name: "Type a row" }).click();
  await page.getByLabel("Row 1 recipient").fill(recipient);
  await page.getByLabel("Row 1 amount").fill(amount);
};

const idIn = (page: Page): string => /po_[^?/]+/.exec(page.url())?.[0] ?? "";

test("Review opens the review with its code; Edit cancels it and keeps rows and reference", async ({
  page,
}) => {
  test.setTimeout(120_000);
  await signIn(page.request);
  const project = await projectOf(page);
  await project.give(CHAIN, "USDC", "500");
  await row(page, ADA, "20");
  await page.getByLabel("Reference", { exact: true }).fill("Invoice 7");
  await page.getByRole("button", { name: "Review payout" }).click();
  const review = page.getByRole("dialog", { name: "Review the payout" });
  await expect(review.getByText(/^Code sent to/)).toBeVisible();
  const first = idIn(page);
  await page.keyboard.press("Escape");
  await expect(review).toHaveCount(0);
  await page.getByRole("button", { name: "Edit", exact: true }).click();
  await page.waitForURL(/\/payouts\/new/);
  await expect(page.getByLabel("Row 1 recipient")).toHaveValue(ADA);
  await expect(page.getByLabel("Reference", { exact: true })).toHaveValue("Invoice 7");
  expect(await project.api.call(getPayout, { params: { id: first } })).toMatchObject({
    status: "cancelled",
  });

  await page.getByLabel("Row 1 amount").fill("25");
  await page.getByRole("button", { name: "Review payout" }).click();
  await expect(review).toContainText(/25\.00 ?USDC/);
  await expect(review).toContainText(/Available after\s*475\.00 ?USDC on/);
  expect(idIn(page)).not.toBe(first);
  await checkLooks(page, "review of a payout");
  await typeCode(page, await project.code());
  await expect(page.getByText("1 of 1 row paid.").first()).toBeVisible({ timeout: 30_000 });
  // The rows were sent, so the form is empty.
  await page.goto("/payouts/new?to=wallets");
  await expect(page.getByRole("button", { name: "Type a row" })).toBeVisible();
  await expect(page.getByLabel("Row 1 recipient")).toHaveCount(0);
});

test("a look-alike recipient of a payout or schedule is compared before it can be approved", async ({
  page,
}) => {
  test.setTimeout(120_000);
  await signIn(page.request);
  const project = await projectOf(page);
  await project.give(CHAIN, "USDC", "500");
  await project.addApproved({ name: "Ada Lovelace", address: ADA });
  for (const kind of ["payout", "schedule"] as const) {
    await row(page, LIKE_ADA, "20");
    if (kind === "schedule") await page.getByLabel("Pay later or repeatedly").check();
    await page.getByRole("button", { name: `Review ${kind}` }).click();
    const review = page.getByRole("dialog", { name: `Review the ${kind}` });
    const compared = review.getByLabel("I have compared each whole address with its owner.");
    await expect(review.getByText("Look at these rows again")).toBeVisible();
    await expect(compared).not.toBeChecked();
    await expect(review.getByText(/^Code sent to|^A code was sent/)).toHaveCount(0);
    await checkLooks(page, `review of a look-alike ${kind}`);
    await compared.check();
    await expect(review.getByText(/^Code sent to|^A code was sent/)).toBeVisible();
  }
});

test("a transfer that needs votes says so on its review, and its button asks for them", async ({
  page,
  browser,
}) => {
  test.setTimeout(180_000);
  await signIn(page.request);
  const owner = await projectOf(page);
  await owner.give(CHAIN, "USDC", "50");
  const guest = await openPage(browser);
  await signIn(guest.request);
  await joins(page, owner, guest, (await projectOf(guest)).email);
  await demandVotes(page);

  await page.goto("/transfer");
  await choose(page, page.getByLabel("Token", { exact: true }), /^USDC/);
  await page.getByLabel("Amount", { exact: true }).fill("12.5");
  await page.getByLabel("Recipient", { exact: true }).fill(ADA);
  await page.getByRole("button", { name: "Review", exact: true }).click();
  const review = page.getByRole("dialog", { name: "Review the transfer" });
  await expect(review).toContainText(
    "1 person of the admins, operators and owners must approve, other than the person who asks",
  );
  await expect(review.getByRole("button", { name: "Ask for 1 approval" })).toBeVisible();
  await expect(review.getByText(/^Code sent to/)).toBeVisible();
  await checkLooks(page, "review of a transfer that needs votes");
  await typeCode(page, await owner.code());
  await page.waitForURL(/\/activity\/op_/);
  await expect(page.getByText("See the approvals")).toBeVisible();
});
