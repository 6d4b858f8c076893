import { expect, openPage, test, type Page } from "./support/test";
import { generatePrivateKey, privateKeyToAccount } from "viem/accounts";
import type { ApiError } from "@/lib/api-client/client";
import { createContact } from "@/lib/contracts/contacts";
import { createInvitation } from "@/lib/contracts/members";
import { requestOtp } from "@/lib/contracts/swap";
import { approveChange } from "./support/approve-change";
import { checkLooks, settle } from "./support/axe";
import { balanceOnChain } from "./support/chain";
import { acceptInvitation, choose } from "./support/person";
import { projectOf, type TestProject } from "./support/project";
import { signIn } from "./support/sign-in";

const CHAIN = 31337;
/** A new address, so that no other test pays it in the meantime. */
const ADA = privateKeyToAccount(generatePrivateKey()).address;

/** The owner invites the guest by API, and the guest opens the mailed link. */
const joinAsViewer = async (
  owner: TestProject,
  guest: Page,
  { email }: Pick<TestProject, "email">,
): Promise<void> => {
  const invite = (approval?: { approvalId: string; otp: string }) =>
    owner.api.call(createInvitation, {
      body: { email, role: "viewer", ...(approval ? { approval } : {}) },
    });
  const refusal = await invite().catch((error: unknown) => error);
  const { approvalId } = (refusal as ApiError).body as { approvalId: string };
  await owner.api.call(requestOtp, { body: { approvalId } });
  await invite({ approvalId, otp: await owner.code() });
  await acceptInvitation(guest, email);
};

const saveLimits = async (page: Page, project: TestProject): Promise<void> => {
  await page.getByRole("button", { name: "Save limits" }).click();
  await expect(page.getByRole("region", { name: "Change to approve" })).toContainText(
    "policy of this project",
  );
  await approveChange(page, project);
  await expect(page.getByRole("list", { name: "Limits", exact: true })).toBeVisible();
};

/**
 * Sets limits, and checks at each step that the dry run shows the result for the movement with the
 * typed changes and without them.
 */
const setLimitsBesideDryRun = async (page: Page, project: TestProject): Promise<void> => {
  await page.goto("/settings");
  await page
    .getByRole("navigation", { name: "Sections" })
    .getByRole("link", { name: "Policies" })
    .click();
  await expect(page.getByRole("heading", { name: "Policies", level: 1 })).toBeVisible();
  await settle(page);
  await checkLooks(page, "policies without any");
  await page.getByRole("link", { name: "Set limits of the whole project" }).click();
  await settle(page);
  await checkLooks(page, "policy without limits");
  await page.getByRole("button", { name: "Set limits" }).click();
  await page.getByLabel("Amount", { exact: true }).fill("20");
  await page.getByLabel("Recipient", { exact: true }).fill(ADA);
  await expect(page.getByRole("region", { name: "Now", exact: true })).toContainText("Allowed");

  const changed = page.getByRole("region", { name: "With your changes" });
  const form = page.getByRole("form", { name: "Limits" });
  await form.getByLabel("Most in one operation (USD)").fill("a lot");
  await expect(page.getByText("only the stored policy is tried")).toBeVisible();
  await form.getByRole("button", { name: "Save limits" }).click();
  await expect(form.getByText("or leave it empty for no limit")).toBeVisible();
  await form.getByLabel("Most in one operation (USD)").fill("10");
  await expect(changed).toContainText("Denied");
  await expect(changed.getByRole("list", { name: "Rules that decided" })).toContainText(
    "one operation may move 10.",
  );
  await expect(page.getByRole("region", { name: "Now, before your changes" })).toContainText(
    "Allowed",
  );

  await form.getByLabel("Most in one operation (USD)").fill("5,000");
  await form.getByLabel("Other people approve above an amount").check();
  await form.getByLabel("Above (USD)").fill("5");
  // The project has nobody else who could vote.
  await form.getByLabel("Not the person who asked").uncheck();
  await expect(changed).toContainText("Needs approval");
  await expect(changed.getByRole("list", { name: "Rules that decided" })).toContainText(
    "Approval by other people.",
  );
  await form.getByLabel("Only at certain times").check();
  await form.getByRole("button", { name: "Limit one asset in a day" }).click();
  await choose(page, form.getByLabel("Asset 1 in a day", { exact: true }), /^USDC/);
  await form.getByLabel("Most of asset 1 in a day").fill("1000");
  // The draft survives a reload.
  await page.reload();
  await expect(form.getByLabel("Most in one operation (USD)")).toHaveValue("5,000");
  await expect(form.getByLabel("Most of asset 1 in a day")).toHaveValue("1000");
  // The dry run evaluates a movement now. The rule of approval is named at every hour, although the
  // rule "Only at certain times" denies the movement at night.
  await expect(changed).toContainText("Approval by other people.");
  await settle(page);
  await checkLooks(page, "editor of a policy");
  await form.getByLabel("Only at certain times").uncheck();
  await saveLimits(page, project);
  await expect(page.getByRole("list", { name: "Limits", exact: true })).toContainText(
    "At most 5,000.00 USD in one operation",
  );
  await expect(page.getByRole("list", { name: "Changes of version 1" })).toContainText(
    "At most 1,000.00 USDC a day",
  );
};

test("an owner sets a policy beside its dry run, and a transfer that it denies is refused with the rule named", async ({
  page,
}) => {
  test.setTimeout(240_000);
  await signIn(page.request);
  const project = await projectOf(page);
  await project.give(CHAIN, "USDC", "100");
  await setLimitsBesideDryRun(page, project);

  await page.getByRole("button", { name: "Change limits" }).click();
  const form = page.getByRole("form", { name: "Limits" });
  await expect(form.getByRole("button", { name: "Save limits" })).toBeDisabled();
  await form.getByLabel("Other people approve above an amount").uncheck();
  await form.getByRole("radio", { name: /^Approved contacts/ }).click();
  await expect(page.getByRole("region", { name: "With your changes" })).toContainText(
    "Approved recipients.",
  );
  await saveLimits(page, project);
  await expect(page.getByRole("region", { name: "Now", exact: true })).toContainText("Denied");
  const second = page.getByRole("list", { name: "Changes of version 2" });
  await expect(
    second.getByRole("listitem").filter({ hasText: "Removed: Above 5.00 USD" }),
  ).toBeVisible();
  await expect(
    second.getByRole("listitem").filter({ hasText: "Added: Only to approved contacts" }),
  ).toBeVisible();
  await settle(page);
  await checkLooks(page, "policy with history and dry run");
  await page.goto("/settings/policies");
  await settle(page);
  await checkLooks(page, "policies");

  // A real transfer gets the same refusal.
  await page.goto("/transfer");
  await choose(page, page.getByLabel("Token", { exact: true }), /^USDC/);
  await page.getByLabel("Amount", { exact: true }).fill("20");
  await page.getByLabel("Recipient", { exact: true }).fill(ADA);
  await expect(page.getByText(/rule recipients, project policy/)).toBeVisible();
  await page.getByRole("link", { name: "See each rule" }).click();
  const decided = page.getByRole("region", { name: "Policies", exact: true });
  await expect(decided.getByRole("list", { name: "What each rule said" })).toContainText(
    "Approved recipients.",
  );
  await expect(decided).toContainText("Denied");
  await expect(decided).toContainText("Nothing was stored or sent.");
  await settle(page);
  await checkLooks(page, "evaluation of a refused request");
  expect(await balanceOnChain(page, CHAIN, "USDC", ADA)).toBe("0");

  // The transfer is allowed once the contact is approved.
  await project.api.call(createContact, { body: { name: "Ada", address: ADA } });
  await page.goto("/settings/policies/project");
  await page.getByRole("button", { name: "Address book" }).click();
  const book = page.getByRole("dialog", { name: "Address book" });
  await expect(book.getByText("Proposed", { exact: true })).toBeVisible();
  await book.getByRole("button", { name: "Approve Ada" }).click();
  await expect(book.getByRole("region", { name: "Change to approve" })).toContainText(ADA);
  await approveChange(page, project);
  await expect(book.getByText("Approved", { exact: true })).toBeVisible();
  await checkLooks(page, "address book with an approved contact");
  await book.getByRole("button", { name: "Choose Ada" }).click();
  await page.getByLabel("Amount", { exact: true }).fill("20");
  await expect(page.getByRole("region", { name: "Now", exact: true })).toContainText("Allowed");

  // The transfer is executed, and its page shows the policies' decision.
  const transfer = {
    fromChainId: CHAIN,
    toChainId: CHAIN,
    toAddress: ADA,
    token: "USDC",
    amount: "20",
  };
  const operationId = await project.execute(await project.prepareTransfer(transfer));
  expect(await project.untilFinal(operationId)).toBe("completed");
  expect(await balanceOnChain(page, CHAIN, "USDC", ADA)).toBe("20");
  await page.goto(`/activity/${operationId}`);
  const said = page.getByRole("region", { name: "Policies", exact: true });
  await expect(said.getByRole("list", { name: "What each rule said" })).toContainText(
    "Approved recipients.",
  );
  await expect(said).toContainText("Allowed");
  await settle(page);
  await checkLooks(page, "operation with its evaluation");
});

test("somebody who joined as a viewer reads the policies, and cannot change them", async ({
  page,
  browser,
}) => {
  test.setTimeout(120_000);
  await signIn(page.request);
  const owner = await projectOf(page);
  const guest = await openPage(browser);
  await signIn(guest.request);
  const own = await projectOf(guest);
  await joinAsViewer(owner, guest, own);
  await guest.goto("/settings/policies");
  await expect(guest.getByText("You can read the policies.")).toBeVisible();
  await expect(guest.getByRole("link", { name: /Set limits/ })).toHaveCount(0);
  await guest.goto("/settings/policies/project");
  await expect(guest.getByText("No limit yet")).toBeVisible();
  await expect(guest.getByRole("button", { name: /limits/i })).toHaveCount(0);
  // The dry run moves nothing, so every role may use it.
  const tried = guest.getByRole("region", { name: "Try a movement" });
  await tried.getByLabel("Amount").fill("5");
  await tried.getByLabel("Recipient").fill(ADA);
  await expect(tried.getByRole("status")).toContainText("Allowed");
  await settle(guest);
  await checkLooks(guest, "policy of a viewer");
  await guest.goto("/settings/policies/nothing");
  await expect(guest.getByText("There is no such policy")).toBeVisible();
});
