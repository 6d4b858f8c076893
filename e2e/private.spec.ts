import { expect, test, type Page } from "@playwright/test";
import { getPrivateBalances } from "@/lib/contracts/privacy";
import { axeFaults } from "./support/axe";
import { balanceOnChain } from "./support/chain";
import { signInWithBurner, typeCode } from "./support/person";
import { projectOf, type TestProject } from "./support/project";

const CHAIN = 31337;
/** Nobody has used it on the chain before. */
const RECIPIENT = `0x${Date.now().toString(16).padStart(40, "d")}`;
/** Proofs take seconds of all cores, and other journeys want them too. */
const PROOF_TIMEOUT_MS = 180_000;

const widthOf = (page: Page): Promise<number> => page.evaluate(() => document.documentElement.scrollWidth);

/** Checks that axe finds nothing in the dark and the light theme, and that nothing scrolls sideways at 390 px. */
const checkPage = async (page: Page, what: string): Promise<void> => {
  for (const colorScheme of ["dark", "light"] as const) {
    await page.emulateMedia({ colorScheme });
    expect(await axeFaults(page), `${what}, ${colorScheme}`).toEqual([]);
  }
  await page.setViewportSize({ width: 390, height: 844 });
  expect(await widthOf(page), `${what} on a phone`).toBeLessThanOrEqual(390);
  await page.setViewportSize({ width: 1280, height: 800 });
};

/**
 * Answers as a service does that wants larger sets: without `acceptSmallSet` it refuses. What is accepted goes to the real one.
 * @returns what was asked for, request by request
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
        json: { code: "small_anonymity_set", message: "Only 3 deposits.", requestId: "req_1", anonymitySet: 3 },
      });
  });
  return asked;
};

/** Reviews what the form says, and approves it with the code on the operation's page. */
const confirm = async (
  page: Page,
  project: TestProject,
  what: string,
  between?: () => Promise<void>,
): Promise<void> => {
  await page.getByRole("button", { name: "Review", exact: true }).click();
  const review = page.getByRole("dialog", { name: `Review the ${what}` });
  if (what === "transfer") await checkPage(page, "review");
  await review.getByRole("button", { name: "Confirm and get code" }).click();
  await between?.();
  await page.waitForURL(/\/private\/tr_/);
  const dialog = page.getByRole("dialog", { name: `Approve the ${what}` });
  await dialog.getByRole("button", { name: "Send code" }).click();
  await expect(dialog.getByLabel("One-time code")).toBeVisible();
  await typeCode(page, await project.code());
  await dialog.getByRole("button", { name: "Approve" }).click();
  await expect(dialog).toHaveCount(0);
};

const completed = (page: Page, timeout: number): Promise<void> =>
  expect(page.getByText("Completed", { exact: true }).first()).toBeVisible({ timeout });

test("money is shielded, approved, and paid in private; pictures say what everybody sees of each step", async ({
  page,
}) => {
  test.setTimeout(360_000);
  const problems: string[] = [];
  page.on("pageerror", (error) => problems.push(error.message));
  await signInWithBurner(page);
  const project = await projectOf(page);
  await project.give(CHAIN, "USDC", "500");

  // Empty, with one sentence and the way on.
  await page.getByRole("navigation", { name: "Main" }).getByRole("link", { name: "Private" }).click();
  await expect(page.getByText("Nothing is private yet")).toBeVisible();
  await page.getByRole("link", { name: "Shield", exact: true }).first().click();

  await page.getByLabel("Amount", { exact: true }).fill("1,00");
  await page.getByRole("button", { name: "Review", exact: true }).click();
  await expect(page.getByText("Enter an amount above zero, such as 1,250.00.")).toBeVisible();
  await page.getByRole("button", { name: "Use all: 500 USDC" }).click();
  await page.getByLabel("Amount", { exact: true }).fill("100");
  await expect(page.getByRole("list", { name: "Public chain" })).toContainText("The treasury deposited 100 USDC");
  await expect(page.getByRole("list", { name: "Your view" })).toContainText("owns a note of");
  await confirm(page, project, "shield");
  await completed(page, 60_000);

  await expect(async () => {
    const { data } = await project.api.call(getPrivateBalances, {});
    const pool = data.find(({ chainId, token }) => chainId === CHAIN && token.symbol === "USDC");
    expect(Number(pool?.spendable)).toBeGreaterThan(90);
  }).toPass({ timeout: 60_000 });
  await page.goto("/private");
  const balances = page.getByRole("table", { name: "Private balances" });
  await expect(balances.getByRole("row")).toHaveCount(2);
  await page.getByRole("button", { name: /^Show \d+ empty pools$/ }).click();
  await expect(balances.getByRole("link", { name: "Shield DAI" }).first()).toBeVisible();
  await checkPage(page, "balances");
  await balances.getByRole("link", { name: "Transfer USDC" }).click();

  await page.getByLabel("Amount received").fill("25");
  await page.getByLabel("Recipient", { exact: true }).fill(RECIPIENT);
  await expect(page.getByText("Nothing was sent to this address yet")).toBeVisible();
  const chain = page.getByRole("list", { name: "Public chain" });
  await expect(chain).toContainText("A relayer paid 25 USDC out of the pool");
  await checkPage(page, "transfer");
  // Amount and recipient survive a reload and are not in the page's address.
  await page.reload();
  await expect(page.getByLabel("Amount received")).toHaveValue("25");
  expect(page.url()).not.toContain(RECIPIENT);
  const accepted = await refuseSmallSets(page);
  await confirm(page, project, "transfer", async () => {
    const again = page.getByRole("alertdialog", { name: "Only 3 deposits hide this transfer" });
    await again.getByRole("button", { name: "Accept the small set" }).click();
  });
  expect(accepted).toEqual([undefined, true]);
  await expect(page.getByRole("progressbar", { name: "Making the proof" })).toBeVisible({ timeout: 60_000 });
  await expect(chain).toContainText("Nothing is on the chain while the proof is made.");
  await checkPage(page, "proof");
  await completed(page, PROOF_TIMEOUT_MS);
  expect(await balanceOnChain(page, CHAIN, "USDC", RECIPIENT)).toBe("25");
  await expect(chain).toContainText("A relayer paid 25 USDC out of the pool");
  await checkPage(page, "completed transfer");

  // The history is here, and nowhere else.
  await page.goto("/private");
  const history = page.getByRole("table", { name: "Private operations" });
  await expect(history.getByRole("row")).toHaveCount(3);
  await page.goto("/activity");
  await expect(page.getByText("Nothing has moved yet")).toBeVisible();
  expect(problems).toEqual([]);
});

test("a private wallet is created by name, and its mnemonic is shown only with an approval", async ({ page }) => {
  test.setTimeout(120_000);
  await signInWithBurner(page);
  const project = await projectOf(page);
  await page.goto("/private");
  await page.getByRole("button", { name: "New wallet" }).click();
  const creation = page.getByRole("dialog", { name: "New private wallet" });
  await creation.getByLabel("Name").fill("Payroll");
  await creation.getByRole("button", { name: "Create wallet" }).click();
  await expect(page.getByRole("combobox", { name: "Private wallet" })).toHaveText("Payroll");
  await page.getByRole("button", { name: "Export mnemonic" }).click();
  const dialog = page.getByRole("dialog", { name: "Export the mnemonic of Payroll" });
  await expect(dialog.getByText("Whoever has these words has the money")).toBeVisible();
  await dialog.getByLabel("Nobody else can see my screen.").check();
  await dialog.getByRole("button", { name: "Approve and show" }).click();
  await dialog.getByRole("button", { name: "Send code" }).click();
  await expect(dialog.getByLabel("One-time code")).toBeVisible();
  await checkPage(page, "export");
  await typeCode(page, await project.code());
  await dialog.getByRole("button", { name: "Approve", exact: true }).click();
  await expect(dialog.getByRole("list", { name: "Mnemonic" }).getByRole("listitem")).toHaveCount(12);
  await page.keyboard.press("Escape");
  await expect(page.getByRole("list", { name: "Mnemonic" })).toHaveCount(0);
});
