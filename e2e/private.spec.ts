import { expect, openPage, test, type Page } from "./support/test";
import { approveOperation } from "@/lib/contracts/operations";
import { getPrivateBalances, shield } from "@/lib/contracts/privacy";
import { requestOtp } from "@/lib/contracts/swap";
import { checkLooks } from "./support/axe";
import { declineDepositsOf } from "./support/association";
import { balanceOnChain } from "./support/chain";
import { changeRows } from "./support/database";
import { choose, typeCode } from "./support/person";
import { projectOf, type TestProject } from "./support/project";
import { signIn } from "./support/sign-in";

const CHAIN = 31337;
/** An address that has not been used on the chain. */
const RECIPIENT = `0x${Date.now().toString(16).padStart(40, "d")}`;
/** A proof takes seconds on all cores, which other tests use at the same time. */
const PROOF_TIMEOUT_MS = 180_000;

/**
 * Refuses transfers without `acceptSmallSet`, as a service that requires larger anonymity sets
 * does. Passes other transfers to the real service.
 * @returns the value of `acceptSmallSet` in each request, in order
 */
const refuseSmallSets = async (page: Page): Promise<unknown[]> => {
  const asked: unknown[] = [];
  await page.route("**/api/privacy/transfer", async (route) => {
    const { acceptSmallSet } = route.request().postDataJSON() as { acceptSmallSet?: boolean };
    asked.push(acceptSmallSet);
    if (acceptSmallSet === true) await route.continue();
    else
      await route.fulfill({
        status: 409,
        json: {
          code: "small_anonymity_set",
          message: "Only 3 deposits.",
          requestId: "req_1",
          anonymitySet: 3,
        },
      });
  });
  return asked;
};

/** Sends a code, and types it into the open dialog. */
const approve = async (page: Page, project: TestProject, what: string): Promise<void> => {
  const dialog = page.getByRole("dialog", { name: `Review the ${what}` });
  await expect(dialog.getByText(/^Code sent to/)).toBeVisible();
  // After a reload the dialog continues where the mailed code is entered.
  await page.reload();
  await expect(dialog.getByText(/^Code sent to/)).toBeVisible();
  await typeCode(page, await project.code());
  await expect(dialog).toHaveCount(0);
};

/** Reviews the form's movement, and approves it with the code on the operation's page. */
const confirm = async (
  page: Page,
  project: TestProject,
  what: string,
  between?: () => Promise<void>,
): Promise<void> => {
  await page.getByRole("button", { name: "Review", exact: true }).click();
  await between?.();
  await page.waitForURL(/\/private\/tr_/);
  await approve(page, project, what);
};

const completed = (page: Page, timeout: number): Promise<void> =>
  expect(page.getByText("Completed", { exact: true }).first()).toBeVisible({ timeout });

/**
 * All tests use one person with one funded private wallet, in sequence: each spends a part of the
 * remaining money.
 */
test.describe.configure({ mode: "serial" });
let page: Page;
let project: TestProject;

test.beforeAll(async ({ browser }) => {
  page = await openPage(browser);
  await signIn(page.request);
  project = await projectOf(page);
});

test.afterAll(async () => {
  await page.context().close();
});

test("money is shielded, approved, and paid in private; pictures say what everybody sees of each step", async () => {
  test.setTimeout(360_000);
  const problems: string[] = [];
  page.on("pageerror", (error) => problems.push(error.message));
  await project.give(CHAIN, "USDC", "500");

  await page.goto("/");
  // An empty page shows one sentence and a link to the next step.
  await page
    .getByRole("navigation", { name: "Main" })
    .getByRole("link", { name: "Private" })
    .click();
  await expect(page.getByText("Nothing is private yet")).toBeVisible();
  await page.getByRole("link", { name: "Shield", exact: true }).first().click();

  const reviewing = page.getByRole("button", { name: "Review", exact: true });
  await expect(reviewing).toBeDisabled();
  await expect(reviewing).toHaveAccessibleDescription("Complete the form.");
  await page.getByLabel("Amount", { exact: true }).fill("1,250.5");
  await expect(page.getByText("Read as 1,250.5 USDC")).toBeVisible();
  await page.getByLabel("Amount", { exact: true }).fill("1,0,0");
  await page.getByLabel("Amount", { exact: true }).blur();
  await expect(page.getByText("Enter an amount above zero, such as 1,250.00.")).toBeVisible();
  await expect(reviewing).toBeDisabled();
  await page.getByRole("button", { name: "Use all 500 USDC" }).click();
  await page.getByLabel("Amount", { exact: true }).fill("100");
  await expect(page.getByRole("list", { name: "Public chain" })).toContainText(
    "The treasury deposited 100.00 USDC",
  );
  await expect(page.getByRole("list", { name: "Your view" })).toContainText("owns a note of");
  await confirm(page, project, "shield");
  await completed(page, 60_000);

  await expect(async () => {
    const { data } = await project.api.call(getPrivateBalances, {});
    const pool = data.find(
      ({ chainId, token }) => chainId === CHAIN && token.symbol === "USDC",
    );
    expect(Number(pool?.spendable)).toBeGreaterThan(90);
  }).toPass({ timeout: 60_000 });
  await page.goto("/private");
  const balances = page.getByRole("table", { name: "Private balances" });
  await expect(balances.getByRole("row")).toHaveCount(2);
  await page.getByRole("button", { name: /^Show \d+ empty pools$/ }).click();
  await expect(balances.getByRole("link", { name: "Shield DAI" }).first()).toBeVisible();
  await checkLooks(page, "balances");
  await balances.getByRole("link", { name: "Transfer USDC" }).click();

  await page.getByLabel("Amount received").fill("25");
  await page.getByLabel("Recipient", { exact: true }).fill(RECIPIENT);
  await expect(page.getByText("Nothing was sent to this address yet")).toBeVisible();
  const chain = page.getByRole("list", { name: "Public chain" });
  await expect(chain).toContainText("A relayer paid 25.00 USDC out of the pool");
  await checkLooks(page, "transfer");
  // The amount and the recipient survive a reload, although they are not in the page's address.
  await page.reload();
  await expect(page.getByLabel("Amount received")).toHaveValue("25");
  expect(page.url()).not.toContain(RECIPIENT);
  const accepted = await refuseSmallSets(page);
  await confirm(page, project, "transfer", async () => {
    const again = page.getByRole("alertdialog", { name: "Only 3 deposits hide this transfer" });
    await again.getByRole("button", { name: "Accept the small set" }).click();
  });
  expect(accepted).toEqual([undefined, true]);
  await expect(page.getByRole("progressbar", { name: "Making the proof" })).toBeVisible({
    timeout: 60_000,
  });
  await expect(chain).toContainText("Nothing is on the chain while the proof is made.");
  await checkLooks(page, "proof");
  await completed(page, PROOF_TIMEOUT_MS);
  expect(await balanceOnChain(page, CHAIN, "USDC", RECIPIENT)).toBe("25");
  await expect(chain).toContainText("A relayer paid 25.00 USDC out of the pool");
  await checkLooks(page, "completed transfer");

  // This page lists only private operations; the activity page lists them with all other movements.
  await page.goto("/private");
  const history = page.getByRole("table", { name: "Private operations" });
  await expect(history.getByRole("row")).toHaveCount(3);
  await page.goto("/activity");
  const activity = page.getByRole("table", { name: "Activity" }).getByRole("row");
  await expect(activity.filter({ hasText: "Deposit" })).not.toHaveCount(0);
  const own = activity.filter({ hasText: /^(Shield|Private transfer)/ });
  await expect(own).toHaveCount(2);
  await own.first().getByRole("link").click();
  await expect(page).toHaveURL(/\/private\/tr_/);
  expect(problems).toEqual([]);
});

/** The treasury's balance, read directly from the chain. */
const inTreasury = async (): Promise<number> =>
  Number(await balanceOnChain(page, CHAIN, "USDC", project.treasury.address));

const poolOf = async (symbol: string) => {
  const { data } = await project.api.call(getPrivateBalances, {});
  return data.find(({ chainId, token }) => chainId === CHAIN && token.symbol === symbol);
};

/** Creates a shield that waits for its approval. */
const shieldThroughApi = (amount: string, chainId = CHAIN, token = "USDC") =>
  project.api.call(shield, { body: { chainId, token, amount } });

const approveThroughApi = async (operationId: string): Promise<void> => {
  await project.api.call(requestOtp, { body: { operationId } });
  await project.api.call(approveOperation, {
    params: { id: operationId },
    body: { otp: await project.code() },
  });
};

test("a private swap is quoted, executed with a code, and its note is spendable in the other pool", async () => {
  test.setTimeout(240_000);
  await page.goto("/private/swap");
  await choose(page, page.getByLabel("Token to receive", { exact: true }), /DAI/);
  await page.getByLabel("Amount", { exact: true }).fill("20");
  await page.getByRole("button", { name: "Get quote" }).click();
  await page.getByRole("button", { name: "Review", exact: true }).click();
  const review = page.getByRole("dialog", { name: "Review the private swap" });
  await expect(review.getByText(/^Code sent to/)).toBeVisible();
  await page.reload();
  await expect(review.getByText(/^Code sent to/)).toBeVisible();
  await typeCode(page, await project.code());
  await page.waitForURL(/\/private\/tr_/);
  await completed(page, PROOF_TIMEOUT_MS);
  await expect
    .poll(async () => Number((await poolOf("DAI"))?.spendable), { timeout: 30_000 })
    .toBeGreaterThan(19);
});

test("an unshield pays the treasury exactly the amount", async () => {
  test.setTimeout(240_000);
  const before = await inTreasury();
  await page.goto("/private/unshield");
  await page.getByLabel("Amount", { exact: true }).fill("15");
  await confirm(page, project, "unshield");
  await completed(page, PROOF_TIMEOUT_MS);
  expect((await inTreasury()) - before).toBeCloseTo(15, 6);
});

test("a private operation that waits for its approval is cancelled, and nothing is sent", async () => {
  const before = await inTreasury();
  const { transferId } = await shieldThroughApi("30");
  await page.goto(`/private/${transferId}`);
  await expect(page.getByRole("heading", { name: /^30\.00 USDC → /, level: 1 })).toBeVisible();
  const account = page.getByRole("button", { name: "Account", exact: true });
  await account.click();
  await page.getByRole("menuitem", { name: "Hide amounts" }).click();
  await expect(page.getByRole("heading", { name: /^•••••• USDC → /, level: 1 })).toBeVisible();
  await expect(page.getByRole("main")).not.toContainText("30.00");
  await account.click();
  await page.getByRole("menuitem", { name: "Show amounts" }).click();
  await page.getByRole("button", { name: "Cancel", exact: true }).click();
  await page
    .getByRole("alertdialog")
    .getByRole("button", { name: "Cancel the shield" })
    .click();
  await expect(page.getByText("Cancelled. Nothing was sent.").first()).toBeVisible();
  await expect(page.getByRole("button", { name: "Review and approve" })).toHaveCount(0);
  await expect(page.getByRole("region", { name: "Receipt" })).toContainText("Amount");
  await expect(page.getByRole("region", { name: "Receipt" })).not.toContainText("Deposited");
  expect(await inTreasury()).toBe(before);
});

test("a private operation that failed is tried again by a new one, which awaits its own approval", async () => {
  const before = await inTreasury();
  const { operationId } = await shieldThroughApi("30");
  // The local chains refuse no deposit, so the test changes the row into that of an operation that
  // failed before anything was sent.
  await changeRows(
    "UPDATE operation SET status = 'failed', sub_status = 'full', failure = $2::jsonb, expires_at = NULL WHERE id = $1",
    [
      operationId,
      JSON.stringify({
        code: "simulation_failed",
        message: "The pool refused it. Nothing was sent.",
        retryable: true,
      }),
    ],
  );
  await page.goto("/inbox");
  await expect(
    page.getByRole("link", { name: "Shield of 30.00 USDC failed", exact: true }),
  ).toHaveAttribute("href", /^\/private\/tr_/);
  await page.goto(`/activity/${operationId}`);
  await expect(page.getByRole("link", { name: "its private page" })).toHaveAttribute(
    "href",
    /^\/private\/tr_/,
  );
  await expect(page.getByText("The pool refused it. Nothing was sent.").first()).toBeVisible();
  await page.getByRole("button", { name: "Retry …" }).click();
  await expect(page.getByText("Tried again. The new operation awaits approval.")).toBeVisible();
  await expect(page.getByRole("button", { name: "Retry …" })).toHaveCount(0);
  await page.getByRole("link", { name: /^op_/ }).click();
  await page.getByRole("button", { name: "Cancel the operation" }).click();
  await page
    .getByRole("alertdialog")
    .getByRole("button", { name: "Cancel the operation" })
    .click();
  await expect(page.getByText("Cancelled. Nothing was sent.").first()).toBeVisible();
  expect(await inTreasury()).toBe(before);
});

test("a declined deposit leaves in public, whole, to the treasury that made it", async () => {
  test.setTimeout(240_000);
  await declineDepositsOf(project.treasury.address);
  const { operationId } = await shieldThroughApi("40");
  const before = await inTreasury();
  await approveThroughApi(operationId);
  expect(await project.untilFinal(operationId)).toBe("completed");
  await page.goto("/private");
  const deposits = page.getByRole("table", { name: "Deposits that are not approved" });
  await expect(deposits.getByText("Declined")).toBeVisible({ timeout: 30_000 });
  await checkLooks(page, "declined deposit");
  await deposits.getByRole("button", { name: "Take out in public" }).click();
  const dialog = page.getByRole("dialog", { name: "Take the deposit out in public" });
  await expect(dialog.getByText("Everybody sees this")).toBeVisible();
  await dialog.getByRole("button", { name: "Take out in public" }).click();
  await page.waitForURL(/\/private\/tr_/);
  await approve(page, project, "public exit");
  await completed(page, PROOF_TIMEOUT_MS);
  // The pool keeps its fee for the deposit.
  const kept = before - (await inTreasury());
  expect(kept).toBeGreaterThanOrEqual(0);
  expect(kept).toBeLessThan(1);
});

test("a private wallet is created by name, and its mnemonic is shown only with an approval", async () => {
  test.setTimeout(120_000);
  await page.goto("/private");
  await page.getByRole("button", { name: "New wallet" }).click();
  const creation = page.getByRole("dialog", { name: "New private wallet" });
  await creation.getByLabel("Name").fill("Payroll");
  await creation.getByRole("button", { name: "Create wallet" }).click();
  await expect(page.getByRole("combobox", { name: "Private wallet" })).toHaveText("Payroll");
  await page.getByRole("button", { name: "Export mnemonic" }).click();
  const dialog = page.getByRole("dialog", { name: "Export the mnemonic of Payroll" });
  await expect(dialog.getByText("Anybody with these words can take the money")).toBeVisible();
  await dialog.getByLabel("Nobody else can see my screen.").check();
  await dialog.getByRole("button", { name: "Approve and show" }).click();
  await expect(dialog.getByText(/^Code sent to/)).toBeVisible();
  await checkLooks(page, "export");
  await typeCode(page, await project.code());
  await expect(
    dialog.getByRole("list", { name: "Mnemonic" }).getByRole("listitem"),
  ).toHaveCount(12);
  await page.keyboard.press("Escape");
  await expect(page.getByRole("list", { name: "Mnemonic" })).toHaveCount(0);
});
