import { generatePrivateKey, privateKeyToAddress } from "viem/accounts";
import { expect, test, type Page } from "./support/test";
import { axeFaults } from "./support/axe";
import { balanceOnChain } from "./support/chain";
import {
  chooseDestination,
  fillSource,
  mailedCode,
  openRecipient,
  signInWithBurner,
  typeCode,
  verifyEmail,
} from "./support/person";

const EMAIL = `grace-${String(Date.now())}@example.test`;
// A new account, because the local chains use theirs themselves, for instance to fill deposits.
const RECIPIENT = privateKeyToAddress(generatePrivateKey());

/** Links another account of the burner wallet, and names it. Returns its address. */
const linkAnotherWallet = async (page: Page, name: string): Promise<string> => {
  await page.goto("/wallets");
  await page.getByRole("button", { name: "Link a wallet" }).click();
  const dialog = page.getByRole("dialog", { name: "Link a wallet" });
  expect(await axeFaults(page)).toEqual([]);
  await dialog.getByRole("button", { name: "Make another burner account" }).click();
  const message = dialog.getByRole("region", { name: "Message to sign" });
  await expect(message).toContainText("Link this wallet to the project");
  const address =
    /\n(0x[0-9a-fA-F]{40})\n/.exec((await message.textContent()) ?? "")?.[1] ?? "";
  expect(await axeFaults(page)).toEqual([]);
  await dialog.getByRole("button", { name: "Sign and link" }).click();
  await expect(dialog.getByText("The wallet is linked")).toBeVisible();
  await dialog.getByLabel("Name of the wallet").fill(name);
  await page.keyboard.press("Enter");
  await expect(dialog.getByRole("button", { name: `Name ${name}` })).toBeVisible();
  return address;
};

/** Creates a smart account that the linked wallet owns, in the dialog that is still open. */
const makeItsSmartAccount = async (page: Page, owner: string): Promise<void> => {
  await page.getByRole("button", { name: "Make its smart account" }).click();
  const dialog = page.getByRole("dialog", { name: "New smart account" });
  await expect(dialog.getByRole("radio", { name: /^Savings/ })).toBeChecked();
  await dialog.getByLabel("Name").fill("Savings account");
  await dialog.getByRole("button", { name: "Create smart account" }).click();
  const ready = page.getByRole("dialog", { name: "The smart account is ready" });
  await expect(ready.getByText(owner)).toBeVisible();
  await expect(ready.getByText("Not yet deployed on Local 1")).toBeVisible();
  expect(await axeFaults(page)).toEqual([]);
  await ready.getByRole("button", { name: "Done" }).click();
  await expect(page.getByRole("region", { name: /^Savings account/ })).toBeVisible();
};

const fundWallet = async (
  page: Page,
  name: string,
  gifts: readonly string[],
): Promise<void> => {
  for (const gift of gifts) {
    await page
      .getByRole("button", { name: `Get test tokens for ${name}`, exact: true })
      .click();
    await page.getByRole("menuitem", { name: gift }).click();
    await expect(page.getByText(new RegExp(`went to ${name}\\.$`)).first()).toBeVisible();
  }
};

/**
 * Reviews a swap from the treasury, from the linked wallet with a token that has permits and one
 * that has none, and from its smart account.
 */
const reviewSwap = async (page: Page, seen: string[]): Promise<void> => {
  await page.goto("/swap");
  await fillSource(page, 1, {
    wallet: "Treasury",
    chain: "Local 1",
    token: "USDC",
    amount: "50",
  });
  await page.getByRole("button", { name: "Add source" }).click();
  await fillSource(page, 2, {
    wallet: "Savings 0x",
    chain: "Local 2",
    token: "USDC",
    amount: "30",
  });
  await page.getByRole("button", { name: "Add source" }).click();
  await fillSource(page, 3, {
    wallet: "Savings 0x",
    chain: "Local 2",
    token: "USDT",
    amount: "20",
  });
  await page.getByRole("button", { name: "Add source" }).click();
  await fillSource(page, 4, {
    wallet: "Savings account",
    chain: "Local 3",
    token: "USDC",
    amount: "10",
  });
  await chooseDestination(page, "USDC", "Local 3");
  await (await openRecipient(page)).fill(RECIPIENT);
  await page.getByRole("button", { name: "Review", exact: true }).click();
  await expect(page.getByText(/^Code sent to/)).toBeVisible();
  await typeCode(page, await mailedCode(page.request, EMAIL, seen));
};

/** Rejects the wallet's first request, continues from there, and confirms all others. */
const signWithOneRejection = async (page: Page): Promise<void> => {
  const review = page.getByRole("dialog", { name: "Review the swap" });
  await expect(review.getByText(/^0 of \d done$/)).toBeVisible();
  const count = Number(
    /of (\d+) done/.exec((await review.getByText(/^0 of \d done$/).textContent()) ?? "")?.[1],
  );
  // The wallet signs a permit, the smart account's user operation, and for USDT an approval and a
  // transaction that swaps and deposits.
  expect(count).toBe(4);
  await review.getByRole("button", { name: /^Sign: Swap / }).click();
  await page.getByRole("button", { name: "Reject", exact: true }).click();
  await expect(review.getByText(`You rejected step 1 of ${String(count)}.`)).toBeVisible();
  await expect(
    review.getByText("Nothing was sent, and the money is in your wallets."),
  ).toBeVisible();
  expect(await axeFaults(page)).toEqual([]);
  await review.getByRole("button", { name: "Go on with step 1" }).click();
  for (let step = 0; step < count; step += 1) {
    await page.getByRole("button", { name: "Confirm", exact: true }).click();
    // The next request appears over the review. After the last one the operation's page opens.
    if (step < count - 1)
      await expect(
        page.getByText(`${String(step + 1)} of ${String(count)} done`),
      ).toBeVisible();
  }
};

test("a wallet of one's own is linked, named, used as a source beside the treasury, and unlinked", async ({
  page,
}) => {
  test.setTimeout(240_000);
  const problems: string[] = [];
  page.on("pageerror", (error) => problems.push(error.message));
  const seen: string[] = [];
  await signInWithBurner(page);
  await verifyEmail(page, EMAIL, seen);
  const address = await linkAnotherWallet(page, "Savings");
  await makeItsSmartAccount(page, address);
  await fundWallet(page, "Treasury", ["1,000 USDC on Local 1"]);
  await fundWallet(page, "Savings", [
    "1,000 USDC on Local 2",
    "1,000 USDT on Local 2",
    "1 ETH on Local 2",
  ]);
  await fundWallet(page, "Savings account", ["1,000 USDC on Local 3"]);
  const savings = page.getByRole("region", { name: /^Savings Linked/ });
  await expect(savings.getByRole("row", { name: /1,000\s*\.00\s*USD[CT]/ })).toHaveCount(2);

  await reviewSwap(page, seen);
  await signWithOneRejection(page);
  await page.waitForURL(/\/activity\/op_/);
  await expect(page.getByText("Completed", { exact: true }).first()).toBeVisible({
    timeout: 60_000,
  });
  expect(Number(await balanceOnChain(page, 31339, "USDC", RECIPIENT))).toBeGreaterThan(107);
  expect(Number(await balanceOnChain(page, 31338, "USDC", address))).toBe(970);
  // The swap before the bridge takes exactly the entered amount.
  expect(Number(await balanceOnChain(page, 31338, "USDT", address))).toBe(980);

  await page.goto("/wallets");
  await page.getByRole("button", { name: "Unlink Savings", exact: true }).click();
  await page.getByRole("button", { name: "Unlink wallet" }).click();
  await expect(savings).toHaveCount(0);
  // Linking and unlinking a wallet did not change who is signed in.
  await page.goto("/settings");
  await expect(page.locator("#email").getByText(EMAIL)).toBeVisible();
  expect(problems).toEqual([]);
});
