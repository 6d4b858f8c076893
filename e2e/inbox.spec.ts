import { generatePrivateKey, privateKeyToAccount } from "viem/accounts";
import { expect, openPage, test, type Page } from "./support/test";
import { checkLooks, settle } from "./support/axe";
import { balanceOnChain } from "./support/chain";
import { acceptInvitation, typeCode } from "./support/person";
import { projectOf, type TestProject } from "./support/project";
import { signIn } from "./support/sign-in";

const CHAIN = 31337;
/** A new address, so that no other test pays it in the meantime. */
const RECIPIENT = privateKeyToAccount(generatePrivateKey()).address;

/**
 * The owner invites the guest as an operator, and the guest accepts the link, both on the pages.
 */
const joins = async (
  page: Page,
  owner: TestProject,
  guest: Page,
  email: string,
): Promise<void> => {
  await page.goto("/members");
  await page.getByRole("button", { name: "Invite", exact: true }).click();
  const dialog = page.getByRole("dialog", { name: "Invite a person" });
  await dialog.getByLabel("E-mail address").fill(email);
  await dialog.getByRole("radio", { name: /^Operator/ }).click();
  await dialog.getByRole("button", { name: "Send invitation" }).click();
  await expect(dialog.getByText(/^Code sent to/)).toBeVisible();
  await typeCode(page, await owner.code());
  await expect(dialog).toHaveCount(0);
  await acceptInvitation(guest, email);
};

/** The owner makes payments require the approval of one other person. */
const demandVotes = async (page: Page): Promise<void> => {
  await page.goto("/settings");
  await page.getByRole("button", { name: "Change approval by several people" }).click();
  const card = page.getByRole("region", { name: "Approval by several people" });
  await card.getByLabel("People who must approve").fill("1");
  await card.getByLabel("Operators").check();
  await settle(page);
  await checkLooks(page, "settings with approval by several people");
  await card.getByRole("button", { name: "Save" }).click();
  await expect(card).toContainText(
    "1 of: owner, admin, operator, without the person who asked.",
  );
};

test("a transfer of one person waits in the inbox until another person approves it", async ({
  page,
  browser,
}) => {
  test.setTimeout(240_000);
  await signIn(page.request);
  const owner = await projectOf(page);
  await owner.give(CHAIN, "USDC", "50");
  const guest = await openPage(browser);
  await signIn(guest.request);
  const own = await projectOf(guest);
  await joins(page, owner, guest, own.email);
  await demandVotes(page);
  const before = await balanceOnChain(page, CHAIN, "USDC", RECIPIENT);

  const transfer = {
    fromChainId: CHAIN,
    toChainId: CHAIN,
    toAddress: RECIPIENT,
    token: "USDC",
    amount: "12.5",
  };
  const operationId = await owner.execute(await owner.prepareTransfer(transfer));
  await page.goto(`/activity/${operationId}`);
  await page.getByRole("link", { name: "See the votes" }).click();
  await expect(
    page.getByRole("heading", { name: /^Transfer of 12.50 USDC on / }),
  ).toBeVisible();
  await expect(page.getByRole("region", { name: "What is approved" })).toContainText(RECIPIENT);
  // The person who asked for the payment has no vote.
  await expect(page.getByRole("region", { name: "Votes" })).toContainText(
    "Nobody has voted yet",
  );
  await expect(page.getByRole("region", { name: "Your vote" })).toHaveCount(0);

  await guest.goto("/inbox");
  await settle(guest);
  await checkLooks(guest, "inbox with a decision");
  await guest
    .getByRole("list", { name: "Inbox" })
    .getByRole("link", { name: /^Transfer of 12.50 USDC/ })
    .click();
  const card = guest.getByRole("region", { name: "Your vote" });
  await card.getByRole("button", { name: "Send code" }).click();
  await expect(card.getByLabel("One-time code")).toBeVisible();
  await settle(guest);
  await checkLooks(guest, "decision");
  // A reload keeps the chosen vote, and continues where the mailed code is entered.
  await card.getByRole("radio", { name: /^Decline/ }).click();
  // The page writes the choice to its address with a short delay.
  await expect(guest).toHaveURL(/[?&]vote=decline/);
  await guest.reload();
  await expect(card.getByRole("radio", { name: /^Decline/ })).toBeChecked();
  await expect(card.getByLabel("One-time code")).toBeVisible();
  await card.getByRole("radio", { name: /^Approve/ }).click();
  await typeCode(guest, await own.code());
  await expect(guest.getByText("Approved", { exact: true }).first()).toBeVisible();
  expect(await owner.untilFinal(operationId)).toBe("completed");
  const after = await balanceOnChain(page, CHAIN, "USDC", RECIPIENT);
  expect(Number(after) - Number(before)).toBeCloseTo(12.5, 6);

  // Everybody who may vote got a mail; the list is empty again.
  const mail = await page.request.get("/api/dev/inbox", {
    params: { to: own.email, limit: 20 },
  });
  expect(await mail.text()).toContain("A payment waits for your approval");
  await guest.goto("/inbox");
  await expect(guest.getByText("Nothing waits for you")).toBeVisible();
});
