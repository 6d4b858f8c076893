import { expect, test, type Page } from "./support/test";
import { balanceOnChain } from "./support/chain";
import {
  choose,
  fillSource,
  mailedCode,
  signInWithBurner,
  typeCode,
  verifyEmail,
} from "./support/person";

const EMAIL = `ada-${String(Date.now())}@example.test`;
const RECIPIENT = "0x70997970C51812dc3A010C7d01b50e0d17dc79C8";

/**
 * Gets test tokens in both ways: by the button of the first step, and, once that step is done, by
 * the panel for test tokens.
 */
const fund = async (page: Page): Promise<void> => {
  await page.goto("/");
  await page.getByRole("button", { name: "1,000 USDC on Local 1" }).click();
  await expect(page.getByText("$1,000.00").first()).toBeVisible();
  await page.getByRole("region", { name: "Get test tokens" }).scrollIntoViewIfNeeded();
  await choose(page, page.getByLabel("Chain", { exact: true }), "Local 2");
  await page.getByRole("button", { name: "Send to the treasury" }).click();
  await expect(page.getByText("$2,000.00").first()).toBeVisible();
};

test("a newcomer swaps tokens of two chains into another on a third, and the chains agree", async ({
  page,
}) => {
  test.setTimeout(180_000);
  const foreign = new Set<string>();
  const problems: string[] = [];
  page.on("request", (request) => {
    const { hostname, protocol } = new URL(request.url());
    if (protocol.startsWith("http") && !["localhost", "127.0.0.1"].includes(hostname))
      foreign.add(hostname);
  });
  page.on("pageerror", (error) => problems.push(error.message));
  const seen: string[] = [];

  await signInWithBurner(page);
  await verifyEmail(page, EMAIL, seen);
  await fund(page);

  await page.goto("/swap");
  await fillSource(page, 1, { chain: "Local 1", token: "USDC", amount: "120" });
  await page.getByRole("button", { name: "Add source" }).click();
  await fillSource(page, 2, { chain: "Local 2", token: "USDC", amount: "80" });
  await choose(page, page.getByLabel("Destination chain", { exact: true }), "Local 3");
  await choose(page, page.getByLabel("Destination token", { exact: true }), /^WETH/);
  await page.getByLabel("Recipient", { exact: true }).fill(RECIPIENT);
  const before = await balanceOnChain(page, 31339, "WETH", RECIPIENT);
  await page.getByRole("button", { name: "Review", exact: true }).click();
  const review = page.getByRole("dialog", { name: "Review the swap" });
  await expect(review.getByTitle(RECIPIENT).first()).toHaveText(RECIPIENT);
  await expect(review.getByRole("button", { name: "Swap 200.00 USDC" })).toBeVisible();
  await expect(review.getByRole("list", { name: "Steps of the swap" })).toHaveText(
    /Review.*Approve.*Done/,
  );
  // The code was mailed when the review opened. Its last digit approves and executes.
  await expect(review.getByLabel("One-time code")).toBeFocused();
  await expect(review.getByText(/^Code sent to/)).toBeVisible();
  await typeCode(page, await mailedCode(page.request, EMAIL, seen));

  await page.waitForURL(/\/activity\/op_/);
  await expect(page.getByText("Completed", { exact: true }).first()).toBeVisible({
    timeout: 60_000,
  });
  const after = await balanceOnChain(page, 31339, "WETH", RECIPIENT);
  const received = Number(after) - Number(before);
  expect(received).toBeGreaterThan(0.05);

  await page.reload();
  await expect(page.getByText("Completed", { exact: true }).first()).toBeVisible();
  await page.goto("/activity");
  await expect(page.getByText("Completed").first()).toBeVisible();
  expect([...foreign]).toEqual([]);
  expect(problems).toEqual([]);
});
