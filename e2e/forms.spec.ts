import { expect, test, type Locator } from "./support/test";
import { axeFaults, checkLooks } from "./support/axe";
import { createGlobalAccount, fundGlobalAccount } from "@/lib/contracts/global-accounts";
import { listOperations } from "@/lib/contracts/operations";
import { codesMailedTo } from "./support/email-codes";
import { choose, fillSource, typeCode } from "./support/person";
import { projectOf } from "./support/project";
import { signIn } from "./support/sign-in";

const RECIPIENT = "0x70997970C51812dc3A010C7d01b50e0d17dc79C8";
const CHAIN = 31337;
const RESERVES_TIMEOUT_MS = 30_000;

test("MAX leaves what backs global accounts, and more is refused with the reason before a code is mailed", async ({
  page,
}) => {
  test.setTimeout(120_000);
  await signIn(page.request);
  const project = await projectOf(page);
  await project.give(CHAIN, "USDC", "842.25");
  const account = await project.api.call(createGlobalAccount, {
    body: { currency: "USDC", name: "Payroll" },
  });
  await expect(async () => {
    await project.api.call(fundGlobalAccount, {
      params: { id: account.id },
      body: { amount: "580", currency: account.assetId },
    });
  }).toPass({ timeout: RESERVES_TIMEOUT_MS });

  await page.goto("/transfer?token=USDC&chain=31337");
  await page.getByRole("button", { name: "Use all 262.25 USDC" }).click();
  await expect(page.getByLabel("Amount", { exact: true })).toHaveValue("262.25");
  await page.getByLabel("Recipient", { exact: true }).fill(RECIPIENT);
  await expect(page.getByRole("button", { name: "Review", exact: true })).toBeEnabled();
  await page.getByLabel("Amount", { exact: true }).fill("300");
  await expect(page.getByText(/You are short 37\.75\s*USDC/)).toBeVisible();
  await expect(page.getByRole("button", { name: "Review", exact: true })).toBeDisabled();
  await expect(
    page.getByRole("link", { name: "take money back from an account" }),
  ).toBeVisible();

  await page.goto("/swap");
  await fillSource(page, 1, { chain: "Local 1", token: "USDC", amount: "300" });
  await expect(page.getByText(/You are short 37\.75\s*USDC/)).toBeVisible();
  await expect(page.getByRole("button", { name: "Review", exact: true })).toBeDisabled();
});

test("a link fills the swap in; amounts are read as they are written, in dollars too; the direction turns round", async ({
  page,
}) => {
  await signIn(page.request);
  const project = await projectOf(page);
  await project.give(31338, "USDC", "5000");
  await page.goto("/swap?from=USDC&amount=1250.5&to=WETH&toChain=31339");
  const amount = page.getByLabel("Source 1 amount", { exact: true });
  // The link names no chain, so the form chooses the one where the token is.
  await expect(page.getByLabel("Source 1 token", { exact: true })).toHaveText(
    "USDC on Local 2",
  );
  await expect(amount).toHaveValue("1250.5");
  await expect(page.getByLabel("Destination token", { exact: true })).toContainText("WETH");
  await expect(page).toHaveURL(/\/swap$/);

  await amount.fill("1,000");
  await expect(page.getByText("Read as 1,000 USDC")).toBeVisible();
  await amount.fill(".5");
  await expect(page.getByText("Read as 0.5 USDC")).toBeVisible();
  await amount.fill("1 000,50");
  await expect(page.getByText("Read as 1,000.50 USDC")).toBeVisible();
  await amount.fill("many");
  await amount.blur();
  await expect(page.getByText("Enter an amount such as 1,250.00.")).toBeVisible();

  await page.getByRole("button", { name: "Enter in USD", exact: true }).click();
  await amount.fill("200");
  await page.getByRole("button", { name: "Enter in USDC" }).click();
  await expect(amount).toHaveValue(/^(199|200)/);

  await page.reload();
  await expect(amount).toHaveValue(/^(199|200)/);
  await page.getByRole("button", { name: "Flip the direction" }).click();
  await expect(page.getByLabel("Source 1 token", { exact: true })).toContainText("WETH");
  await expect(page.getByLabel("Destination token", { exact: true })).toContainText("USDC");
});

test("the rate is inverted by its button, and lists of tokens begin with what is held", async ({
  page,
}) => {
  await signIn(page.request);
  const project = await projectOf(page);
  await project.give(31337, "DAI", "300");
  await project.give(31337, "WETH", "0.01");
  await page.goto("/swap?from=DAI&amount=100&to=WETH&toChain=31337");
  const receives = page.getByRole("region", { name: "You receive" });
  const rate = receives.getByText(/^1\.00 DAI/);
  await expect(rate).toBeVisible();
  await page.getByRole("button", { name: "Invert the rate" }).click();
  await expect(receives.getByText(/^1 WETH/)).toBeVisible();
  await expect(rate).toHaveCount(0);
  await page.getByLabel("Source 1 token", { exact: true }).click();
  // Options are sorted by worth, the highest first. In the configuration DAI comes after USDC and
  // USDT.
  await expect(page.getByRole("option").nth(0)).toContainText("DAI");
  await expect(page.getByRole("option").nth(1)).toContainText("WETH");
  await page.keyboard.press("Escape");
  await page.goto("/transfer?chain=31337");
  await page.getByLabel("Token", { exact: true }).click();
  await expect(page.getByRole("option").nth(0)).toContainText("DAI");
  await expect(page.getByRole("option").nth(1)).toContainText("WETH");
});

test("another route than the best one can be taken, and the best one again", async ({
  page,
}) => {
  await signIn(page.request);
  const project = await projectOf(page);
  await project.give(31337, "USDC", "500");
  await page.goto("/swap?from=USDC&amount=100&to=WETH&toChain=31337");
  const routes = page.getByRole("region", { name: "Routes" });
  const receipt = page.getByRole("region", { name: "Receipt" });
  const best = routes.getByRole("radio", { name: /Best price/ });
  const other = routes.getByRole("radio").nth(1);
  await expect(best).toBeChecked();
  await expect(routes.getByRole("radio").first()).toHaveText(/Best price/);
  const amountOf = async (route: Locator): Promise<string> =>
    /0\.0\d{4,}/.exec((await route.textContent()) ?? "")?.[0] ?? "";
  const [bestAmount, otherAmount] = [await amountOf(best), await amountOf(other)];
  expect(Number(otherAmount)).toBeLessThan(Number(bestAmount));
  await expect(other).toContainText(/−\d/);
  await expect(receipt).toContainText(bestAmount);

  // The arrow keys choose the next route and the one before.
  await best.focus();
  await page.keyboard.down("ArrowDown");
  await expect(other).toBeChecked();
  await page.keyboard.up("ArrowDown");
  await expect(receipt).toContainText(otherAmount);
  // The best route keeps its place and its word, also while another one is taken.
  await expect(routes.getByRole("radio").first()).toHaveText(/Best price/);
  await expect(best).not.toBeChecked();
  expect(await axeFaults(page)).toEqual([]);
  await best.click();
  await expect(best).toBeChecked();
  await expect(receipt).toContainText(bestAmount);
});

test("a reload goes on at the code that was mailed once, and at an execution without an answer, which moves once", async ({
  page,
}) => {
  test.setTimeout(120_000);
  await signIn(page.request);
  const project = await projectOf(page);
  await project.give(CHAIN, "USDC", "100");
  await page.goto("/transfer?token=USDC&chain=31337&amount=12.5");
  await page.getByLabel("Recipient", { exact: true }).fill(RECIPIENT);
  const mailed = await codesMailedTo(page, project.email);
  await page.getByRole("button", { name: "Review", exact: true }).click();
  const review = page.getByRole("dialog", { name: "Review the transfer" });
  await expect(review.getByText(/^Code sent to/)).toBeVisible();
  await page.keyboard.press("Escape");
  await page.getByRole("button", { name: "Review", exact: true }).click();
  await expect(review.getByLabel("One-time code")).toBeFocused();
  await page.reload();
  await expect(review.getByText(/^Code sent to/)).toBeVisible();
  await expect(review.getByLabel("One-time code")).toBeFocused();
  expect(await codesMailedTo(page, project.email)).toBe(mailed + 1);

  // The service executes it, and its answer is lost.
  await page.route(
    "**/api/swap/execute",
    async (route) => {
      await route.fetch();
      await route.abort();
    },
    { times: 1 },
  );
  await typeCode(page, await project.code());
  await expect(review.getByText(/Whether it was accepted is not known/)).toBeVisible();
  await page.reload();
  await review.getByRole("button", { name: "Pay 12.50 USDC" }).click();
  await page.waitForURL(/\/activity\/op_/);
  const { data } = await project.api.call(listOperations, { query: { limit: 10 } });
  expect(data.filter(({ kind }) => kind === "transfer")).toHaveLength(1);
});

test("a code is void once what it approves was edited, and a refused code is cleared for the next one", async ({
  page,
}) => {
  test.setTimeout(120_000);
  await signIn(page.request);
  const project = await projectOf(page);
  await project.give(CHAIN, "USDC", "100");
  await page.goto("/transfer?token=USDC&chain=31337&amount=12.5");
  await page.getByLabel("Recipient", { exact: true }).fill(RECIPIENT);
  const reviewing = page.getByRole("button", { name: "Review", exact: true });
  await reviewing.click();
  const review = page.getByRole("dialog", { name: "Review the transfer" });
  await expect(review.getByText(/^Code sent to/)).toBeVisible();
  const outdated = await project.code();
  await review.getByRole("button", { name: "Edit" }).click();
  await page.getByLabel("Amount", { exact: true }).fill("99");
  await reviewing.click();
  await expect(review.getByRole("button", { name: "Pay 99.00 USDC" })).toBeVisible();
  await expect(review.getByText(/^Code sent to/)).toBeVisible();
  await typeCode(page, outdated);
  await expect(review.getByText("4 tries are left.", { exact: false })).toBeVisible();
  const field = review.getByLabel("One-time code");
  await expect(field).toBeFocused();
  await expect(field).toHaveValue("");
  await checkLooks(page, "a refused code");
  await page.keyboard.type(await project.code());
  await page.waitForURL(/\/activity\/op_/);
  await expect(page.getByRole("heading", { name: /^99\.00 USDC/, level: 1 })).toBeVisible();
});

test("what is worse than the approved receipt is shown before anything is sent", async ({
  page,
}) => {
  test.setTimeout(120_000);
  await signIn(page.request);
  const project = await projectOf(page);
  await project.give(CHAIN, "USDC", "100");
  await page.goto("/transfer?token=USDC&chain=31337&amount=12.5");
  await page.getByLabel("Recipient", { exact: true }).fill(RECIPIENT);
  await page.getByRole("button", { name: "Review", exact: true }).click();
  const review = page.getByRole("dialog", { name: "Review the transfer" });
  await expect(review.getByText(/^Code sent to/)).toBeVisible();
  const warning = { code: "changed_meanwhile", path: null, message: "The pool has changed." };
  await page.route("**/api/swap/prepare", async (route) => {
    const response = await route.fetch();
    const prepared = (await response.json()) as { warnings: object[] };
    await route.fulfill({
      response,
      json: { ...prepared, warnings: [...prepared.warnings, warning] },
    });
  });
  const executions: string[] = [];
  page.on("request", (request) => {
    if (request.url().endsWith("/api/swap/execute")) executions.push(request.url());
  });
  await typeCode(page, await project.code());
  await expect(
    review.getByText("Something changed since you approved. Nothing was sent."),
  ).toBeVisible();
  await expect(review.getByText("There is a new warning.")).toBeVisible();
  await expect(review.getByText(warning.message)).toBeVisible();
  await expect(review.getByRole("region", { name: "Balance changes" })).toBeVisible();
  await checkLooks(page, "a receipt that is worse than the approved one");
  expect(executions).toEqual([]);
  await review.getByRole("button", { name: "Pay 12.50 USDC" }).click();
  await page.waitForURL(/\/activity\/op_/);
  expect(executions).toHaveLength(1);
});

test("a select opens by an arrow key, and a person without an address for codes learns it at the top", async ({
  page,
}) => {
  await signIn(page.request);
  await page.goto("/transfer");
  await expect(page.getByText("You have no verified e-mail address yet")).toBeVisible();
  await page.getByLabel("Token", { exact: true }).focus();
  await page.keyboard.press("ArrowDown");
  await expect(page.getByRole("option").first()).toBeVisible();
  await page.keyboard.press("Escape");
  await choose(page, page.getByLabel("From chain", { exact: true }), "Local 2");
  await expect(page.getByLabel("From chain", { exact: true })).toContainText("Local 2");
});

test("the size of a large deposit is checked while it is typed, and saved by Enter", async ({
  page,
}) => {
  await signIn(page.request);
  await page.goto("/settings/notifications");
  const card = page.getByRole("region", { name: "Notifications", exact: true });
  const size = card.getByLabel("A large deposit is at least (US dollars)");
  await size.fill("many");
  await expect(card.getByText("Enter an amount such as 10,000.")).toBeVisible();
  await expect(card.getByRole("button", { name: "Save" })).toBeDisabled();
  await size.fill("2,500");
  await expect(card.getByText("Read as 2,500 USD")).toBeVisible();
  const saved = page.waitForResponse(
    (answer) => answer.request().method() === "PUT" && answer.ok(),
  );
  await size.press("Enter");
  await saved;
  await expect(card.getByRole("button", { name: "Save" })).toBeDisabled();
  await page.reload();
  await expect(size).toHaveValue("2500");
});

test("a payout that would begin in the past is not checked, and the focus goes to its start", async ({
  page,
}) => {
  await signIn(page.request);
  await page.goto("/payouts/new");
  await page.getByRole("button", { name: "Type a row" }).click();
  await page.getByLabel("Row 1 recipient").fill(RECIPIENT);
  await page.getByLabel("Row 1 amount").fill("1");
  const summary = page.getByRole("region", { name: "Total", exact: true });
  await summary.getByLabel("Pay later or repeatedly").check();
  const start = summary.getByLabel("Start");
  await start.fill("2020-01-01T09:00");
  await expect(summary.getByText("Choose a time in the future.")).toBeVisible();
  await summary.getByRole("button", { name: "Review schedule" }).click();
  await expect(start).toBeFocused();
  await expect(page.getByRole("dialog")).toHaveCount(0);
  // Without a schedule, the missing money is the only error left.
  await summary.getByLabel("Pay later or repeatedly").uncheck();
  await summary.getByRole("button", { name: "Review payout" }).click();
  await expect(summary.getByText("Nothing was paid.")).toBeVisible();
});
