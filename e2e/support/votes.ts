import { expect, type Page } from "@playwright/test";
import { checkLooks, settle } from "./axe";
import { acceptInvitation, typeCode } from "./person";
import type { TestProject } from "./project";

/**
 * The owner invites the guest as an operator, and the guest accepts the link, both on the pages.
 */
export const joins = async (
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
export const demandVotes = async (page: Page): Promise<void> => {
  await page.goto("/settings/policies");
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
